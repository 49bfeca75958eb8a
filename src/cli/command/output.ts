/** Output of commands: a table for people, one line of JSON for programs. */

/** The output of a command, such as process.stdout. */
export interface Output {
  /** Whether it is a terminal. */
  readonly isTTY?: boolean;
  /** The width of a terminal, in characters. */
  readonly columns?: number;
  write(text: string | Uint8Array): unknown;
}

type Cell = string | number | boolean | null | Date;

/** Formats rows as aligned lines below the names of the columns. Null is shown as a dash. */
export function table<const Column extends string>(
  columns: readonly Column[],
  rows: readonly Readonly<Record<Column, Cell>>[],
): string {
  const heading = columns.map((column) => column.toUpperCase().replaceAll("_", " "));
  const lines = [heading, ...rows.map((row) => columns.map((column) => text(row[column])))];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => line[index]?.length ?? 0)));
  const aligned = lines.map((line) => line.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join("  "));
  return aligned.map((line) => `${line.trimEnd()}\n`).join("");
}

/** Formats a cell. Control characters are replaced, because names are user data. */
function text(cell: Cell): string {
  const shown = cell instanceof Date ? cell.toISOString() : String(cell ?? "-");
  return shown.replaceAll(/\p{Cc}/gu, "?");
}

export function json(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}
