/**
 * Limits the look-ups under way at a time, and adapts to the servers. Some servers answer REFUSED above their limit, such as
 * dnsmasq above 150: each step down halves the limit, and each answer raises it a little (additive increase, multiplicative
 * decrease, as in TCP).
 */

/** No server refuses this few concurrent look-ups, so the limit is never lower. */
const FEWEST = 8;
const SHRINK = 0.5;
/** Shortest time between two steps down. Look-ups that are already under way were begun under the old limit. */
const STEP_MS = 250;
/** Up to this percentage of answers, refusals are taken to concern the question and not the load. */
const USUAL_PERCENT = 5;

export class AdaptiveLimit {
  readonly #most: number;
  #places: number;
  #steppedAt = Number.NEGATIVE_INFINITY;
  /** Answers since the last step down. */
  #answers = 0;
  #refusals = 0;

  constructor(most: number) {
    this.#most = most;
    this.#places = most;
  }

  get places(): number {
    return Math.floor(this.#places);
  }

  noteAnswer(): void {
    this.#answers += 1;
    this.#places = Math.min(this.#most, this.#places + 1 / this.#places);
  }

  /** Call when a look-up was refused. @param underWay look-ups now @returns whether the load may be the reason */
  slowDown(underWay: number): boolean {
    if (underWay <= FEWEST) return false;
    this.#refusals += 1;
    const isMuch = this.#refusals * 100 > USUAL_PERCENT * (this.#answers + this.#refusals);
    const now = performance.now();
    if (isMuch && now - this.#steppedAt >= STEP_MS) {
      this.#places = Math.max(FEWEST, Math.min(this.#places, underWay) * SHRINK);
      this.#steppedAt = now;
      this.#answers = 0;
      this.#refusals = 0;
    }
    return true;
  }
}
