/**
 * What one rendering may cost. It cannot be interrupted, and mails of others wait for it: so it is counted, in front of
 * the work, and not timed, for a template that passes once shall pass on a busy machine too. Time is looked at beside
 * that, as a last bound for what no count foresees; an honest template takes a hundredth of it.
 */

/** What filters, comparisons and outputs may cost together; a unit is 50 nanoseconds at the most. */
const mostUnits = 1_000_000;
/** Tags, outputs and texts between them that may be passed. */
const mostSteps = 20_000;
const unitsOfStep = 25;
/** Milliseconds of this thread's work, and how many units pass between two looks at them. */
const mostWorked = 250;
const unitsBetweenLooks = 10_000;

export class RenderBudget {
  #units = 0;
  #steps = 0;
  #sinceLook = 0;
  /** When the first look was taken; small mails take none. */
  #workedBefore: number | null = null;

  begin(): void {
    this.#units = 0;
    this.#steps = 0;
    this.#sinceLook = 0;
    this.#workedBefore = null;
  }

  /** LiquidJS hands over what templates write, which may be no number, or less than nothing: that gives nothing back. */
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
