/** The table of webhook deliveries: outbox, queue and log in one. */
import sql, { empty, type Sql } from "sql-template-tag";
import { lockKey } from "#platform/database/advisory-lock-key.ts";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { firstIdAt, type WorkspaceId } from "#platform/ids.ts";
import type { ReceiverAnswer } from "#webhooks/post-to-receiver.ts";
import type { WebhookDeliveryStatus } from "#webhooks/webhook.ts";

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

/** The right to make one attempt. A result with an older lease number is discarded. */
export interface LeasedDelivery {
  readonly workspace_id: WorkspaceId;
  readonly webhook_id: string;
  readonly id: string;
  readonly lease_number: number;
  /** Attempts since the first one or the last replay. */
  readonly tries: number;
  /** JSON text. */
  readonly body: string;
  readonly url: string;
  readonly secret: Buffer;
  readonly previous_secret: Buffer | null;
  readonly previous_secret_until: Date | null;
}

/** The result of an attempt, and the state of the delivery after it. */
export interface SettledAttempt {
  readonly status: WebhookDeliveryStatus;
  /** Null unless pending. */
  readonly nextAttemptAt: Date | null;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly durationMs: number;
  readonly answer: ReceiverAnswer | null;
  readonly time: Date;
}

const columns = sql`
  id, type, status, attempts, next_attempt_at, attempted_at, status_code, error, duration_ms, body, created_at`;

/** Lists and totals end here. */
const MOST_COUNTED = 10_000;

/** Writes a delivery for each event and each active webhook that listens to it. @returns how many */
export async function insertDeliveries(tx: Queryable, events: readonly NewDelivery[]): Promise<number> {
  const column = <Value>(read: (event: NewDelivery) => Value) => events.map(read);
  return tx.run(sql`
    insert into webhook_deliveries (workspace_id, webhook_id, id, type, body, next_attempt_at, created_at)
    select e.workspace_id, w.id, e.id, e.type, e.body, e.time, e.time
    from unnest(${column(({ workspaceId }) => workspaceId)}::uuid[], ${column(({ id }) => id)}::uuid[],
      ${column(({ type }) => type)}::text[], ${column(({ body }) => body)}::json[],
      ${column(({ time }) => time)}::timestamptz[]) as e (workspace_id, id, type, body, time)
    join webhooks w on w.workspace_id = e.workspace_id and w.is_active and w.events && array[e.type, '*']`);
}

