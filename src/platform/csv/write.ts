/** CSV as spreadsheets and programs read it alike (RFC 4180): commas, CRLF, UTF-8, and no cell that is a formula. */
import { guardFormula } from "./formulas.ts";

/** What has to stand in quotes: what ends a cell or a row, and blanks at an end, which some readers drop. */
const needsQuotes = /[",\r\n\t;|]|^\s|\s$/;

/** Digits of a number as they are to be written: no formula, also below zero. */
export interface Digits {
  readonly digits: string;
}

type Cell = string | number | Digits;

/** One row. What is a number stays one, also below zero. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}

function csvCell(cell: Cell): string {
  if (typeof cell === "number") return String(cell);
  if (typeof cell === "object") return cell.digits;
  const safe = guardFormula(cell);
  return needsQuotes.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
