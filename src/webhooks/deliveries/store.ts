/** The table of webhook deliveries: outbox, queue and log in one. */
import sql, { empty, type Sql } from "sql-template-tag";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { firstIdAt, type WorkspaceId } from "#platform/ids.ts";
import type { ReceiverAnswer } from "#webhooks/post-to-receiver.ts";
import type { WebhookDeliveryStatus } from "#webhooks/webhook.ts";
import { requestTurnsSql } from "./turns-store.ts";

/** A delivery as the API shows it. */
export interface DeliveryRow {
  readonly id: string;
  readonly type: string;
  readonly status: WebhookDeliveryStatus;
  readonly attempts: number;
  readonly next_attempt_at: Date | null;
  readonly attempted_at: Date | null;
  readonly status_code: number | null;
  readonly error: string | null;
  readonly duration_ms: number | null;
  readonly body: unknown;
  readonly created_at: Date;
}

export interface NewDelivery {
  readonly workspaceId: WorkspaceId;
  readonly id: string;
  readonly type: string;
  /** JSON text. */
  readonly body: string;
  readonly time: Date;
}

const columns = sql`
  id, type, status, attempts, next_attempt_at, attempted_at, status_code, error, duration_ms, body, created_at`;

/** Lists and totals end here. */
const MOST_COUNTED = 10_000;

/** Writes a delivery for each event and each active webhook that listens to it. @returns how many */
export async function insertDeliveries(tx: Queryable, events: readonly NewDelivery[]): Promise<number> {
  const column = <Value>(read: (event: NewDelivery) => Value) => events.map(read);
  const inserted = await tx.row<{ count: number }>(sql`
    with inserted as (
      insert into webhook_deliveries (workspace_id, webhook_id, id, type, body, next_attempt_at, created_at)
      select e.workspace_id, w.id, e.id, e.type, e.body, e.time, e.time
      from unnest(${column(({ workspaceId }) => workspaceId)}::uuid[], ${column(({ id }) => id)}::uuid[],
        ${column(({ type }) => type)}::text[], ${column(({ body }) => body)}::json[],
        ${column(({ time }) => time)}::timestamptz[]) as e (workspace_id, id, type, body, time)
      join webhooks w on w.workspace_id = e.workspace_id and w.is_active and w.events && array[e.type, '*']
      returning workspace_id, next_attempt_at
    ), requested as (${requestTurnsSql(sql`inserted`)})
    select count(*) from inserted`);
  return inserted?.count ?? 0;
}

/** Writes a delivery for one webhook. @returns false when there is none, or it is switched off */
export async function insertDelivery(
  tx: Queryable,
  workspaceId: WorkspaceId,
  webhookId: string,
  event: NewDelivery,
): Promise<boolean> {
  const inserted = await tx.row(sql`
    with inserted as (
      insert into webhook_deliveries (workspace_id, webhook_id, id, type, body, next_attempt_at, created_at)
      select workspace_id, id, ${event.id}, ${event.type}, ${event.body}, ${event.time}, ${event.time}
      from webhooks where workspace_id = ${workspaceId} and id = ${webhookId} and is_active
      returning workspace_id, next_attempt_at
    ), requested as (${requestTurnsSql(sql`inserted`)})
    select from inserted`);
  return inserted !== undefined;
}

/** Counts a webhook's deliveries of this type that were created after `since`, up to `most`. */
export async function countDeliveriesSince(
  db: Queryable,
  workspaceId: WorkspaceId,
  webhookId: string,
  { type, since, most }: { readonly type: string; readonly since: Date; readonly most: number },
): Promise<number> {
  const counted = await db.row<{ count: number }>(sql`
    select count(*) from (
      select from webhook_deliveries
      where workspace_id = ${workspaceId} and webhook_id = ${webhookId} and id >= ${firstIdAt(since)}
        and created_at > ${since} and type = ${type}
      limit ${most}) c`);
  return counted?.count ?? 0;
}

