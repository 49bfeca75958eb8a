/**
 * The look at an upload before its job starts: a file whose sender has to say more is refused at once. Of any other fault
 * the job tells, which reads all of the file.
 */
import { type CsvFile, openCsv } from "../../platform/csv/read.ts";
import type { Queryable } from "../../platform/database/pool.ts";
import { ApiError } from "../../platform/errors.ts";
import type { WorkspaceId } from "../../platform/ids.ts";
import { listFieldsInForce } from "../custom-fields/store.ts";
import { type Columns, readColumns } from "./columns.ts";
import { findOptOutColumns } from "./opt-out-columns.ts";
import type { ReadOptions } from "./read-file.ts";

/** Rows that are looked at while the sender waits. */
const MOST_ROWS = 5_000;

/** @throws ApiError BAD_REQUEST for a doubtful column, VALIDATION_ERROR for an opt_out_column that is not there */
export async function requireClearOptOuts(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
  path: string,
  options: ReadOptions,
): Promise<void> {
  const fields = await listFieldsInForce(db, workspaceId, mailingListId);
  let opened: { file: CsvFile; header: readonly string[]; columns: Columns };
  try {
    const file = await openCsv(path, options.encoding ?? undefined);
    const { value: first } = await file.rows().next();
    const header = first?.cells ?? [];
    opened = { file, header, columns: readColumns(header, fields) };
  } catch (fault) {
    if (fault instanceof ApiError) return;
    throw fault;
  }
  await findOptOutColumns(opened.file, opened.header, opened.columns, options, MOST_ROWS);
}
