/** What the cells of the columns say that may be about opting out, by their names. */

import type { CsvFile } from "#platform/csv/read.ts";
import type { CsvRow } from "#platform/csv/records.ts";
import { type ColumnMeaning, dateLike, readOptOut } from "./cells.ts";
import { type Certainty, meaningOf } from "./column-names.ts";
import { ofMail, plainOptOuts, wordKey } from "./words.ts";

/** A column whose name may be about opting out. */
export interface NamedColumn {
  /** From 0. */
  readonly place: number;
  readonly header: string;
  readonly meaning: ColumnMeaning;
  readonly certainty: Certainty;
}

/** The columns that a file has for something else than opting out. */
export interface OtherColumns {
  readonly status: { readonly place: number; readonly header: string } | undefined;
  readonly email: { readonly place: number };
  readonly custom: readonly { readonly place: number }[];
}

/** The columns that may count, by their names; a custom field does only by a plain one. */
export function columnsByName(header: readonly string[], columns: OtherColumns): NamedColumn[] {
  const mapped = new Set(columns.custom.map(({ place }) => place));
  return header.flatMap((name, place): NamedColumn[] => {
    if (place === columns.email.place) return [];
    if (place === columns.status?.place)
      return [{ place, header: name.trim(), meaning: "status", certainty: "plain" }];
    const found = meaningOf(name);
    if (found === undefined || (found.certainty !== "plain" && mapped.has(place))) return [];
    return [{ place, header: name.trim(), ...found }];
  });
}

/** How much of a file is looked at: rows, and cells of the columns that may count. */
export interface LookLimit {
  readonly rows: number;
  readonly cells: number;
}

export interface CellSurvey {
  understood: number;
  unknown: number;
  /** Cells that take a person out. */
  outs: number;
  /** Cells that say more than a date does. */
  states: number;
  /** Cells that are a word for a state, used of mail alone. */
  ofMail: number;
  /** Cells that opt out of mail in so many words. */
  plainOptOuts: number;
  /** Cells that say unsubscribed by a word that is not used of mail alone, such as Inactive. */
  doubtfulOptOuts: number;
  /** Cells that are a number above 1: the column counts something. */
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