export interface DeliveryFilter {
  readonly status: WebhookDeliveryStatus | undefined;
  readonly event: string | undefined;
  /** Of events at this time or later. */
  readonly from: Date | undefined;
  /** Of events before this time. */
  readonly to: Date | undefined;
}

/** Ids have the time at which they were made, which is nearly that of the event. */
const ID_SLACK_MS = 60_000;

function selected({ status, event, from, to }: DeliveryFilter): Sql {
  const begin = from && firstIdAt(new Date(Math.max(0, from.getTime() - ID_SLACK_MS)));
  const end = to && firstIdAt(new Date(to.getTime() + ID_SLACK_MS));
  const given: [unknown, Sql][] = [
    [status, sql`and status = ${status}`],
    [event, sql`and type = ${event}`],
    [from, sql`and id >= ${begin} and created_at >= ${from}`],
    [to, sql`and id < ${end} and created_at < ${to}`],
  ];
  return given
    .filter(([value]) => value !== undefined)
    .reduce((all, [, condition]) => sql`${all} ${condition}`, empty);
}

/** Newest first. */
export function listDeliveries(
  db: Queryable,
  workspaceId: WorkspaceId,
  webhookId: string,
  filter: DeliveryFilter,
  { limit, offset, after }: Page,
): Promise<DeliveryRow[]> {
  if (offset >= MOST_COUNTED) return Promise.resolve([]);
  return db.rows(sql`
    select ${columns} from webhook_deliveries
    where workspace_id = ${workspaceId} and webhook_id = ${webhookId} ${selected(filter)}
      ${after === undefined ? empty : sql`and id < ${after}`}
    order by id desc limit ${limit} offset ${offset}`);
}

/** Counts up to MOST_COUNTED. */
export async function countDeliveries(
  db: Queryable,
  workspaceId: WorkspaceId,
  webhookId: string,
  filter: DeliveryFilter,
): Promise<number> {
  const counted = await db.row<{ count: number }>(sql`
    select count(*) from (
      select from webhook_deliveries
      where workspace_id = ${workspaceId} and webhook_id = ${webhookId} ${selected(filter)}
      limit ${MOST_COUNTED}) c`);
  return counted?.count ?? 0;
}

/** A delivery with what the receiver answered last. */
export function findDeliveryWithAnswer(
  db: Queryable,
  workspaceId: WorkspaceId,
  webhookId: string,
  id: string,
): Promise<(DeliveryRow & { readonly answer: ReceiverAnswer | null }) | undefined> {
  return db.row(sql`
    select ${columns}, answer from webhook_deliveries
    where workspace_id = ${workspaceId} and webhook_id = ${webhookId} and id = ${id}`);
}

export function findDelivery(
  db: Queryable,
  workspaceId: WorkspaceId,
  webhookId: string,
  id: string,
): Promise<DeliveryRow | undefined> {
  return db.row(sql`
    select ${columns} from webhook_deliveries
    where workspace_id = ${workspaceId} and webhook_id = ${webhookId} and id = ${id}`);
}

/**
 * Makes failed deliveries due now, with all their retries: the oldest first, at most `most`.
 * @returns how many
 */
export async function updateFailedToReplay(
  db: Queryable,
  workspaceId: WorkspaceId,
  webhookId: string,
  filter: Omit<DeliveryFilter, "status">,
  { now, most }: { readonly now: Date; readonly most: number },
): Promise<number> {
  const replayed = await db.row<{ count: number }>(sql`
    with failed as (
      select id from webhook_deliveries
      where workspace_id = ${workspaceId} and webhook_id = ${webhookId} ${selected({ ...filter, status: "failed" })}
      order by id limit ${most} for update skip locked
    ), replayed as (
      update webhook_deliveries d set status = 'pending', tries = 0, next_attempt_at = ${now} from failed
      where d.workspace_id = ${workspaceId} and d.webhook_id = ${webhookId} and d.id = failed.id
      returning d.workspace_id, d.next_attempt_at
    ), requested as (${requestTurnsSql(sql`replayed`)})
    select count(*) from replayed`);
  return replayed?.count ?? 0;
}

