/**
 * Which columns of an import file say that people get no mail. A column whose name plainly says so counts. One whose name
 * might mean it, and whose cells are yes and no, is doubtful: the file is refused until its sender says what it is.
 */

import type { SubscriberStatus } from "#audience/subscribers/memberships/status.ts";
import type { CsvFile } from "#platform/csv/read.ts";
import type { CsvRow } from "#platform/csv/records.ts";
import { ApiError, invalid } from "#platform/errors.ts";
import { dateLike, type Meaning, readOptOut } from "./opt-out-cells.ts";
import { type Certainty, meaningOf } from "./opt-out-names.ts";
import { fileNames, keyOf, ofMail, plainOptOuts, wordsOf } from "./opt-out-words.ts";

export interface OptOutColumn {
  /** From 0. */
  readonly place: number;
  readonly header: string;
  readonly meaning: Meaning;
  /** Why a column that counts may be about something else than mail: its name, or all of its words. */
  readonly doubt?: "name" | "words" | undefined;
}

interface Candidate extends OptOutColumn {
  readonly certainty: Certainty;
}

/** How the sender settles it: a column by name, or none at all. */
export interface OptOutChoice {
  /** A column's name; `ignore` for none. */
  readonly opt_out_column?: string | null;
  /** The state of all in the file. */
  readonly status?: SubscriberStatus | null;
}

const IGNORE = "ignore";

interface Look {
  readonly rows: number;
  readonly cells: number;
}

interface Survey {
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

/**
 * The columns that count, found by their names and all their cells. Files without such names are not read for it.
 * @param columns what the other columns are: a custom field is doubtful only by a plain name
 * @param most rows that are looked at, and cells of columns that may count
 * @throws ApiError BAD_REQUEST for a doubtful column, and for a name that no column has
 */
export async function findOptOutColumns(
  file: CsvFile,
  { cells: header, line: headerLine }: CsvRow,
  columns: {
    readonly status: { readonly place: number; readonly header: string } | undefined;
    readonly email: { readonly place: number };
    readonly custom: readonly { readonly place: number }[];
  },
  choice: OptOutChoice,
  most: Look = { rows: Number.POSITIVE_INFINITY, cells: Number.POSITIVE_INFINITY },
): Promise<OptOutColumn[]> {
  const { opt_out_column: named } = choice;
  if (named === IGNORE) return [];
  if (named) return [namedColumn(header, named)];
  const mapped = new Set(columns.custom.map(({ place }) => place));
  const candidates = header.flatMap((name, place): Candidate[] => {
    if (place === columns.email.place) return [];
    if (place === columns.status?.place)
      return [{ place, header: name.trim(), meaning: "status", certainty: "plain" }];
    const found = meaningOf(name);
    if (found === undefined || (found.certainty !== "plain" && mapped.has(place))) return [];
    return [{ place, header: name.trim(), ...found }];
  });
  if (candidates.length === 0) return [];
  const surveys = await survey(file, headerLine, candidates, most);
  const isSettled = choice.status !== undefined && choice.status !== null && choice.status !== "active";
  const counting = candidates.filter((candidate) => {
    const seen = surveys.get(candidate);
    if (seen === undefined) return false;
    const { certainty, meaning } = candidate;
    if (certainty === "soft") return seen.unknown === 0 && seen.states > 0;
    if (certainty === "switch" && (seen.outs === 0 || seen.understood <= seen.unknown)) return false;
    if (certainty === "vague" && seen.ofMail === 0) return false;
    if (certainty === "foreign" && seen.plainOptOuts === 0) return false;
    // "Marketing emails bounced" is a number of mails.
    if (seen.counts > 0 && seen.unknown === seen.counts && meaning !== "status") return false;
    const isDoubtful = isDoubtfulBy(candidate, seen);
    if (isDoubtful && !isSettled) throw doubtful(candidate, seen);
    return certainty !== "doubtful" && certainty !== "switch" && !isDoubtful;
  });
  return counting.map((candidate) => ({
    ...candidate,
    doubt: doubtAbout(candidate, surveys.get(candidate)),
  }));
}

function doubtAbout({ certainty, header }: Candidate, seen: Survey | undefined): OptOutColumn["doubt"] {
  if (certainty === "vague" || certainty === "foreign") return "name";
  const isBareStatus = certainty === "soft" || keyOf(header) === "status";
  const isInWords = seen !== undefined && seen.ofMail === 0 && seen.doubtfulOptOuts > 0;
  return isBareStatus && isInWords ? "words" : undefined;
}

/**
 * What the sender should know about a column that decided although its name, or its words, may be about something else.
 * @param optedOut rows that it took out
 */
export function doubtWarning({ doubt, header }: OptOutColumn, optedOut: number): string | undefined {
  if (doubt === undefined || (doubt === "words" && optedOut === 0)) return undefined;
  const name = header.replaceAll("\0", "").slice(0, 100).toWellFormed();
  const rows = optedOut === 1 ? "1 row" : `${optedOut} rows`;
  const why =
    doubt === "name" ? "its name does not say that it is about mail" : "its words may not be about mail";
  return `The column "${name}" decided who gets no mail (${rows}), although ${why}. If it is about something else, name the right column in opt_out_column, or send opt_out_column=ignore`;
}

function isDoubtfulBy({ certainty }: Candidate, { understood, unknown, states }: Survey): boolean {
  if (certainty === "switch") return true;
  if (certainty === "doubtful") return states > unknown;
  if (certainty === "vague" || certainty === "foreign") return unknown > 0;
  return understood === 0 && unknown > 0;
}

/** What to say of a file that is called after people who get no mail, and has no column that says so; else undefined. */
export function unclearName(
  name: string,
  columns: readonly OptOutColumn[],
  { opt_out_column, status }: OptOutChoice,
): string | undefined {
  if (
    columns.length > 0 ||
    opt_out_column ||
    status ||
    !fileNames.test(wordsOf(name.slice(0, 500)).join(" "))
  )
    return undefined;
  return `The file is called "${name.slice(0, 100).toWellFormed()}", and no column says who gets no mail. Send it again with status=unsubscribed if it holds people who get no mail (or status=bounced), or with status=active`;
}

async function survey(
  file: CsvFile,
  headerLine: number,
  candidates: readonly Candidate[],
  most: Look,
): Promise<Map<Candidate, Survey>> {
  const surveys = new Map(
    candidates.map((candidate) => [
      candidate,
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
  const mostRows = Math.min(most.rows, most.cells / candidates.length);
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
          const key = keyOf(cell);
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

function namedColumn(header: readonly string[], named: string): OptOutColumn {
  const place = header.findIndex((name) => name.trim() === named.trim() || keyOf(name) === keyOf(named));
  if (place < 0) {
    const names = header.slice(0, 50).map((name) => name.trim().slice(0, 100));
    throw invalid({
      field: "opt_out_column",
      message: `opt_out_column is no column of the file; it has: ${names.join(", ")}`,
    });
  }
  const name = header[place]?.trim() ?? "";
  const isStatus = /^(?:subscri\w*)?status$/.test(keyOf(name));
  return { place, header: name, meaning: isStatus ? "status" : (meaningOf(name)?.meaning ?? "unsubscribed") };
}

function doubtful({ header }: Candidate, { example }: Survey): ApiError {
  const what = example === "" ? "" : ` (it says "${example}")`;
  const name = header.slice(0, 100);
  return new ApiError(
    "BAD_REQUEST",
    `The column "${name}" may say who gets no mail${what}. Send the file again with opt_out_column=${name}, and it decides, or with opt_out_column=ignore, and it does not`.replaceAll(
      "\0",
      "",
    ),
  );
}
