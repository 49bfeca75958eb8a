/** The figures of a run as a table that fits a terminal and a Markdown page. */

export interface Figure {
  readonly what: string;
  /** With its unit. */
  readonly measured: string;
  readonly yardstick?: string;
  /** Measured to yardstick. */
  readonly ratio?: number | null;
  readonly aim: string;
  /** Null where there is nothing to meet. */
  readonly isMet: boolean | null;
}

const titles = ["", "measured", "yardstick", "ratio", "aim", ""];

export function table(figures: readonly Figure[]): string {
  const rows = figures.map(({ what, measured, yardstick = "", ratio, aim, isMet }) => [
    what,
    measured,
    yardstick,
    ratio == null ? "" : ratio.toFixed(2),
    aim,
    isMet === null ? "" : isMet ? "met" : "missed",
  ]);
  const widths = titles.map((title, at) =>
    Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  const rule = `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`;
  return [line(titles), rule, ...rows.map(line)].join("\n");
}

/** The middle one; of an even number the lower of the two. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[(values.length - 1) >> 1] ?? Number.NaN;
}

/** The value whose `by` is the median. */
export function medianBy<Value>(values: readonly Value[], by: (value: Value) => number): Value {
  const middle = median(values.map(by));
  const found = values.find((value) => by(value) === middle);
  if (found === undefined) throw new Error("no values");
  return found;
}

/** "12,345". */
export function grouped(value: number): string {
  return Math.round(value).toLocaleString("en-GB");
}
