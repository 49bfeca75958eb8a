/** Limits the refusals that reach the audit log, so that a flood of them is written in part. */
import { ExpiringMap } from "#platform/cache.ts";
import { MINUTE_MS } from "#platform/time-units.ts";

/** A refusal is written once in this time for each caller and cause. */
const REFUSAL_MS = 10 * MINUTE_MS;
const MOST_REFUSALS = 10_000;
/** Refusals of all callers that are written in a minute. */
const MOST_REFUSALS_A_MINUTE = 100;

export class RefusalLimit {
  readonly #written = new ExpiringMap<true>(MOST_REFUSALS);
  #minute = 0;
  #inMinute = 0;

  /**
   * Whether a refusal may be written now; counts it if so.
   * @param key names caller and cause
   */
  mayWrite(key: string): boolean {
    if (this.#written.get(key)) return false;
    const minute = Math.floor(performance.now() / MINUTE_MS);
    if (minute !== this.#minute) [this.#minute, this.#inMinute] = [minute, 0];
    if (this.#inMinute >= MOST_REFUSALS_A_MINUTE) return false;
    this.#inMinute += 1;
    this.#written.set(key, true, REFUSAL_MS);
    return true;
  }
}
