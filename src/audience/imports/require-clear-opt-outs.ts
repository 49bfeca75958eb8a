/**
 * The look at an upload before its job starts: a file whose sender has to say more is refused at once. Of any other fault
 * the job tells, which reads all of the file.
 */

import { listFieldsInForce } from "#audience/custom-fields/store.ts";
import { type CsvFile, TooManyCells } from "#platform/csv/read.ts";
import type { CsvRow } from "#platform/csv/records.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import type { UploadedFile } from "#platform/http/request/uploads.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Columns } from "./column-mapping.ts";
import type { ReadOptions } from "./import-reader.ts";
import { openTable } from "./open-import-file.ts";
import { findOptOutColumns, unclearFileName } from "./opt-outs/columns.ts";

/** What is looked at while the sender waits. */
const LOOK = { rows: 5_000, cells: 50_000 };

/** @throws ApiError BAD_REQUEST for a doubtful column or name and for too many columns, VALIDATION_ERROR for an opt_out_column that is not there */
export async function requireClearOptOuts(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
  { path, name: fileName }: Pick<UploadedFile, "path" | "name">,
  options: ReadOptions,
): Promise<void> {
  const fields = await listFieldsInForce(db, workspaceId, mailingListId);
  let opened: { file: CsvFile; header: CsvRow; columns: Columns };
  try {
    opened = await openTable(path, options.encoding ?? undefined, fields);
  } catch (fault) {
    if (fault instanceof ApiError && !(fault instanceof TooManyCells)) return;
    throw fault;
  }
  const columns = await findOptOutColumns(opened.file, opened.header, opened.columns, options, LOOK);
  const unclear = unclearFileName(fileName, columns, options);
  if (unclear !== undefined) throw new ApiError("BAD_REQUEST", unclear);
}
