/**
 * Detects the delimiter of a CSV file: comma, semicolon (used in countries with decimal commas), tab or bar. The delimiter is
 * the one with which most of the first rows have the same number of cells; if several qualify, the one with more cells.
 */

const candidates = [",", ";", "\t", "|"] as const;
export type Delimiter = (typeof candidates)[number];

const MOST_ROWS = 50;

/** A first line in which Excel declares the delimiter ("sep=;"); it is not a row. */
const excelHint = /^\ufeff?"?sep=(.|\\t)"?[,;\t|]*(?:\r\n?|\n|$)/i;

export interface CsvLayout {
  readonly delimiter: Delimiter;
  /** Whether the first line is Excel's `sep=;`. */
  readonly hasHint: boolean;
}

/** @param sample the beginning of the file, perhaps cut off in the middle of a row */
export function detectLayout(sample: string): CsvLayout {
  const [, hinted] = excelHint.exec(sample) ?? [];
  const hint = candidates.find((candidate) => candidate === (hinted === "\\t" ? "\t" : hinted));
  if (hint !== undefined) return { delimiter: hint, hasHint: true };
  const [header, ...rows] = withoutTitles(countDelimiters(sample));
  let best: { delimiter: Delimiter; agreeing: number; found: number } | undefined;
  for (const delimiter of candidates) {
    const found = header?.get(delimiter) ?? 0;
    if (found === 0) continue;
    const agreeing = rows.filter((row) => row.get(delimiter) === found).length;
    if (
      best === undefined ||
      agreeing > best.agreeing ||
      (agreeing === best.agreeing && found > best.found)
    ) {
      best = { delimiter, agreeing, found };
    }
  }
  return { delimiter: best?.delimiter ?? ",", hasHint: false };
}

/** Share of the rows after the header that must have as many delimiters as the header. */
const LEAST_ALIKE = 0.8;
const MOST_TITLES = 9;

/**
 * The rows from the header on, without a title or date that programs write above it. In a file with one column no header is
 * found, and all rows are kept.
 */
function withoutTitles(rows: Map<string, number>[]): Map<string, number>[] {
  const numbers = (row: Map<string, number>) => candidates.map((candidate) => row.get(candidate) ?? 0);
  const isTable = (at: number) => {
    const behind = rows.slice(at + 1);
    return candidates.some((candidate, place) => {
      const found = numbers(rows[at] ?? new Map())[place] ?? 0;
      const alike = behind.filter((row) => row.get(candidate) === found).length;
      return found > 0 && alike > 0 && alike >= LEAST_ALIKE * behind.length;
    });
  };
  if (numbers(rows[0] ?? new Map()).some((number) => number > 0)) return rows;
  const first = rows.slice(0, MOST_TITLES + 1).findIndex((_, at) => isTable(at));
  return first < 0 ? rows : rows.slice(first);
}

/** Counts each delimiter outside quotes in each of the first rows, without blank ones. */
function countDelimiters(text: string): Map<string, number>[] {
  const rows: Map<string, number>[] = [];
  let row = new Map<string, number>();
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length && rows.length < MOST_ROWS; at++) {
    const character = text[at] ?? "";
    // A quote opens at the start of a cell; a doubled quote closes and opens again.
    if (character === '"') isQuoted = !isQuoted && (at === start || /[",;\t|]/.test(text[at - 1] ?? ""));
    else if (isQuoted) continue;
    else if (character === "\n" || character === "\r") {
      if (at > start) rows.push(row);
      row = new Map();
      start = at + 1;
    } else if (isCandidate(character)) row.set(character, (row.get(character) ?? 0) + 1);
  }
  // The last row of the sample may be incomplete, so it counts only if it is the header.
  return rows.length === 0 ? [row] : rows;
}

function isCandidate(character: string): character is Delimiter {
  return candidates.some((candidate) => candidate === character);
}
