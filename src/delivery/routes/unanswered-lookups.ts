/**
 * Destinations whose DNS look-ups our own servers have not answered. That is a fault on our side, so their mail is looked up
 * again after seconds without an attempt, and deferred only when that has failed for a minute.
 */
import { ExpiringMap } from "#platform/cache.ts";

const GRACE_MS = 60_000;
/** A failure after this time counts as a new fault. */
const FORGOTTEN_MS = 15 * 60_000;
const MOST_DESTINATIONS = 50_000;

export class UnansweredLookUps {
  /** When the first look-up of a fault failed. */
  readonly #since: ExpiringMap<number>;
  readonly #now: () => number;

  /** @param now in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#since = new ExpiringMap(MOST_DESTINATIONS, now);
  }

  /** To be called after an unanswered look-up. @returns whether to look up again instead of deferring */
  note(key: string): boolean {
    const since = this.#since.get(key);
    if (since !== undefined) return this.#now() - since < GRACE_MS;
    this.#since.set(key, this.#now(), FORGOTTEN_MS);
    return true;
  }

  /** To be called after an answered look-up. */
  forget(key: string): void {
    this.#since.delete(key);
  }
}
