/** How fast the last campaigns of a workspace were sent. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** Campaigns to fewer people say little about the speed. */
const FEWEST_PEOPLE = 100;
const LAST_CAMPAIGNS = 5;

/** Messages a second over the last campaigns that were sent; null when there is none. */
export async function findSendingSpeed(db: Queryable, workspaceId: WorkspaceId): Promise<number | null> {
  const row = await db.row<{ speed: number | null }>(sql`
    select sum(total_recipients) / nullif(sum(greatest(1, extract(epoch from completed_at - sent_at))), 0)::float8 as speed
    from (
      select total_recipients, completed_at, sent_at from campaigns
      where workspace_id = ${workspaceId} and status = 'sent' and message_type = 'email'
        and total_recipients >= ${FEWEST_PEOPLE} and completed_at is not null and sent_at is not null
      order by id desc limit ${LAST_CAMPAIGNS}) last`);
  return row?.speed ?? null;
}
