/** Writes the results of attempts to deliver. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { ReceiverAnswer } from "#webhooks/post-to-receiver.ts";
import type { WebhookDeliveryStatus } from "#webhooks/webhook.ts";
import type { LeasedDelivery } from "./lease-store.ts";
import { requestTurnsSql } from "./turns-store.ts";

/** The result of an attempt, and the state of the delivery after it. */
export interface SettledAttempt {
  readonly lease: LeasedDelivery;
  readonly status: WebhookDeliveryStatus;
  /** Null unless pending. */
  readonly nextAttemptAt: Date | null;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly durationMs: number;
  readonly answer: ReceiverAnswer | null;
  readonly time: Date;
}

/** A delivery whose result was written. */
export interface SettledDelivery {
  readonly workspace_id: WorkspaceId;
  readonly webhook_id: string;
  readonly id: string;
}

/**
 * Ends leases and writes their results, in one statement. Deliveries with another lease by now, or with none, stay as they
 * are.
 * @returns the deliveries whose result was written
 */
export function settleDeliveries(
  db: Queryable,
  attempts: readonly SettledAttempt[],
): Promise<SettledDelivery[]> {
  const column = <Value>(read: (attempt: SettledAttempt) => Value) => attempts.map(read);
  return db.rows(sql`
    with results as materialized (
      select * from unnest(${column(({ lease }) => lease.workspace_id)}::uuid[],
        ${column(({ lease }) => lease.webhook_id)}::uuid[], ${column(({ lease }) => lease.id)}::uuid[],
        ${column(({ lease }) => lease.lease_id)}::uuid[], ${column(({ status }) => status)}::text[],
        ${column(({ nextAttemptAt }) => nextAttemptAt)}::timestamptz[],
        ${column(({ statusCode }) => statusCode)}::smallint[], ${column(({ error }) => error)}::text[],
        ${column(({ durationMs }) => durationMs)}::integer[],
        ${column(({ answer }) => answer && JSON.stringify(answer))}::jsonb[],
        ${column(({ time }) => time)}::timestamptz[])
        as r (workspace_id, webhook_id, id, lease_id, status, next_attempt_at, status_code, error, duration_ms, answer, time)
    ), held as materialized (
      -- Lateral with offset 0: the statistics say that the table is empty, and the planner would read all of it, with the
      -- dead rows that a long transaction keeps.
      select r.*, l.slot from results r cross join lateral (
        select ctid as slot from webhook_leases
        where workspace_id = r.workspace_id and webhook_id = r.webhook_id and delivery_id = r.id
          and lease_id = r.lease_id offset 0) l
    ), ended as (
      -- A lease that another sender has taken in the meantime has moved. There are two conditions,
      -- because PostgreSQL up to 17.6 does not repeat for the moved row the one by which it found the row.
      delete from webhook_leases l using held
      where l.ctid = any(array(select slot from held)) and l.ctid = held.slot
      returning held.*
    ), settled as (
      update webhook_deliveries d
      set status = e.status, next_attempt_at = e.next_attempt_at, status_code = e.status_code, error = e.error,
        duration_ms = e.duration_ms, answer = e.answer, attempted_at = e.time, attempts = attempts + 1, tries = tries + 1
      from ended e
      where d.workspace_id = e.workspace_id and d.webhook_id = e.webhook_id and d.id = e.id and d.status = 'pending'
      returning d.workspace_id, d.webhook_id, d.id, d.status, d.next_attempt_at
    ), requested as (${requestTurnsSql(sql`settled where status = 'pending'`)})
    select workspace_id, webhook_id, id from settled`);
}
