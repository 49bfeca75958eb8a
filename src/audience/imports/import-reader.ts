/**
 * Reads an import file: the whole file is read, checked and mapped before any person is written, so a file that is
 * truncated or too long is refused as a whole. write-people.ts then writes the people of an import, preview-people.ts
 * counts those of a dry run.
 *
 * People are written to a file of lines, in the format of the staging table and in batches. Memory holds only the
 * current rows, and some bytes for each address.
 */
import { stat } from "node:fs/promises";
import type { CustomField } from "#audience/custom-fields/custom-field.ts";
import type { CsvRow } from "#platform/csv/record-parser.ts";
import type { Database } from "#platform/database/pool.ts";
import type { DateFormat } from "#platform/dates/input-date-format.ts";
import { ApiError } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { findWorkspace } from "#workspace/workspaces/store.ts";
import { DateColumns } from "./detect-date-order.ts";
import { Examples } from "./dry-run-examples.ts";
import { ErrorRowsFile } from "./error-rows-file.ts";
import { ErrorsFile } from "./errors-file.ts";
import type { ImportPlan } from "./import-plan.ts";
import { type Column, MOST_SKIPPED } from "./mapping/column-mapping.ts";
import { type LayoutChoice, openTable, type Table } from "./open-import-file.ts";
import {
  doubtWarning,
  findOptOutColumns,
  type OptOutChoice,
  type OptOutColumn,
  overruledWarnings,
} from "./opt-outs/find-columns.ts";
import { rank } from "./opt-outs/read-cell.ts";
import { MOST_ROWS, PeopleFile } from "./people-file-writer.ts";
import { type ImportedPerson, type ReadRow, RowReader } from "./row-reader.ts";
import type { LineSink } from "./scratch-line-file.ts";
import { listHolders } from "./written-batches-store.ts";

/** A row usually has more bytes. */
const ROW_BYTES = 50;

/** The sender's options for reading the file. */
export interface ReadOptions extends OptOutChoice, LayoutChoice {
  readonly date_format?: DateFormat | null;
}

/** The list that a file is read for. */
export interface ImportTarget {
  /** The custom fields in force. */
  readonly fields: readonly CustomField[];
  /** IANA name, for times without an offset. */
  readonly timeZone: string;
  /** The addresses of those people who have a stored value for every required field that their row lacks. */
  readonly holdersOf: (people: readonly ImportedPerson[]) => Promise<ReadonlySet<string>>;
}

/** @param fields those in force on the list */
export async function openTarget(
  db: Database,
  workspaceId: WorkspaceId,
  fields: readonly CustomField[],
): Promise<ImportTarget> {
  const workspace = await findWorkspace(db, workspaceId);
  const timeZone = workspace?.timezone ?? "UTC";
  return { fields, timeZone, holdersOf: (people) => listHolders(db, workspaceId, people) };
}

/** Where the lines are written. */
export interface ImportSinks {
  readonly people: LineSink;
  readonly errors: LineSink;
  readonly errorRows: LineSink;
}

export interface ReadImport {
  readonly plan: ImportPlan;
  readonly table: Table;
  /** The custom fields in force. */
  readonly fields: readonly CustomField[];
  /** What the sender decided. */
  readonly choice: ReadOptions;
  readonly optOuts: readonly OptOutColumn[];
  readonly dates: DateColumns;
  readonly examples: Examples;
  /** Accepted rows of people who get no mail. */
  readonly optedOut: number;
}

/** @throws ApiError BAD_REQUEST for a file that is not CSV, has no addresses, is truncated or too long */
export async function readImport(
  target: ImportTarget,
  path: string,
  sinks: ImportSinks,
  options: ReadOptions,
  now: Date,
  signal: AbortSignal,
): Promise<ReadImport> {
  const { fields, timeZone } = target;
  const table = await openTable(path, options, fields);
  const { file, header, columns } = table;
  const optOuts = await findOptOutColumns(file, header, columns, options);
  const overruled = await overruledWarnings(file, header, columns, options, optOuts);
  const format = options.date_format ?? null;
  const dates = await DateColumns.of(file, header, columns, { timeZone, format });
  const rows = new RowReader({
    columns,
    fields,
    optOuts,
    wholeStatus: options.status ?? null,
    datesOf: (column) => dates.readerOf(column),
    isBroken: (cell) => file.isBroken(cell),
  });
  const { size } = await stat(path);
  const reading = new ImportReader(target, table, rows, sinks, size);
  for await (const batch of file.batches()) {
    signal.throwIfAborted();
    await reading.take(batch);
  }
  const ended = await reading.end(options, now, optOuts, overruled);
  return { ...ended, table, fields, choice: options, optOuts, dates };
}

/** The state of reading one file. */
class ImportReader {
  readonly #target: ImportTarget;
  readonly #table: Table;
  readonly #rows: RowReader;
  readonly #sinks: ImportSinks;
  readonly #people: PeopleFile;
  readonly #refusals: ErrorsFile;
  readonly #errorRows: ErrorRowsFile;
  readonly #examples = new Examples();
  /** For each opt-out column, the rows in which it said that the person gets no mail. */
  readonly #decided = new Map<OptOutColumn, number>();
  /** Columns without a header that hold values. */
  readonly #filledUnnamed = new Set<Column>();
  /** Rows that are not blank. */
  #count = 0;
  #optedOut = 0;

  constructor(target: ImportTarget, table: Table, rows: RowReader, sinks: ImportSinks, size: number) {
    this.#target = target;
    this.#table = table;
    this.#rows = rows;
    this.#sinks = sinks;
    this.#people = new PeopleFile(sinks.people, size / ROW_BYTES);
    this.#refusals = new ErrorsFile(sinks.errors);
    this.#errorRows = new ErrorRowsFile(sinks.errorRows, table);
  }

