/**
 * The first half of an import: the whole file is read, checked and put in order before anybody is written. So a file
 * that breaks off or is too long is refused as a whole, and of somebody who is in it twice the last row counts.
 *
 * People go to a file of the job's own, as the staging table takes them, in batches. Nothing of the upload is in memory but
 * the rows of the moment and 16 bytes for each address.
 */
import { open, stat } from "node:fs/promises";
import type { Encoding } from "../../platform/csv/encodings.ts";
import { BROKEN, type CsvFile, openCsv } from "../../platform/csv/read.ts";
import type { CsvRow } from "../../platform/csv/records.ts";
import type { Database, Queryable } from "../../platform/database/pool.ts";
import { ApiError } from "../../platform/errors.ts";
import { newIdSeries, type WorkspaceId } from "../../platform/ids.ts";
import { createLineFile } from "../../platform/jobs/line-file.ts";
import { listSettledFields } from "../custom-fields/store.ts";
import { stagedLine } from "../subscribers/staging.ts";
import { type Column, type Columns, MOST_SKIPPED, readColumns } from "./columns.ts";
import { createLastRows } from "./last-rows.ts";
import {
  findOptOutColumns,
  type OptOutChoice,
  type OptOutColumn,
  order,
  rank,
  worse,
} from "./opt-out-columns.ts";
import type { Batch, Plan } from "./plan.ts";
import { createRefusals } from "./refusals.ts";
import { type ReadRow, rowReader } from "./row.ts";
import { listHolders } from "./store.ts";

export const MOST_ROWS = 1_000_000;
/** Most rows have more. */
const ROW_BYTES = 50;
/** People written in one transaction: half a second, for as long as others may wait for one of them. */
export const BATCH_LINES = 20_000;

interface Place {
  readonly workspaceId: WorkspaceId;
  readonly jobId: string;
  readonly mailingListId: string;
}

/** What the sender says about the file. */
export interface ReadOptions extends OptOutChoice {
  readonly encoding?: Encoding | null;
}

/**
 * @param paths of the upload, and of the copy of the people that is made beside
 * @throws ApiError BAD_REQUEST for a file that is no CSV, has no addresses, breaks off or is too long
 */
