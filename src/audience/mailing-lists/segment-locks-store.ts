/** Segments that stay for whoever begins to use them. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/**
 * Keeps segments from being deleted before this transaction ends. A mailing list takes its segments and fields with it, so
 * theirs, and those given besides, are kept too, and first, as everywhere. Says how many of the segments are there.
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
