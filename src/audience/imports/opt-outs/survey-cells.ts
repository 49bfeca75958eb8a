/** Counts what the cells of possible opt-out columns say. */

import type { CsvFile } from "#platform/csv/read.ts";
import type { CsvRow } from "#platform/csv/record-parser.ts";
import { type Certainty, meaningOf } from "./column-name-meaning.ts";
import { ofMail, plainOptOuts, wordKey } from "./known-names-and-values.ts";
import { type ColumnMeaning, dateLike, readOptOut } from "./read-cell.ts";

/** A column whose name may be about opting out. */
export interface NamedColumn {
  /** From 0. */
  readonly place: number;
  readonly header: string;
  readonly meaning: ColumnMeaning;
  readonly certainty: Certainty;
}

/** The columns of the file with another meaning. */
export interface OtherColumns {
  readonly status: { readonly place: number; readonly header: string } | undefined;
  readonly email: { readonly place: number };
  readonly custom: readonly { readonly place: number }[];
  /** Columns that the sender's mapping decides: those that say who gets no mail, and those that it leaves out. */
  readonly optOuts: readonly { readonly place: number }[];
  readonly ignored: readonly { readonly place: number }[];
}

/** Columns that may count by their names, unless the mapping decides; a custom field only by a plain name. */
export function columnsByName(header: readonly string[], columns: OtherColumns): NamedColumn[] {
  const mapped = new Set(columns.custom.map(({ place }) => place));
  const decided = new Set([...columns.optOuts, ...columns.ignored].map(({ place }) => place));
  return header.flatMap((name, place): NamedColumn[] => {
    if (place === columns.email.place || decided.has(place)) return [];
    if (place === columns.status?.place)
      return [{ place, header: name.trim(), meaning: "status", certainty: "plain" }];
    const found = meaningOf(name);
    if (found === undefined || (found.certainty !== "plain" && mapped.has(place))) return [];
    return [{ place, header: name.trim(), ...found }];
  });
}

/** How much of a file to read: rows, and cells of the candidate columns. */
export interface LookLimit {
  readonly rows: number;
  readonly cells: number;
}

export interface CellSurvey {
  understood: number;
  unknown: number;
  /** Cells that opt a person out. */
  outs: number;
  /** Cells that are more than a date. */
  states: number;
  /** Cells with a word for a status that is used for mail only. */
  ofMail: number;
  /** Cells that plainly opt out of mail. */
  plainOptOuts: number;
  /** Cells that mean unsubscribed by a word that is not only used for mail, such as Inactive. */
  doubtfulOptOuts: number;
  /** Cells with a number above 1: the column is a count. */
  counts: number;
  example: string;
}

/** Reads the file from its beginning. */
export async function surveyCells(
  file: CsvFile,
  headerLine: CsvRow["line"],
  columns: readonly NamedColumn[],
  most: LookLimit,
): Promise<Map<NamedColumn, CellSurvey>> {
  const surveys = new Map(
    columns.map((column) => [
      column,
      {
        understood: 0,
        unknown: 0,
        outs: 0,
        states: 0,
        ofMail: 0,
        plainOptOuts: 0,
        doubtfulOptOuts: 0,
        counts: 0,
        example: "",
      },
    ]),
  );
  const mostRows = Math.min(most.rows, most.cells / columns.length);
  let rows = 0;
  for await (const batch of file.batches()) {
    for (const { line, cells } of batch) {
      if (line <= headerLine) continue;
      rows++;
      for (const [{ place, meaning }, seen] of surveys) {
        const cell = cells[place]?.trim() ?? "";
        if (cell === "") continue;
        if (/^\d{1,6}$/.test(cell) && Number(cell) > 1) seen.counts++;
        const said = readOptOut(meaning, cell);
        if (said === "unknown") {
          seen.unknown++;
          seen.example ||= cell.slice(0, 50);
        } else {
          seen.understood++;
          if (said !== "nothing" && said !== "active") seen.outs++;
          if (!dateLike.test(cell)) seen.states++;
          const key = wordKey(cell);
          if (ofMail.test(key)) seen.ofMail++;
          else if (said === "unsubscribed") seen.doubtfulOptOuts++;
          if (plainOptOuts.test(key)) seen.plainOptOuts++;
        }
      }
    }
    if (rows > mostRows) break;
  }
  return surveys;
}
