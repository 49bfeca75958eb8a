/** SQL of submitted SMS whose delivery receipt is awaited, and of the receipts. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { SmsReceipt } from "./gateway.ts";

/** After this time a receipt is no longer awaited. */
const AWAITED_HOURS = 72;
/** After this time a receipt of an unknown message is deleted. */
const UNKNOWN_KEPT_HOURS = 24;

export interface SmsSubmission {
  readonly workspaceId: WorkspaceId;
  readonly messageId: string;
  readonly gateway: string;
  readonly gatewayId: string;
}

export async function insertSubmissions(tx: Queryable, submissions: readonly SmsSubmission[]): Promise<void> {
  if (submissions.length === 0) return;
  const column = <Value>(read: (submission: SmsSubmission) => Value) => submissions.map(read);
  await tx.run(sql`
    insert into sms_submissions (workspace_id, message_id, gateway, gateway_id, expires_at)
    select *, now() + make_interval(hours => ${AWAITED_HOURS}) from unnest(
      ${column((one) => one.workspaceId)}::uuid[], ${column((one) => one.messageId)}::uuid[],
      ${column((one) => one.gateway)}::text[], ${column((one) => one.gatewayId)}::text[])
    on conflict do nothing`);
}

/** The first receipt of a message counts; later ones change nothing. */
export async function insertReceipts(
  db: Queryable,
  receipts: readonly SmsReceipt[],
  now: Date,
): Promise<void> {
  const column = <Value>(read: (receipt: SmsReceipt) => Value) => receipts.map(read);
  await db.run(sql`
    insert into sms_receipts (gateway, gateway_id, workspace_id, message_id, status, detail, received_at)
    select *, ${now} from unnest(
      ${column((one) => one.gateway)}::text[], ${column((one) => one.gatewayId)}::text[],
      ${column((one) => one.message?.workspaceId)}::uuid[], ${column((one) => one.message?.messageId)}::uuid[],
      ${column((one) => one.status)}::text[], ${column((one) => one.detail.replaceAll("\0", ""))}::text[])
    on conflict do nothing`);
}

export interface ReceivedEnd extends SmsSubmission {
  readonly status: "delivered" | "failed";
  readonly detail: string;
  readonly time: Date;
  /** The message is in the queue, where its row is locked now. */
  readonly isQueued: boolean;
  /** The number of the attempt under way; null without one. */
  readonly attempts: number | null;
}

/**
 * Removes receipts together with the messages they belong to: submitted ones, and queued ones whose submission was answered with a
 * failure or not at all.
 */
export function takeReceived(tx: Queryable, limit: number): Promise<ReceivedEnd[]> {
  return tx.rows(sql`
    with awaited as materialized (
      select s.workspace_id, s.message_id, gateway, gateway_id, r.status, r.detail, r.received_at, null::integer as attempts,
        false as is_queued
      from sms_receipts r join sms_submissions s using (gateway, gateway_id)
      order by s.workspace_id, s.message_id limit ${limit} for update skip locked
    ), queued as materialized (
      select q.workspace_id, q.message_id, gateway, gateway_id, r.status, r.detail, r.received_at, q.attempts, true as is_queued
      -- Lateral: a look-up by the key of the queue for each row, whatever the statistics say.
      from sms_receipts r cross join lateral (
        select workspace_id, message_id, case when leased_by is not null or attempts = 0 then attempts + 1 end as attempts
        from delivery_queue where workspace_id = r.workspace_id and message_id = r.message_id for update skip locked) q
      where r.message_id is not null limit ${limit} for update of r skip locked
    ), matched as (
      select * from awaited union all select * from queued
    ), receipts as (
      delete from sms_receipts r using matched m where r.gateway = m.gateway and r.gateway_id = m.gateway_id
    ), submissions as (
      delete from sms_submissions s using awaited m
      where s.workspace_id = m.workspace_id and s.message_id = m.message_id and s.gateway = m.gateway
        and s.gateway_id = m.gateway_id
    )
    select distinct on (workspace_id, message_id) workspace_id as "workspaceId", message_id as "messageId", gateway,
      gateway_id as "gatewayId", status, detail, received_at as "time", attempts, is_queued as "isQueued"
    from matched order by workspace_id, message_id, status`);
}

/** Removes submissions whose receipt is no longer awaited. */
export function takeExpired(tx: Queryable, now: Date, limit: number): Promise<SmsSubmission[]> {
  return tx.rows(sql`
    delete from sms_submissions s using (
      select workspace_id, message_id, gateway, gateway_id from sms_submissions where expires_at <= ${now}
      order by expires_at limit ${limit} for update skip locked) late
    where s.workspace_id = late.workspace_id and s.message_id = late.message_id and s.gateway = late.gateway
      and s.gateway_id = late.gateway_id
    returning s.workspace_id as "workspaceId", s.message_id as "messageId", s.gateway, s.gateway_id as "gatewayId"`);
}

/** Deletes receipts of unknown messages. */
export function removeUnknownReceipts(db: Queryable, now: Date): Promise<number> {
  return db.run(sql`
    delete from sms_receipts
    where received_at < ${now}::timestamptz - make_interval(hours => ${UNKNOWN_KEPT_HOURS})`);
}
