/** Saves rows as a CSV file, from the figures that a page shows. */
import { saveFile } from "./save-file.ts";

type Cell = string | number;

export function saveCsv(name: string, rows: readonly (readonly Cell[])[]): void {
  saveFile(`${name}.csv`, new Blob([rows.map(lineOf).join("")], { type: "text/csv" }));
}

function lineOf(cells: readonly Cell[]): string {
  return `${cells.map(cellOf).join(",")}\r\n`;
}

/** A text that a spreadsheet would take for a formula begins with an apostrophe. */
function cellOf(cell: Cell): string {
  const text = typeof cell === "string" && /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
