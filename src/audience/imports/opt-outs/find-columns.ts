/**
 * Finds the columns of an import file that say which people get no mail. A column with a plain name counts. A column
 * whose name might mean it, with cells that are yes and no, is doubtful: the file is refused until its sender decides.
 */

import type { SubscriberStatus } from "#audience/subscribers/memberships/status.ts";
import { counted } from "#platform/count-phrase.ts";
import type { CsvFile } from "#platform/csv/read.ts";
import type { CsvRow } from "#platform/csv/record-parser.ts";
import { ApiError, invalid } from "#platform/errors.ts";
import { meaningOf } from "./column-name-meaning.ts";
import { namesOptOuts } from "./file-name-meaning.ts";
import { wordKey } from "./known-names-and-values.ts";
import type { ColumnMeaning } from "./read-cell.ts";
import {
  type CellSurvey,
  columnsByName,
  type LookLimit,
  type NamedColumn,
  type OtherColumns,
  surveyCells,
} from "./survey-cells.ts";

export interface OptOutColumn {
  /** From 0. */
  readonly place: number;
  readonly header: string;
  readonly meaning: ColumnMeaning;
  /** Why a counting column may be about something other than mail: its name, or all of its words. */
  readonly doubt?: "name" | "words" | undefined;
}

/** How the sender decides: columns by name, or none. */
export interface OptOutChoice {
  /** Names of columns; `ignore` for none. */
  readonly opt_out_column?: readonly string[] | null;
  /** The status of all people in the file. */
  readonly status?: SubscriberStatus | null;
}

const IGNORE = "ignore";
const WHOLE: LookLimit = { rows: Number.POSITIVE_INFINITY, cells: Number.POSITIVE_INFINITY };

/** The columns with another meaning, and those that the sender's mapping decides. */
export interface DecidedColumns extends OtherColumns {
  readonly optOuts: readonly OptOutColumn[];
}

/** @throws ApiError VALIDATION_ERROR for names together with `ignore` */
function chosenNames({ opt_out_column: given }: OptOutChoice): string[] {
  const names = (given ?? []).flatMap((name) => name.trim() || []);
  if (names.length > 1 && names.includes(IGNORE)) {
    const message =
      "opt_out_column=ignore says that no column counts: send it alone, or only names of columns";
    throw invalid({ field: "opt_out_column", message });
  }
  return names;
}

/** Whether the sender names the columns that count, or says that none does. */
export function namesOptOutColumns(choice: OptOutChoice): boolean {
  return chosenNames(choice).length > 0;
}

/**
 * The columns that count: those of the sender's mapping, and those found by their names and all their cells. Files without
 * such names are not read.
 * @param columns the mapping of the other columns: a custom field only counts by a plain name
 * @param most limit of rows, and of cells of candidate columns
 * @throws ApiError BAD_REQUEST for a doubtful column, and for a name that no column has
 */
export async function findOptOutColumns(
  file: CsvFile,
  header: CsvRow,
  columns: DecidedColumns,
  choice: OptOutChoice,
  most: LookLimit = WHOLE,
): Promise<OptOutColumn[]> {
  const { optOuts } = columns;
  refuseDecidedTwice(header, columns, choice);
  const found = await findByNames(file, header, columns, choice, most);
  return [...optOuts, ...found.filter(({ place }) => !optOuts.some((one) => one.place === place))];
}

/** @throws ApiError VALIDATION_ERROR for an opt_out_column that decides what the mapping decides already */
function refuseDecidedTwice(
  { cells: header }: CsvRow,
  { optOuts, ignored }: DecidedColumns,
  choice: OptOutChoice,
): void {
  const named = chosenNames(choice);
  const field = "opt_out_column";
  const [mapped] = optOuts;
  if (named.includes(IGNORE)) {
    if (mapped === undefined) return;
    const message = `opt_out_column=ignore says that no column counts, and mapping says that "${shownName(mapped.header)}" counts: send one of the two`;
    throw invalid({ field, message });
  }
  const decided = [...optOuts, ...ignored];
  const twice = namedColumns(header, named).find((one) => decided.some(({ place }) => place === one.place));
  if (twice === undefined) return;
  const message = `mapping decides about the column "${shownName(twice.header)}" already: leave it out of opt_out_column or of mapping`;
  throw invalid({ field, message });
}

