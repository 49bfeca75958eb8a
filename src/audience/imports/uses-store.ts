/** What imports use of custom fields. */
import sql from "sql-template-tag";
import type { Queryable } from "../../platform/database/pool.ts";
import type { WorkspaceId } from "../../platform/ids.ts";
import { type FieldInRules, isOnListOf } from "../segments/store.ts";
import type { FieldUse } from "../segments/uses.ts";
import { IMPORT_JOB, type ImportInput } from "./import-job.ts";

/**
 * The files that are being imported, or wait for that, into lists for which the field holds. One that begins after this
 * waits for whoever holds the field (custom-fields/store.ts, listSettledFields).
 */
async function listFilesWithField(
  tx: Queryable,
  workspaceId: WorkspaceId,
  field: FieldInRules,
): Promise<string[]> {
  const input = (name: keyof ImportInput) => sql`input ->> ${name}::text`;
  const rows = await tx.rows<{ file_name: string }>(sql`
    select file_name from (
      select workspace_id, (${input("mailing_list_id")})::uuid as mailing_list_id, ${input("file_name")} as file_name
      from jobs
      where workspace_id = ${workspaceId} and type = ${IMPORT_JOB} and status in ('pending', 'processing')
    ) g
    where ${isOnListOf(field)} order by file_name`);
  return rows.map(({ file_name }) => file_name);
}

/** An import reads how fields are defined once, and writes what it made of its file by that. */
export const usedByImports: FieldUse = {
  what: "Imports under way",
  remedy: "wait for them or cancel them",
  needsType: true,
  listNames: listFilesWithField,
};
