/** When a workspace took its first steps. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { StepKey } from "./checklist.ts";

/**
 * When each step was taken first; null while it was not, or is undone. Emails are counted by the quarter-hour, the first of
 * which may have begun before the workspace.
 */
export async function findSteps(
  db: Queryable,
  workspaceId: WorkspaceId,
): Promise<Readonly<Record<StepKey, Date | null>>> {
  const row = await db.row<Record<StepKey, Date | null>>(sql`
    select
      (select min(verified_at) from sending_domains where workspace_id = ${workspaceId} and is_verified)
        as verify_domain,
      (select min(dkim_verified_at) from sending_domains where workspace_id = ${workspaceId}) as publish_dkim,
      (select min(dmarc_verified_at) from sending_domains where workspace_id = ${workspaceId}) as publish_dmarc,
      (select min(created_at) from api_keys where workspace_id = ${workspaceId}) as create_api_key,
      (select min(created_at) from mailing_lists where workspace_id = ${workspaceId}) as create_mailing_list,
      (select created_at from subscribers where workspace_id = ${workspaceId} order by id limit 1)
        as import_subscribers,
      (select greatest(min(quarter), (select created_at from workspaces where id = ${workspaceId})) from (
        (select quarter from report_quarters where workspace_id = ${workspaceId} and source in ('api', 'smtp')
          order by quarter limit 1)
        union all
        (select quarter from report_notes where workspace_id = ${workspaceId} and source in ('api', 'smtp') limit 1)
      ) emails having count(*) > 0) as send_first_email,
      (select min(sent_at) from campaigns where workspace_id = ${workspaceId} and deleted_at is null)
        as send_first_campaign`);
  if (row === undefined) throw new Error("no row");
  return row;
}
