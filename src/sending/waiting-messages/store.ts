/** The campaign of a waiting message, which may hold it back. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** Whether the message belongs to a campaign that is paused or to an autoresponder that is inactive. */
export async function isHeldByOrigin(
  db: Queryable,
  workspaceId: WorkspaceId,
  { source, origin_id: id }: { readonly source: string; readonly origin_id: string | null },
): Promise<boolean> {
  const row = await db.row<{ is_held: boolean }>(sql`
    select case ${source}
      when 'campaign' then exists (
        select from campaigns where workspace_id = ${workspaceId} and id = ${id} and status = 'paused')
      when 'autoresponder' then exists (
        select from autoresponders where workspace_id = ${workspaceId} and id = ${id} and status = 'inactive')
      else false end as is_held`);
  return row?.is_held === true;
}
