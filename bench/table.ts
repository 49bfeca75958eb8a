/** Formats the figures of a run as a Markdown table, and helpers for medians and numbers. */

export interface Figure {
  readonly what: string;
  /** The measured value with its unit. */
  readonly measured: string;
  readonly yardstick?: string;
  /** Measured value divided by the yardstick. */
  readonly ratio?: number | null;
  readonly aim: string;
  /** Null if there is no aim. */
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

/** The median; for an even number of values the lower middle one. */
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

/** Rounds and adds thousands separators: "12,345". */
export function grouped(value: number): string {
  return Math.round(value).toLocaleString("en-GB");
}
