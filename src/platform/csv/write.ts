/** CSV as spreadsheets and programs read it alike (RFC 4180): commas, CRLF, UTF-8, and no cell that is a formula. */
import { guardFormula } from "./formulas.ts";

/** What has to stand in quotes: what ends a cell or a row, and blanks at an end, which some readers drop. */
const needsQuotes = /[",\r\n\t;|]|^\s|\s$/;

/** One row. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}

function csvCell(text: string): string {
  const safe = guardFormula(text);
  return needsQuotes.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