/** Writes a delivery for one webhook. @returns false when there is none, or it is switched off */
export async function insertDelivery(
  tx: Queryable,
  workspaceId: WorkspaceId,
  webhookId: string,
  event: NewDelivery,
): Promise<boolean> {
  const inserted = await tx.run(sql`
    insert into webhook_deliveries (workspace_id, webhook_id, id, type, body, next_attempt_at, created_at)
    select workspace_id, id, ${event.id}, ${event.type}, ${event.body}, ${event.time}, ${event.time}
    from webhooks where workspace_id = ${workspaceId} and id = ${webhookId} and is_active`);
  return inserted > 0;
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
export function updateFailedToReplay(
  db: Queryable,
  workspaceId: WorkspaceId,
  webhookId: string,
  filter: Omit<DeliveryFilter, "status">,
  { now, most }: { readonly now: Date; readonly most: number },
): Promise<number> {
  return db.run(sql`
    with failed as (
      select id from webhook_deliveries
      where workspace_id = ${workspaceId} and webhook_id = ${webhookId} ${selected({ ...filter, status: "failed" })}
      order by id limit ${most} for update skip locked
    )
    update webhook_deliveries d
    set status = 'pending', tries = 0, next_attempt_at = ${now}, lease_number = lease_number + 1, leased_until = null
    from failed
    where d.workspace_id = ${workspaceId} and d.webhook_id = ${webhookId} and d.id = failed.id`);
}

/**
 * Makes a delivery due now, with all its retries. Undefined when there is none, or an attempt is in progress. The higher
 * lease number invalidates a lease that has expired.
 */
export function updateToReplay(
  db: Queryable,
  workspaceId: WorkspaceId,
  webhookId: string,
  id: string,
  now: Date,
): Promise<DeliveryRow | undefined> {
  return db.row(sql`
    update webhook_deliveries set status = 'pending', tries = 0, next_attempt_at = ${now}, lease_number = lease_number + 1,
      leased_until = null
    where workspace_id = ${workspaceId} and webhook_id = ${webhookId} and id = ${id}
      and (leased_until is null or leased_until <= ${now})
    returning ${columns}`);
}

/** Limits of leased deliveries: `most` for this call, the others for all machines together. */
export interface LeaseLimits {
  readonly now: Date;
  readonly until: Date;
  readonly most: number;
  readonly mostOfWebhook: number;
  readonly mostOfWorkspace: number;
}

/** For `with recursive`: the webhooks with pending deliveries, found by a loose index scan. */
export const waitingReceivers = sql`waiting (workspace_id, webhook_id) as (
      (select workspace_id, webhook_id from webhook_deliveries where status = 'pending'
        order by workspace_id, webhook_id limit 1)
      union all
      select next.* from waiting w cross join lateral (
        select workspace_id, webhook_id from webhook_deliveries
        where status = 'pending' and (workspace_id, webhook_id) > (w.workspace_id, w.webhook_id)
        order by workspace_id, webhook_id limit 1) next
    )`;

/** The pending deliveries that one webhook may have: `mostOverdue` if the oldest has been due for `overdueMs`, else `most`. */
export interface OverfullBounds {
  readonly most: number;
  readonly mostOverdue: number;
  readonly overdueMs: number;
}

/**
 * Lists the webhooks beyond a bound. `mostOverdue` applies only if neither the webhook nor its workspace was changed after
 * `unchangedSince`. Webhooks of suspended workspaces are left out: the suspension keeps their deliveries pending.
 */
export function listOverfull(
  db: Queryable,
  { most, mostOverdue, overdueMs }: OverfullBounds,
  now: Date,
  unchangedSince: Date,
): Promise<{ readonly workspace_id: WorkspaceId; readonly id: string; readonly is_far_over: boolean }[]> {
  const ofReceiver = sql`select from webhook_deliveries
        where workspace_id = w.workspace_id and webhook_id = w.id and status = 'pending'`;
  const beyond = (bound: number) =>
    sql`exists (${ofReceiver} order by next_attempt_at offset ${bound} limit 1)`;
  return db.rows(sql`
    with recursive ${waitingReceivers}
    select w.workspace_id, w.id, far.is_far_over
    from waiting
    join webhooks w on w.workspace_id = waiting.workspace_id and w.id = waiting.webhook_id and w.is_active
    join workspaces s on s.id = w.workspace_id and not s.is_suspended
    cross join lateral (
      select case when ${beyond(mostOverdue)} then ${beyond(most)} end as is_far_over offset 0) far
    where far.is_far_over or (far.is_far_over is not null and greatest(w.updated_at, s.updated_at) <= ${unchangedSince}
      and exists (${ofReceiver} and next_attempt_at <= ${new Date(now.getTime() - overdueMs)}))`);
}

/**
 * Leases due deliveries, oldest first, in turns between workspaces: the first delivery of each workspace comes before the
 * second of any. Reads only webhooks with pending deliveries.
 */
export async function leaseDeliveries(tx: Queryable, limits: LeaseLimits): Promise<LeasedDelivery[]> {
  const { now } = limits;
  // One transaction at a time, because the limits count what other machines have just leased.
  await tx.run(sql`select pg_advisory_xact_lock(${lockKey("leases of webhook deliveries")})`);
  return tx.rows(sql`
    with recursive ${waitingReceivers}, under_way as materialized (
      select workspace_id, webhook_id, count(*)::int as count from webhook_deliveries
      where leased_until > ${now} group by workspace_id, webhook_id
    ), under_way_in as materialized (
      select workspace_id, sum(count) as count from under_way group by workspace_id
    ), due as materialized (
      select d.*, w.url, w.secret, w.previous_secret, w.previous_secret_until,
        row_number() over (partition by d.workspace_id order by d.next_attempt_at, d.id)
          + coalesce(i.count, 0) as turn
      from waiting
      join webhooks w on w.workspace_id = waiting.workspace_id and w.id = waiting.webhook_id and w.is_active
      join workspaces s on s.id = w.workspace_id and not s.is_suspended
      left join under_way o on o.workspace_id = w.workspace_id and o.webhook_id = w.id
      left join under_way_in i on i.workspace_id = w.workspace_id
      cross join lateral (
        select workspace_id, webhook_id, id, next_attempt_at from webhook_deliveries
        where workspace_id = w.workspace_id and webhook_id = w.id and status = 'pending' and next_attempt_at <= ${now}
          and (leased_until is null or leased_until <= ${now})
        order by next_attempt_at limit greatest(${limits.mostOfWebhook} - coalesce(o.count, 0), 0)) d
    ), chosen as materialized (
      select * from due where turn <= ${limits.mostOfWorkspace} order by turn, next_attempt_at limit ${limits.most}
    )
    update webhook_deliveries d set leased_until = ${limits.until}, lease_number = d.lease_number + 1
    from chosen c
    where d.workspace_id = c.workspace_id and d.webhook_id = c.webhook_id and d.id = c.id and d.status = 'pending'
    returning d.workspace_id, d.webhook_id, d.id, d.lease_number, d.tries, d.body::text as body, c.url, c.secret,
      c.previous_secret, c.previous_secret_until`);
}

/** Writes the result of an attempt; false when there is a newer lease. */
export async function updateSettled(
  db: Queryable,
  { workspace_id: workspaceId, webhook_id: webhookId, id, lease_number: leaseNumber }: LeasedDelivery,
  end: SettledAttempt,
): Promise<boolean> {
  const settled = await db.run(sql`
    update webhook_deliveries
    set status = ${end.status}, next_attempt_at = ${end.nextAttemptAt}, status_code = ${end.statusCode},
      error = ${end.error}, duration_ms = ${end.durationMs},
      answer = ${end.answer && JSON.stringify(end.answer)}::jsonb, attempted_at = ${end.time}, attempts = attempts + 1,
      tries = tries + 1, leased_until = null
    where workspace_id = ${workspaceId} and webhook_id = ${webhookId} and id = ${id}
      and lease_number = ${leaseNumber} and status = 'pending'`);
  return settled > 0;
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
