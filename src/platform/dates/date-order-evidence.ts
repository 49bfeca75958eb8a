/** What the dates of one column of a file show about the order of day and month. */
import type { DateOrder } from "./date-format.ts";

const numbers = /^\s*(\d{1,2})([-/.] ?| )(\d{1,2})\2\d{4}(?!\d)/;

export class DateOrderEvidence {
  /** Whether a date with day, month and year in this or another order has come. */
  hasNumbers = false;
  #hasDayFirst = false;
  #hasMonthFirst = false;

  /** Only a number above 12 tells: it is the day. */
  note(text: string): void {
    const [, first, , second] = numbers.exec(text) ?? [];
    if (first === undefined) return;
    this.hasNumbers = true;
    if (Number(first) > 12) this.#hasDayFirst = true;
    if (Number(second) > 12) this.#hasMonthFirst = true;
  }

  /** Undefined where no date tells, and where they contradict each other. */
  get order(): DateOrder | undefined {
    if (this.#hasDayFirst === this.#hasMonthFirst) return undefined;
    return this.#hasDayFirst ? "DMY" : "MDY";
  }

  get isContradictory(): boolean {
    return this.#hasDayFirst && this.#hasMonthFirst;
  }
}
