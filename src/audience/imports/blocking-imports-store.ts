/** Imports in progress, which keep lists and custom fields from being deleted or changed. */
import sql, { type Sql } from "sql-template-tag";
import type { FieldUse } from "#audience/segments/refuse-used-field-changes.ts";
import { fieldsSql, isOnItsList } from "#audience/segments/segments-using-field-store.ts";
import { subscribers } from "#audience/subscribers/permission.ts";
import { listFirstUsers } from "#audience/uses/first-users-store.ts";
import { refuseWhileUsed } from "#audience/uses/refuse-while-used.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { IMPORT_JOB, type ImportInput } from "./import-job.ts";

/** Imports in progress, and those that wait, as a relation `g`. */
function openImports(workspaceId: WorkspaceId): Sql {
  const input = (name: keyof ImportInput) => sql`input ->> ${name}::text`;
  return sql`(
    select workspace_id, id, (${input("mailing_list_id")})::uuid as mailing_list_id, ${input("file_name")} as file_name
    from jobs
    where workspace_id = ${workspaceId} and type = ${IMPORT_JOB} and status in ('pending', 'processing')) g`;
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
  kind: "import",
  noun: subscribers,
  list: (db, workspaceId, fields) =>
    listFirstUsers(
      db,
      sql`
      select f.id as used_id, g.id, g.file_name as name, null::uuid as mailing_list_id, true as prevents_deletion
      from ${openImports(workspaceId)} join ${fieldsSql(fields)} on ${isOnItsList}`,
    ),
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
  const rows = await db.rows<{ file_name: string }>(sql`
    select file_name from ${openImports(workspaceId)} where mailing_list_id = ${mailingListId} order by file_name`);
  const files = rows.map(({ file_name }) => file_name);
  refuseWhileUsed(files, "mailing list", usedByImports);
}
