/** How much waits to be delivered to webhooks, for the metrics and the operator's status. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import { waitingReceivers } from "./store.ts";

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
 * time do not count, nor do deliveries of suspended workspaces.
 */
export async function waitOfOldestDelivery(db: Queryable, now: Date): Promise<number> {
  const row = await db.row<{ seconds: number }>(sql`
    with recursive ${waitingReceivers}
    select greatest(0, extract(epoch from ${now}::timestamptz - min(first.next_attempt_at)))::float8 as seconds
    from waiting
    join webhooks w on w.workspace_id = waiting.workspace_id and w.id = waiting.webhook_id and w.is_active
    join workspaces s on s.id = w.workspace_id and not s.is_suspended
    cross join lateral (
      select next_attempt_at from webhook_deliveries
      where workspace_id = w.workspace_id and webhook_id = w.id and status = 'pending'
      order by next_attempt_at limit 1) first`);
  return row?.seconds ?? 0;
}