export async function readImport(
  db: Database,
  { workspaceId, jobId, mailingListId }: Place,
  paths: { readonly upload: string; readonly people: string },
  options: ReadOptions,
  now: Date,
  signal: AbortSignal,
): Promise<Plan> {
  const [file, fields] = await Promise.all([
    openCsv(paths.upload, options.encoding ?? undefined),
    listSettledFields(db, workspaceId, mailingListId),
  ]);
  const job = { workspaceId, id: jobId };
  await using copy = await open(paths.people, "wx", 0o600);
  await using people = createLineFile(db, job, "people", copy);
  await using errors = createLineFile(db, job, "errors.csv");
  const refusals = createRefusals(errors);

  const nextId = newIdSeries();
  const { size } = await stat(paths.upload);
  const lastRows = createLastRows(Math.min(MOST_ROWS, size / ROW_BYTES));
  const replaced = new Map<number, number[]>();
  /** The status of each person's row, by its rank. */
  const ranks = new Uint8Array(MOST_ROWS);
  /** Rows in which each column said that somebody gets no mail. */
  const decided = new Map<OptOutColumn, number>();
  const batches: Omit<Batch, "replaced">[] = [];
  let [offset, bytes, lines, rows, duplicates] = [0, 0, 0, 0, 0];
  /** Lines of the piece at hand: to write each by itself would take as long as to make it. */
  let gathered = "";
  const write = () => {
    bytes += people.add(gathered);
    gathered = "";
  };
  const endBatch = () => {
    write();
    if (lines % BATCH_LINES === 0 && bytes === 0) return;
    batches.push({ offset, bytes, lines: lines - batches.length * BATCH_LINES });
    offset += bytes;
    bytes = 0;
  };
  const take = ({ line }: CsvRow, row: ReadRow) => {
    if (!row.ok) return refusals.refuse(line, row);
    const before = lastRows.note(row.person.email, lines);
    // Who opted out in one row of theirs has, whatever the last one says.
    const status = worse(row.person.status, order[(before === undefined ? 0 : ranks[before]) ?? 0] ?? null);
    ranks[lines] = rank(status);
    if (row.decidedBy !== undefined) decided.set(row.decidedBy, (decided.get(row.decidedBy) ?? 0) + 1);
    if (before !== undefined) {
      duplicates++;
      const batch = Math.floor(before / BATCH_LINES);
      const places = replaced.get(batch) ?? [];
      places.push(before % BATCH_LINES);
      replaced.set(batch, places);
    }
    gathered += stagedLine(lines % BATCH_LINES, nextId(), { ...row.person, status });
    lines++;
    if (lines % BATCH_LINES === 0) endBatch();
  };

  /** Columns without a name in which something stands. */
  const filledUnnamed = new Set<Column>();
  let columns: Columns | undefined;
  let optOuts: readonly OptOutColumn[] = [];
  let read: ((cells: readonly string[]) => ReadRow) | undefined;
  for await (const given of file.batches()) {
    signal.throwIfAborted();
    const [header] = given;
    if (columns === undefined || read === undefined) {
      if (header === undefined) continue;
      columns = readColumns(header.cells, fields);
      optOuts = await findOptOutColumns(file, header.cells, columns, options);
      read = rowReader(columns, fields, optOuts, options.status ?? null);
      given.shift();
    }
    const filled = given.filter(hasContent);
    rows += filled.length;
    if (rows > MOST_ROWS) throw tooLong();
    for (const column of columns.unnamed) {
      if (!filledUnnamed.has(column) && filled.some(({ cells }) => cells[column.place]?.trim()))
        filledUnnamed.add(column);
    }
    const results = filled.map(
      ({ cells }) => brokenCell(file, columns, cells) ?? read?.(cells) ?? neverRead(),
    );
    await refuseLacking(db, workspaceId, results);
    filled.forEach((row, at) => {
      take(row, results[at] ?? neverRead());
    });
    write();
    if (people.isFull) await people.flush();
    if (errors.isFull) await errors.flush();
  }
  if (columns === undefined) throw new ApiError("BAD_REQUEST", "The file is empty");
  endBatch();
  const isOptOut = (place: number) => optOuts.some((column) => column.place === place);
  const hasErrors = refusals.count > 0;
  await Promise.all([people.close(), hasErrors && errors.close()]);
  return {
    now: now.toISOString(),
    people_file: people.name,
    errors_file: hasErrors ? errors.name : null,
    batches: batches.map((batch, at) => ({ ...batch, replaced: replaced.get(at) ?? [] })),
    rows,
    duplicates,
    invalid: refusals.count,
    defaults: Object.fromEntries(
      fields
        .filter(({ default_value }) => default_value !== null)
        .map(({ field_name, default_value }) => [field_name, default_value]),
    ),
    is_guessed: file.isGuessed,
    warnings: file.isGuessed ? [...file.warnings, KEPT] : file.warnings,
    ...layoutOf(file, [...columns.skipped.filter(({ place }) => !isOptOut(place)), ...filledUnnamed]),
    opt_out_columns: optOuts.map((column) => ({
      column: column.header.replaceAll("\0", "").slice(0, 100).toWellFormed(),
      opted_out: decided.get(column) ?? 0,
    })),
  };
}

/** Rows of nothing but delimiters, as spreadsheets leave below a table, are no rows. */
function hasContent({ cells }: CsvRow): boolean {
  return cells.some((cell) => cell.trim() !== "");
}

const KEPT =
  "Names and custom fields of people who are on the list already were left as they are, because the encoding is a guess";

/** The refusal of a row that holds bytes which are none of the encoding. */
function brokenCell(
  file: CsvFile,
  columns: Columns | undefined,
  cells: readonly string[],
): ReadRow | undefined {
  const place = cells.findIndex((cell) => file.isBroken(cell));
  if (place < 0) return undefined;
  const column = columns?.headers[place] ?? `column ${place + 1}`;
  return { ok: false, column, value: cells[place] ?? "", reason: BROKEN };
}

/** A required field may be missing in the row of somebody who has it already. Replaces the rows of all others. */
async function refuseLacking(db: Queryable, workspaceId: WorkspaceId, rows: ReadRow[]): Promise<void> {
  const lacking = rows.flatMap((row) => (row.ok && row.person.lacking.length > 0 ? [row.person] : []));
  if (lacking.length === 0) return;
  const holders = await listHolders(db, workspaceId, lacking);
  for (const [at, row] of rows.entries()) {
    const [column] = row.ok ? row.person.lacking : [];
    if (row.ok && column !== undefined && !holders.has(row.person.email)) {
      rows[at] = { ok: false, column, value: "", reason: "is required" };
    }
  }
}

function layoutOf({ encoding, delimiter }: CsvFile, skipped: readonly Column[]) {
  const inOrder = skipped.toSorted((one, other) => one.place - other.place).slice(0, MOST_SKIPPED);
  return { encoding, delimiter, skipped_columns: inOrder.map(({ header }) => header) };
}

function tooLong(): ApiError {
  return new ApiError(
    "BAD_REQUEST",
    `The file has more than ${MOST_ROWS.toLocaleString("en-GB")} rows: split it and import the parts`,
  );
}

function neverRead(): never {
  throw new Error("a row without its reading");
}
