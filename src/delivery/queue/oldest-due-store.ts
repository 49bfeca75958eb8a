/** How late the delivery queue is, for the metrics and the operator's status. */
import sql from "sql-template-tag";
import type { Priority } from "#delivery/message/message.ts";
import type { Queryable } from "#platform/database/pool.ts";

/**
 * Seconds since the longest waiting message of a priority became due; 0 if none is due. Messages under way, of suspended
 * workspaces and of the `halted` campaigns do not count. A loose index scan with one step for each line (open-lines-store.ts),
 * however many messages wait.
 */
export async function oldestDueSeconds(
  db: Queryable,
  priority: Priority,
  halted: readonly string[],
): Promise<number> {
  const row = await db.row<{ seconds: number }>(
    sql`
    with recursive line as (
      (select workspace_id, campaign_id from delivery_queue where priority = ${priority}
        order by workspace_id, campaign_id limit 1)
      union all
      select next.* from line cross join lateral (
        select q.workspace_id, q.campaign_id from delivery_queue q
        where (q.priority, q.workspace_id, q.campaign_id) > (${priority}, line.workspace_id, line.campaign_id)
          and q.priority = ${priority}
        order by q.priority, q.workspace_id, q.campaign_id limit 1) next
    )
    select greatest(0, extract(epoch from now() - min(first.due_at)))::float8 as seconds
    from line cross join lateral (
      select due_at from delivery_queue q
      where q.priority = ${priority} and q.workspace_id = line.workspace_id and q.campaign_id = line.campaign_id
      order by q.priority, q.workspace_id, q.campaign_id, q.due_at limit 1) first
    where line.campaign_id <> all (${[...halted]}::uuid[])
      and line.workspace_id <> all (array(select id from workspaces where is_suspended))`,
    "oldest due message",
  );
  return row?.seconds ?? 0;
}
