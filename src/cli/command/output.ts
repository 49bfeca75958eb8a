/** What commands print: a small table for people, one line of JSON for programs. */

/** Where a command writes; process.stdout is one. */
export interface Output {
  /** Whether somebody reads along. */
  readonly isTTY?: boolean;
  write(text: string | Uint8Array): unknown;
}

type Cell = string | number | boolean | null | Date;

/** One row a line under the columns' names, aligned; null is a dash. */
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

/** Names are user data: no control character of theirs reaches the terminal. */
function text(cell: Cell): string {
  const shown = cell instanceof Date ? cell.toISOString() : String(cell ?? "-");
  return shown.replaceAll(/\p{Cc}/gu, "?");
}

export function json(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}
