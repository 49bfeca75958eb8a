/** What imports use of custom fields. */
import sql, { type Sql } from "sql-template-tag";
import { type FieldUse, refuseWhileUsed } from "#audience/segments/in-use.ts";
import { isOnListOf } from "#audience/segments/in-use-store.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { IMPORT_JOB, type ImportInput } from "./import-job.ts";

/** Files that are being imported, or wait for that, by name; the condition is on `g`, with the list's id. */
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
 * An import into a list for which the field holds. One that begins after this waits for whoever holds the field
 * (custom-fields/store.ts, listSettledFields).
 *
 * An import reads how fields are defined once, and writes what it made of its file by that.
 */
export const usedByImports: FieldUse = {
  what: "Imports under way",
  remedy: "wait for them or cancel them",
  needsType: true,
  listNames: (tx, workspaceId, field) => listFiles(tx, workspaceId, isOnListOf(field)),
};

/**
 * Asked before the list is held, for a file may be written for long, and again while it is.
 * @throws ApiError CONFLICT while a file is imported into the list, or waits for that
 */
export async function requireNoImportInto(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
): Promise<void> {
  const files = await listFiles(db, workspaceId, sql`mailing_list_id = ${mailingListId}`);
  refuseWhileUsed(files, "mailing list", usedByImports);
}
