/**
 * What stands between the cells of a CSV file: commas, semicolons (spreadsheets of countries whose decimals have
 * commas), tabs or bars. It is the one by which the first rows have the same number of cells, and most of them.
 */

const candidates = [",", ";", "\t", "|"] as const;
export type Delimiter = (typeof candidates)[number];

const MOST_ROWS = 50;

/** A line by which Excel is told, and tells, the delimiter; it is no row. */
const excelHint = /^\ufeff?"?sep=(.|\\t)"?[,;\t|]*(?:\r\n?|\n|$)/i;

export interface Layout {
  readonly delimiter: Delimiter;
  /** The first line is Excel's `sep=;`. */
  readonly hasHint: boolean;
}

/** @param sample the beginning of the file, perhaps cut off in the middle of a row */
export function detectLayout(sample: string): Layout {
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

/** Of the rows behind a header, so many have as many delimiters as it has. */
const LEAST_ALIKE = 0.8;
const MOST_TITLES = 9;

/**
 * The rows from the header on. Programs write a title, a date or a line of their own above it; a file of one column has no
 * delimiter that most of its rows have in the same number.
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

/** How many of each stand outside of quotes in each of the first rows, blank ones left out. */
function countDelimiters(text: string): Map<string, number>[] {
  const rows: Map<string, number>[] = [];
  let row = new Map<string, number>();
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length && rows.length < MOST_ROWS; at++) {
    const character = text[at] ?? "";
    // A quote opens at the start of a cell; one that is doubled closes and opens again.
    if (character === '"') isQuoted = !isQuoted && (at === start || /[",;\t|]/.test(text[at - 1] ?? ""));
    else if (isQuoted) continue;
    else if (character === "\n" || character === "\r") {
      if (at > start) rows.push(row);
      row = new Map();
      start = at + 1;
    } else if (isCandidate(character)) row.set(character, (row.get(character) ?? 0) + 1);
  }
  // What the sample ends in may be half a row: it counts only as the header.
  return rows.length === 0 ? [row] : rows;
}

function isCandidate(character: string): character is Delimiter {
  return candidates.some((candidate) => candidate === character);
}
