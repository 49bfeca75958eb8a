/**
 * How many look-ups are under way at one time. Some servers refuse more than they can take, such as dnsmasq beyond 150:
 * then fewer are begun, and with every answer a little more again (additive increase, multiplicative decrease).
 */

/** So few are too many for no server: what is refused then is refused for another reason. */
const FEWEST = 8;
const SHRINK = 0.5;
/** How soon after one step down the next one follows: what is under way still shows the old pace. */
const STEP_MS = 250;
/** Refusals in a hundred answers that are about the question and not about the pace. */
const USUAL_PERCENT = 5;

export class Pace {
  readonly #most: number;
  #places: number;
  #steppedAt = Number.NEGATIVE_INFINITY;
  /** Since the last step. */
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

  /** A look-up was refused. @param underWay at present. @returns whether that may be because they are too many */
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
