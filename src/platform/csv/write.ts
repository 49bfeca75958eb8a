/** Writes CSV that spreadsheets and programs read alike (RFC 4180): commas, CRLF, and no cell that is a formula. */
import { guardFormula } from "./formulas.ts";

/** Texts that must be quoted: with delimiters, quotes or line ends, and with outer spaces, which some readers drop. */
const needsQuotes = /[",\r\n\t;|]|^\s|\s$/;

/** A number in its given notation, written without protection against formulas even if it is negative. */
export interface Digits {
  readonly digits: string;
}

type Cell = string | number | Digits;

/** One row with its line end. Numbers are not guarded as formulas, even if they are negative. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}

function csvCell(cell: Cell): string {
  if (typeof cell === "number") return String(cell);
  if (typeof cell === "object") return cell.digits;
  const safe = guardFormula(cell);
  return needsQuotes.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
