/** How much waits to be delivered to webhooks, for the metrics and the operator's status. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";

/** More waiting deliveries are not counted. */
const COUNTED = 10_000;

/** Deliveries that wait for their first attempt or for a retry; those to webhooks that are switched off are included. */
export async function countWaitingDeliveries(db: Queryable): Promise<number> {
  const counted = await db.row<{ count: number }>(sql`
    select count(*)::int as count from (
      select from webhook_deliveries where status = 'pending' limit ${COUNTED}) w`);
  return counted?.count ?? 0;
}

/**
 * Seconds since the first delivery became due whose attempt has not ended; 0 if none is late. Retries that wait for their
 * time do not count, nor do deliveries of suspended workspaces. Reads the line, the requests and the leases, not the
 * deliveries that wait.
 */
export async function waitOfOldestDelivery(db: Queryable, now: Date): Promise<number> {
  const row = await db.row<{ seconds: number }>(sql`
    select coalesce(greatest(0, extract(epoch from ${now}::timestamptz - min(due_at))), 0)::float8 as seconds from (
      select coalesce(t.due_at, t.turn_at) as due_at from webhook_turns t
      join workspaces s on s.id = t.workspace_id and not s.is_suspended
      where t.due_at is not null or t.turn_at <= ${now}
      union all
      select r.due_at from webhook_turn_requests r
      join workspaces s on s.id = r.workspace_id and not s.is_suspended
      union all
      select d.next_attempt_at from webhook_leases l
      join webhooks w on w.workspace_id = l.workspace_id and w.id = l.webhook_id and w.is_active
      join workspaces s on s.id = l.workspace_id and not s.is_suspended
      join webhook_deliveries d on d.workspace_id = l.workspace_id and d.webhook_id = l.webhook_id and d.id = l.delivery_id
        and d.status = 'pending') late`);
  return row?.seconds ?? 0;
}