/**
 * Makes a delivery due now, with all its retries. Undefined when there is none, or an attempt is in progress. A lease that
 * has expired is removed, so that its result is discarded.
 */
export function updateToReplay(
  db: Queryable,
  workspaceId: WorkspaceId,
  webhookId: string,
  id: string,
  now: Date,
): Promise<DeliveryRow | undefined> {
  const lease = sql`workspace_id = ${workspaceId} and webhook_id = ${webhookId} and delivery_id = ${id}`;
  return db.row(sql`
    with expired as (
      delete from webhook_leases where ${lease} and leased_until <= ${now}
    ), replayed as (
      update webhook_deliveries set status = 'pending', tries = 0, next_attempt_at = ${now}
      where workspace_id = ${workspaceId} and webhook_id = ${webhookId} and id = ${id}
        and not exists (select from webhook_leases where ${lease} and leased_until > ${now})
      returning workspace_id, ${columns}
    ), requested as (${requestTurnsSql(sql`replayed`)})
    select ${columns} from replayed`);
}

/** The pending deliveries that one webhook may have: `mostOverdue` if the oldest has been due for `overdueMs`, else `most`. */
export interface OverfullBounds {
  readonly most: number;
  readonly mostOverdue: number;
  readonly overdueMs: number;
}

/**
 * Lists the webhooks beyond a bound, of the given workspaces and of those in whose line (turns-store.ts) a delivery has been
 * due for `overdueMs`. `mostOverdue` applies only if neither the webhook nor its workspace was changed after
 * `unchangedSince`. Webhooks of suspended workspaces are left out: the suspension keeps their deliveries pending.
 */
export function listOverfull(
  db: Queryable,
  workspaceIds: readonly WorkspaceId[],
  { most, mostOverdue, overdueMs }: OverfullBounds,
  now: Date,
  unchangedSince: Date,
): Promise<{ readonly workspace_id: WorkspaceId; readonly id: string; readonly is_far_over: boolean }[]> {
  const overdueSince = new Date(now.getTime() - overdueMs);
  const ofReceiver = sql`select from webhook_deliveries
        where workspace_id = w.workspace_id and webhook_id = w.id and status = 'pending'`;
  const beyond = (bound: number) =>
    sql`exists (${ofReceiver} order by next_attempt_at offset ${bound} limit 1)`;
  // The cheaper conditions come first: most webhooks have few deliveries, and none that is overdue.
  return db.rows(sql`
    select w.workspace_id, w.id, far.is_far_over
    from (
      select workspace_id from unnest(${[...workspaceIds]}::uuid[]) as given (workspace_id)
      union
      select workspace_id from webhook_turns where due_at <= ${overdueSince}) waiting
    join webhooks w on w.workspace_id = waiting.workspace_id and w.is_active
    join workspaces s on s.id = w.workspace_id and not s.is_suspended
    cross join lateral (
      select exists (${ofReceiver} and next_attempt_at <= ${overdueSince}) as is_overdue offset 0) first
    cross join lateral (select ${beyond(most)} as is_far_over offset 0) far
    where far.is_far_over or (first.is_overdue and greatest(w.updated_at, s.updated_at) <= ${unchangedSince}
      and ${beyond(mostOverdue)})`);
}

/** Removes up to `most` deliveries in any state that were created before this time. @returns how many */
export function removeOldDeliveries(db: Queryable, before: Date, most: number): Promise<number> {
  return db.run(sql`
    delete from webhook_deliveries where ctid = any(array(
      select ctid from webhook_deliveries where created_at < ${before} order by created_at limit ${most}))`);
}

/** Removes up to `most` deliveries of one webhook. @returns how many */
export function removeDeliveriesOf(
  db: Queryable,
  workspaceId: WorkspaceId,
  webhookId: string,
  most: number,
): Promise<number> {
  return db.run(sql`
    delete from webhook_deliveries where ctid = any(array(
      select ctid from webhook_deliveries
      where workspace_id = ${workspaceId} and webhook_id = ${webhookId} limit ${most}))`);
}
