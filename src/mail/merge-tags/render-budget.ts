/**
 * The budget of one rendering. A rendering cannot be interrupted and blocks other messages, so its work is counted and
 * charged before it is done. It is counted and not timed, so that a template which passes once also passes on a busy
 * machine. In addition a limit of CPU time stops work that the counts do not foresee; an ordinary template needs a
 * hundredth of it.
 */

/** Total units of filters, comparisons and outputs; a unit takes at most 50 nanoseconds. */
const mostUnits = 1_000_000;
/** Limit of tags, outputs and texts that are rendered. */
const mostSteps = 20_000;
const unitsOfStep = 25;
/** Milliseconds of CPU time of this thread, and the number of units between two checks of it. */
const mostWorked = 250;
const unitsBetweenLooks = 10_000;

/** Counts the work of one rendering; throws when a limit is exceeded. */
export class RenderBudget {
  #units = 0;
  #steps = 0;
  #sinceLook = 0;
  /** CPU time at the first check; small mails have no check. */
  #workedBefore: number | null = null;

  begin(): void {
    this.#units = 0;
    this.#steps = 0;
    this.#sinceLook = 0;
    this.#workedBefore = null;
  }

  /**
   * Charges units. LiquidJS passes on what templates write, which may not be a number, or be negative: that is ignored.
   */
  use(given: unknown): void {
    const units = Number(given);
    if (!(units > 0)) return;
    this.#units += units;
    if (this.#units > mostUnits) throw new Error("it handles too much text");
    this.#look(units);
  }

  step(): void {
    if (++this.#steps > mostSteps) throw new Error("it takes too many steps: its loops run too often");
    this.#look(unitsOfStep);
  }

  #look(units: number): void {
    this.#sinceLook += units;
    if (this.#sinceLook < unitsBetweenLooks) return;
    this.#sinceLook = 0;
    const { user, system } = process.threadCpuUsage();
    const worked = (user + system) / 1_000;
    this.#workedBefore ??= worked;
    if (worked - this.#workedBefore > mostWorked) throw new Error("it takes too long");
  }
}