async function findByNames(
  file: CsvFile,
  { cells: header, line: headerLine }: CsvRow,
  columns: OtherColumns,
  choice: OptOutChoice,
  most: LookLimit,
): Promise<OptOutColumn[]> {
  const named = chosenNames(choice);
  if (named.includes(IGNORE)) return [];
  if (named.length > 0) return namedColumns(header, named);
  const candidates = columnsByName(header, columns);
  if (candidates.length === 0) return [];
  const surveys = await surveyCells(file, headerLine, candidates, most);
  const isSettled = choice.status !== undefined && choice.status !== null && choice.status !== "active";
  const counting = candidates.filter((candidate) => {
    const seen = surveys.get(candidate);
    if (seen === undefined) return false;
    const { certainty, meaning } = candidate;
    if (certainty === "soft") return seen.unknown === 0 && seen.states > 0;
    if (certainty === "switch" && (seen.outs === 0 || seen.understood <= seen.unknown)) return false;
    if (certainty === "vague" && seen.ofMail === 0) return false;
    if (certainty === "foreign" && seen.plainOptOuts === 0) return false;
    // "Marketing emails bounced" is a count of messages.
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

function doubtAbout({ certainty, header }: NamedColumn, seen: CellSurvey | undefined): OptOutColumn["doubt"] {
  if (certainty === "vague" || certainty === "foreign") return "name";
  const isBareStatus = certainty === "soft" || wordKey(header) === "status";
  const isInWords = seen !== undefined && seen.ofMail === 0 && seen.doubtfulOptOuts > 0;
  return isBareStatus && isInWords ? "words" : undefined;
}

/**
 * A warning about a column that decided although its name or words may be about something else.
 * @param optedOut number of rows that it opted out
 */
export function doubtWarning({ doubt, header }: OptOutColumn, optedOut: number): string | undefined {
  if (doubt === undefined || (doubt === "words" && optedOut === 0)) return undefined;
  const name = shownName(header);
  const rows = counted(optedOut, "row");
  const why =
    doubt === "name" ? "its name does not say that it is about mail" : "its words may not be about mail";
  return `The column "${name}" decided who gets no mail (${rows}), although ${why}. If it is about something else, name the right column in opt_out_column, or send opt_out_column=ignore`;
}

function isDoubtfulBy({ certainty }: NamedColumn, { understood, unknown, states }: CellSurvey): boolean {
  if (certainty === "switch") return true;
  if (certainty === "doubtful") return states > unknown;
  if (certainty === "vague" || certainty === "foreign") return unknown > 0;
  return understood === 0 && unknown > 0;
}

/** The refusal of a file whose name says that its people get no mail, although no column does; otherwise undefined. */
export function unclearFileName(
  name: string,
  columns: readonly OptOutColumn[],
  { opt_out_column = null, status }: OptOutChoice,
): string | undefined {
  const isSettled = columns.length > 0 || namesOptOutColumns({ opt_out_column }) || Boolean(status);
  if (isSettled || !namesOptOuts(name)) return undefined;
  return `The file is called "${name.slice(0, 100).toWellFormed()}", and no column says who gets no mail. Send it again with status=unsubscribed if it holds people who get no mail (or status=bounced), or with status=active`;
}

function namedColumns(header: readonly string[], named: readonly string[]): OptOutColumn[] {
  const columns = new Map(named.map((name) => namedColumn(header, name)).map((one) => [one.place, one]));
  return [...columns.values()];
}

function namedColumn(header: readonly string[], named: string): OptOutColumn {
  const exact = header.findIndex((name) => name.trim() === named);
  const place = exact < 0 ? header.findIndex((name) => wordKey(name) === wordKey(named)) : exact;
  if (place < 0) {
    const names = header.slice(0, 50).map((name) => name.trim().slice(0, 100));
    throw invalid({
      field: "opt_out_column",
      message: `opt_out_column is no column of the file: "${shownName(named)}"; it has: ${names.join(", ")}`,
    });
  }
  const name = header[place]?.trim() ?? "";
  const isStatus = /^(?:subscri\w*)?status$/.test(wordKey(name));
  return { place, header: name, meaning: isStatus ? "status" : (meaningOf(name)?.meaning ?? "unsubscribed") };
}

/**
 * Warnings about columns that opt people out but do not count, because the mapping leaves them out, or opt_out_column names
 * others or none.
 */
export async function overruledWarnings(
  file: CsvFile,
  header: CsvRow,
  columns: OtherColumns,
  choice: OptOutChoice,
  counting: readonly OptOutColumn[],
): Promise<string[]> {
  return [
    ...(await ignoredWarnings(file, header, columns)),
    ...(await unnamedWarnings(file, header, columns, choice, counting)),
  ];
}

async function ignoredWarnings(file: CsvFile, header: CsvRow, columns: OtherColumns): Promise<string[]> {
  const { ignored } = columns;
  if (ignored.length === 0) return [];
  const isIgnored = ({ place }: NamedColumn) => ignored.some((one) => one.place === place);
  const named = columnsByName(header.cells, { ...columns, ignored: [] }).filter(isIgnored);
  if (named.length === 0) return [];
  const surveys = await surveyCells(file, header.line, named, WHOLE);
  return named.flatMap((column) => {
    const seen = surveys.get(column);
    const outs =
      seen !== undefined && (column.certainty === "plain" || seen.plainOptOuts > 0) ? seen.outs : 0;
    return outs === 0
      ? []
      : [
          `The column "${shownName(column.header)}" says in ${counted(outs, "row")} that a person gets no mail, and does not count, because mapping leaves it out. If it is to count, map it to opted_out, opted_in or status`,
        ];
  });
}

async function unnamedWarnings(
  file: CsvFile,
  { cells: header, line: headerLine }: CsvRow,
  columns: OtherColumns,
  choice: OptOutChoice,
  counting: readonly OptOutColumn[],
): Promise<string[]> {
  const named = chosenNames(choice);
  if (named.length === 0) return [];
  const isIgnored = named.includes(IGNORE);
  const others = columnsByName(header, columns).filter(
    ({ place, certainty }) =>
      (certainty === "plain" || (certainty === "switch" && !isIgnored)) &&
      !counting.some((column) => column.place === place),
  );
  if (others.length === 0) return [];
  const surveys = await surveyCells(file, headerLine, others, WHOLE);
  return others.flatMap((column) => {
    const outs = surveys.get(column)?.outs ?? 0;
    if (outs === 0) return [];
    const name = shownName(column.header);
    return [
      `The column "${name}" says in ${counted(outs, "row")} that a person gets no mail, and does not count, because opt_out_column ${isIgnored ? "is ignore" : "names another"}. If it is to count, too, send opt_out_column=${name} as well`,
    ];
  });
}

function shownName(header: string): string {
  return header.replaceAll("\0", "").slice(0, 100).toWellFormed();
}

function doubtful({ header }: NamedColumn, { example }: CellSurvey): ApiError {
  const what = example === "" ? "" : ` (it says "${example}")`;
  const name = shownName(header);
  return new ApiError(
    "BAD_REQUEST",
    `The column "${name}" may say who gets no mail${what.replaceAll("\0", "")}. Send the file again with opt_out_column=${name}, and it decides, or with opt_out_column=ignore, and it does not`,
  );
}
