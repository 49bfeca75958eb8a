/**
 * Places whose DNS look-ups our own servers have left without an answer. That is our fault and not the receiver's: their
 * mail comes back within seconds and is looked up again, and is put off only when that has been in vain for a while.
 */
import { ExpiringMap } from "#platform/cache.ts";

const PATIENCE_MS = 60_000;
/** After this a fault counts as a new one. */
const FORGOTTEN_MS = 15 * 60_000;
const MOST_PLACES = 50_000;

export class UnansweredLookUps {
  /** Since when. */
  readonly #since: ExpiringMap<number>;
  readonly #now: () => number;

  /** @param now in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#since = new ExpiringMap(MOST_PLACES, now);
  }

  /** A look-up had no answer. @returns whether the place's mail is looked up again before it is put off */
  note(place: string): boolean {
    const since = this.#since.get(place);
    if (since !== undefined) return this.#now() - since < PATIENCE_MS;
    this.#since.set(place, this.#now(), FORGOTTEN_MS);
    return true;
  }

  /** A look-up had an answer. */
  forget(place: string): void {
    this.#since.delete(place);
  }
}
