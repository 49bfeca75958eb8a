/** Share locks on segments. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/**
 * Keeps segments from being deleted before this transaction ends. Deleting a mailing list also deletes its segments and
 * fields, so the lists of the segments are locked too, and first, as everywhere; `mailingListIds` are locked with them.
 * @returns how many of the segments exist
 */
export async function shareLockSegments(
  tx: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly string[],
  mailingListIds: readonly string[] = [],
): Promise<number> {
  await tx.run(sql`
    select from mailing_lists
    where workspace_id = ${workspaceId} and (id = any(${mailingListIds}::uuid[]) or id in (
      select mailing_list_id from segments where workspace_id = ${workspaceId} and id = any(${ids}::uuid[])))
    order by id for key share`);
  return tx.run(sql`
    select from segments where workspace_id = ${workspaceId} and id = any(${ids}::uuid[]) order by id for key share`);
}
