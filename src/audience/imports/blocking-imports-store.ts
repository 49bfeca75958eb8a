/** Imports in progress, which keep lists and custom fields from being deleted or changed. */
import sql, { type Sql } from "sql-template-tag";
import { type FieldUse, refuseWhileUsed } from "#audience/segments/refuse-used-field-changes.ts";
import { isOnListOf } from "#audience/segments/segments-using-field-store.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { IMPORT_JOB, type ImportInput } from "./import-job.ts";

/**
 * Names of files that are being imported or wait for it.
 * @param condition on `g`, which has the mailing_list_id of the import
 */
async function listFiles(tx: Queryable, workspaceId: WorkspaceId, condition: Sql): Promise<string[]> {
  const input = (name: keyof ImportInput) => sql`input ->> ${name}::text`;
  const rows = await tx.rows<{ file_name: string }>(sql`
    select file_name from (
      select workspace_id, (${input("mailing_list_id")})::uuid as mailing_list_id, ${input("file_name")} as file_name
      from jobs
      where workspace_id = ${workspaceId} and type = ${IMPORT_JOB} and status in ('pending', 'processing')
    ) g
    where ${condition} order by file_name`);
  return rows.map(({ file_name }) => file_name);
}

/**
 * Imports into a list for which the field is in force. An import reads the definitions of fields once and writes by
 * them. One that starts after this check waits for the transaction that locks the field (listSettledFields in
 * custom-fields/store.ts).
 */
export const usedByImports: FieldUse = {
  what: "Imports under way",
  remedy: "wait for them or cancel them",
  needsType: true,
  listNames: (tx, workspaceId, field) => listFiles(tx, workspaceId, isOnListOf(field)),
};

/**
 * Checked before the list is locked, because imports may take long, and again under the lock.
 * @throws ApiError CONFLICT while an import into the list is in progress or waits
 */
export async function requireNoImportInto(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
): Promise<void> {
  const files = await listFiles(db, workspaceId, sql`mailing_list_id = ${mailingListId}`);
  refuseWhileUsed(files, "mailing list", usedByImports);
}
