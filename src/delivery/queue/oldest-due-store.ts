/** How late the delivery queue is, for the metrics and the operator's status. */
import sql from "sql-template-tag";
import type { Priority } from "#delivery/message/message.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { lastId } from "#platform/ids.ts";

/**
 * Seconds since the longest waiting message of a priority became due; 0 if none is due. Messages under way, of suspended
 * workspaces and of the `halted` campaigns do not count. A loose index scan with one step for each line (open-lines-store.ts),
 * however many messages wait: the row that a step finds is the first of its line.
 */
export async function oldestDueSeconds(
  db: Queryable,
  priority: Priority,
  halted: readonly string[],
): Promise<number> {
  const row = await db.row<{ seconds: number }>(
    sql`
    with recursive line as (
      -- With "q.priority =", each step would begin at the first message of the priority, instead of behind the line before.
      -- The last possible line of the priority before is in front of the first line.
      select ${priority - 1}::smallint as priority, ${lastId}::uuid as workspace_id, ${lastId}::uuid as campaign_id,
        null::timestamptz as due_at
      union all
      select ${priority}::smallint, next.* from line cross join lateral (
        select q.workspace_id, q.campaign_id, q.due_at from delivery_queue q
        where (q.priority, q.workspace_id, q.campaign_id) > (line.priority, line.workspace_id, line.campaign_id)
          and (q.priority, q.workspace_id, q.campaign_id) < (${priority}, ${lastId}, ${lastId})
        order by q.priority, q.workspace_id, q.campaign_id, q.due_at limit 1) next
    )
    select coalesce(greatest(0, extract(epoch from now() - min(due_at))), 0)::float8 as seconds
    from line
    where due_at <= now() and campaign_id <> all (${[...halted]}::uuid[])
      and workspace_id <> all (array(select id from workspaces where is_suspended))`,
    "oldest due message",
  );
  return row?.seconds ?? 0;
}