  async take(batch: readonly CsvRow[]): Promise<void> {
    const { header, columns } = this.#table;
    const filled = batch.filter((row) => row.line > header.line && hasContent(row));
    this.#count += filled.length;
    if (this.#count > MOST_ROWS) throw tooLong();
    for (const column of columns.unnamed) {
      if (!this.#filledUnnamed.has(column) && filled.some(({ cells }) => cells[column.place]?.trim()))
        this.#filledUnnamed.add(column);
    }
    const read = filled.map(({ cells }) => this.#rows.read(cells));
    const results = await this.#withoutLacking(read);
    for (const [at, row] of filled.entries()) {
      const result = results[at];
      if (result !== undefined) this.#note(row, result);
    }
    await this.#people.flush();
    for (const file of [this.#sinks.errors, this.#sinks.errorRows]) if (file.isFull) await file.flush();
  }

  /** Adds a fault to rows that lack a required field, unless the person has a stored value. */
  async #withoutLacking(rows: readonly ReadRow[]): Promise<readonly ReadRow[]> {
    const lacking = rows.flatMap(({ person }) => (person && person.lacking.length > 0 ? [person] : []));
    if (lacking.length === 0) return rows;
    const holders = await this.#target.holdersOf(lacking);
    return rows.map((row) => {
      const [column] = row.person?.lacking ?? [];
      if (row.person === undefined || column === undefined || holders.has(row.person.email)) return row;
      const faults = [...row.faults, { column, value: "", reason: "is required" }];
      return { ...row, faults, person: isOut(row.person) ? row.person : undefined };
    });
  }

  #note({ line, cells }: CsvRow, row: ReadRow): void {
    const { person, decidedBy, faults } = row;
    if (faults.length > 0) {
      this.#refusals.note(line, row);
      this.#errorRows.note(cells, faults);
      this.#examples.noteRefused(line, row);
    }
    if (person === undefined) return;
    if (decidedBy !== undefined) this.#decided.set(decidedBy, (this.#decided.get(decidedBy) ?? 0) + 1);
    if (isOut(person)) {
      this.#optedOut++;
      this.#examples.noteOptedOut(line, person, decidedBy);
    }
    this.#examples.noteLine(line);
    this.#people.add(person);
  }

  async end(options: ReadOptions, now: Date, optOuts: readonly OptOutColumn[], overruled: readonly string[]) {
    const { file, columns } = this.#table;
    const isOptOut = (place: number) => optOuts.some((column) => column.place === place);
    const hasErrors = !this.#refusals.isEmpty;
    const { people: _, ...errorSinks } = this.#sinks;
    const [batches] = await Promise.all([
      this.#people.close(),
      ...(hasErrors ? Object.values(errorSinks).map((file) => file.close()) : []),
    ]);
    const skipped = [...columns.skipped.filter(({ place }) => !isOptOut(place)), ...this.#filledUnnamed];
    const plan: ImportPlan = {
      now: now.toISOString(),
      people_file: this.#people.name,
      errors_file: hasErrors ? this.#sinks.errors.name : null,
      error_rows_file: hasErrors ? this.#sinks.errorRows.name : null,
      batches,
      rows: this.#count,
      duplicates: this.#people.duplicates,
      invalid: this.#refusals.refused,
      written_in_part: this.#refusals.writtenInPart,
      defaults: Object.fromEntries(
        this.#target.fields
          .filter(({ default_value }) => default_value !== null)
          .map(({ field_name, default_value }) => [field_name, default_value]),
      ),
      encoding: file.encoding,
      is_guessed: file.isGuessed,
      warnings: [...this.#warnings(options, optOuts), ...overruled],
      delimiter: file.delimiter,
      skipped_columns: skipped
        .toSorted((one, other) => one.place - other.place)
        .slice(0, MOST_SKIPPED)
        .map(({ header }) => header),
      opt_out_columns: optOuts.map((column) => ({
        column: column.header.replaceAll("\0", "").slice(0, 100).toWellFormed(),
        opted_out: this.#decided.get(column) ?? 0,
      })),
    };
    return { plan, examples: this.#examples, optedOut: this.#optedOut };
  }

  #warnings({ date_format }: ReadOptions, optOuts: readonly OptOutColumn[]): string[] {
    const { file, warnings } = this.#table;
    const ambiguous = [...this.#rows.ambiguousDates].map(
      (header) =>
        `The column "${header}" holds dates whose day and month can be exchanged: send the file again with date_format=DMY or date_format=MDY`,
    );
    const { writtenInPart } = this.#refusals;
    return [
      ...warnings,
      ...optOuts.flatMap((column) => doubtWarning(column, this.#decided.get(column) ?? 0) ?? []),
      ...(file.isGuessed ? [KEPT] : []),
      ...(date_format ? [] : ambiguous),
      ...(writtenInPart === 0 ? [] : [inPart(writtenInPart)]),
    ];
  }
}

function isOut({ status }: ImportedPerson): boolean {
  return rank(status) > rank("active");
}

/** Rows with only delimiters, which spreadsheets leave below a table, are ignored. */
function hasContent({ cells }: CsvRow): boolean {
  return cells.some((cell) => cell.trim() !== "");
}

const KEPT =
  "Names and custom fields of people who are on the list already were left as they are, because the encoding is a guess";

function inPart(rows: number): string {
  const what =
    rows === 1 ? "1 row of a person who gets no mail has" : `${rows} rows of people who get no mail have`;
  return `${what} faults: the status was taken, the values with faults were not (see the errors file)`;
}

function tooLong(): ApiError {
  return new ApiError(
    "BAD_REQUEST",
    `The file has more than ${MOST_ROWS.toLocaleString("en-GB")} rows: split it and import the parts`,
  );
}
