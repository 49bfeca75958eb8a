/**
 * The first half of an import: the whole file is read, checked and put in order before anybody is written. So a file
 * that breaks off or is too long is refused as a whole, and of somebody who is in it twice the last row counts.
 *
 * People go to a file of the job's own, as the staging table takes them, in batches. Nothing of the upload is in memory but
 * the rows of the moment and 16 bytes for each address.
 */
import { open, stat } from "node:fs/promises";
import { type CsvFile, openCsv } from "../../platform/csv/read.ts";
import type { CsvRow } from "../../platform/csv/records.ts";
import type { Database, Queryable } from "../../platform/database/pool.ts";
import { ApiError } from "../../platform/errors.ts";
import { newIdSeries, type WorkspaceId } from "../../platform/ids.ts";
import { createLineFile } from "../../platform/jobs/line-file.ts";
import { listSettledFields } from "../custom-fields/store.ts";
import { stagedLine } from "../subscribers/staging.ts";
import { type Column, type Columns, MOST_SKIPPED, readColumns } from "./columns.ts";
import { createLastRows } from "./last-rows.ts";
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

/**
 * @param paths of the upload, and of the copy of the people that is made beside
 * @throws ApiError BAD_REQUEST for a file that is no CSV, has no addresses, breaks off or is too long
 */
export async function readImport(
  db: Database,
  { workspaceId, jobId, mailingListId }: Place,
  paths: { readonly upload: string; readonly people: string },
  now: Date,
  signal: AbortSignal,
): Promise<Plan> {
  const [file, fields] = await Promise.all([
    openCsv(paths.upload),
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
    if (before !== undefined) {
      duplicates++;
      const batch = Math.floor(before / BATCH_LINES);
      const places = replaced.get(batch) ?? [];
      places.push(before % BATCH_LINES);
      replaced.set(batch, places);
    }
    gathered += stagedLine(lines % BATCH_LINES, nextId(), row.person);
    lines++;
    if (lines % BATCH_LINES === 0) endBatch();
  };

  /** Columns without a name in which something stands. */
  const filledUnnamed = new Set<Column>();
  let columns: Columns | undefined;
  let read: ((cells: readonly string[]) => ReadRow) | undefined;
  for await (const given of file.batches()) {
    signal.throwIfAborted();
    const [header] = given;
    if (columns === undefined || read === undefined) {
      if (header === undefined) continue;
      columns = readColumns(header.cells, fields);
      read = rowReader(columns, fields);
      given.shift();
    }
    const filled = given.filter(hasContent);
    rows += filled.length;
    if (rows > MOST_ROWS) throw tooLong();
    for (const column of columns.unnamed) {
      if (!filledUnnamed.has(column) && filled.some(({ cells }) => cells[column.place]?.trim()))
        filledUnnamed.add(column);
    }
    const results = filled.map(({ cells }) => read?.(cells) ?? neverRead());
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
    ...layoutOf(file, [...columns.skipped, ...filledUnnamed]),
  };
}

/** Rows of nothing but delimiters, as spreadsheets leave below a table, are no rows. */
function hasContent({ cells }: CsvRow): boolean {
  return cells.some((cell) => cell.trim() !== "");
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
