/** The table of deliveries: outbox, queue and log in one. */
import sql, { empty } from "sql-template-tag";
import { lockKey } from "#platform/database/advisory-lock.ts";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { firstIdAt, type WorkspaceId } from "#platform/ids.ts";
import { TEST_EVENT } from "./catalogue.ts";

export const deliveryStatuses = ["pending", "delivered", "failed"] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** A delivery as the API shows it. */
export interface DeliveryRow {
  readonly id: string;
  readonly type: string;
  readonly status: DeliveryStatus;
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

/** The right to make one attempt; what is done under an older number changes nothing. */
export interface LeasedDelivery {
  readonly workspace_id: WorkspaceId;
  readonly webhook_id: string;
  readonly id: string;
  readonly lease_number: number;
  readonly tries: number;
  /** JSON text. */
  readonly body: string;
  readonly url: string;
  readonly secret: Buffer;
  readonly previous_secret: Buffer | null;
  readonly previous_secret_until: Date | null;
}

/** How an attempt ended, and what follows. */
export interface SettledAttempt {
  readonly status: DeliveryStatus;
  /** While pending. */
  readonly nextAttemptAt: Date | null;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly durationMs: number;
  readonly time: Date;
}

const columns = sql`
  id, type, status, attempts, next_attempt_at, attempted_at, status_code, error, duration_ms, body, created_at`;

/** Counted no further: whoever looks for something there asks by status. */
const MOST_COUNTED = 10_000;

/** One row for each event and receiver that listens to it. */
export async function insertDeliveries(tx: Queryable, events: readonly NewDelivery[]): Promise<void> {
  const column = <Value>(read: (event: NewDelivery) => Value) => events.map(read);
  await tx.run(sql`
    insert into webhook_deliveries (workspace_id, webhook_id, id, type, body, next_attempt_at, created_at)
    select e.workspace_id, w.id, e.id, e.type, e.body, e.time, e.time
    from unnest(${column(({ workspaceId }) => workspaceId)}::uuid[], ${column(({ id }) => id)}::uuid[],
      ${column(({ type }) => type)}::text[], ${column(({ body }) => body)}::json[],
      ${column(({ time }) => time)}::timestamptz[]) as e (workspace_id, id, type, body, time)
    join webhooks w on w.workspace_id = e.workspace_id and w.is_active and w.events && array[e.type, '*']`);
}

/** An event for one receiver only. @returns false when it is not there, or switched off */
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

/** How many test events a receiver was given since that moment, which is not long ago; at most `most`. */
export async function countTestEvents(
  db: Queryable,
  workspaceId: WorkspaceId,
  webhookId: string,
  since: Date,
  most: number,
): Promise<number> {
  const counted = await db.row<{ count: number }>(sql`
    select count(*) from (
      select from webhook_deliveries
      where workspace_id = ${workspaceId} and webhook_id = ${webhookId} and id >= ${firstIdAt(since)}
        and created_at > ${since} and type = ${TEST_EVENT}
      limit ${most}) c`);
  return counted?.count ?? 0;
}

/** Newest first. */
export function listDeliveries(
  db: Queryable,
  workspaceId: WorkspaceId,
  webhookId: string,
  { status, limit, offset, after }: Page & { readonly status: DeliveryStatus | undefined },
): Promise<DeliveryRow[]> {
  if (offset >= MOST_COUNTED) return Promise.resolve([]);
  return db.rows(sql`
    select ${columns} from webhook_deliveries
    where workspace_id = ${workspaceId} and webhook_id = ${webhookId} ${status ? sql`and status = ${status}` : empty}
      ${after === undefined ? empty : sql`and id < ${after}`}
    order by id desc limit ${limit} offset ${offset}`);
}

/** At most 10,000. */
export async function countDeliveries(
  db: Queryable,
  workspaceId: WorkspaceId,
  webhookId: string,
  status: DeliveryStatus | undefined,
): Promise<number> {
  const counted = await db.row<{ count: number }>(sql`
    select count(*) from (
      select from webhook_deliveries
      where workspace_id = ${workspaceId} and webhook_id = ${webhookId} ${status ? sql`and status = ${status}` : empty}
      limit ${MOST_COUNTED}) c`);
  return counted?.count ?? 0;
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
 * Due now, with all retries before it; undefined when it is not there, or under way. Whoever held a lease that lapsed
 * holds none any more.
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

/** How many are leased at most: now, and of one receiver and one workspace all machines together. */
export interface LeaseLimits {
  readonly now: Date;
  readonly until: Date;
  readonly most: number;
  readonly mostOfWebhook: number;
  readonly mostOfWorkspace: number;
}

/** For the `with recursive` of a statement: the receivers with something waiting, by a loose scan of the index. */
const waitingReceivers = sql`waiting (workspace_id, webhook_id) as (
      (select workspace_id, webhook_id from webhook_deliveries where status = 'pending'
        order by workspace_id, webhook_id limit 1)
      union all
      select next.* from waiting w cross join lateral (
        select workspace_id, webhook_id from webhook_deliveries
        where status = 'pending' and (workspace_id, webhook_id) > (w.workspace_id, w.webhook_id)
        order by workspace_id, webhook_id limit 1) next
    )`;

/** How many deliveries of one receiver may wait: in any case, and when the oldest has been due for so long. */
export interface OverfullBounds {
  readonly most: number;
  readonly mostOverdue: number;
  readonly overdueMs: number;
}

/**
 * Receivers beyond a bound; beyond that of what is overdue only those that, like their workspaces, were not changed since
 * then. In a suspended workspace it is not the receiver that keeps deliveries waiting, nor soon after its end.
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
 * What is due, oldest first, in turns: the first of every workspace come before the second of any. Only receivers with
 * something waiting are looked at, however many there are.
 */
export async function leaseDeliveries(tx: Queryable, limits: LeaseLimits): Promise<LeasedDelivery[]> {
  const { now } = limits;
  // One at a time: those leased a moment ago by another machine have to be seen, and counted.
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

/** Writes down how an attempt ended; false when somebody else holds a newer lease. */
export async function updateSettled(
  db: Queryable,
  { workspace_id: workspaceId, webhook_id: webhookId, id, lease_number: leaseNumber }: LeasedDelivery,
  end: SettledAttempt,
): Promise<boolean> {
  const settled = await db.run(sql`
    update webhook_deliveries
    set status = ${end.status}, next_attempt_at = ${end.nextAttemptAt}, status_code = ${end.statusCode},
      error = ${end.error}, duration_ms = ${end.durationMs}, attempted_at = ${end.time}, attempts = attempts + 1,
      tries = tries + 1, leased_until = null
    where workspace_id = ${workspaceId} and webhook_id = ${webhookId} and id = ${id}
      and lease_number = ${leaseNumber} and status = 'pending'`);
  return settled > 0;
}

/** Removes up to `most` of those made before that moment, whatever became of them. */
export function removeOldDeliveries(db: Queryable, before: Date, most: number): Promise<number> {
  return db.run(sql`
    delete from webhook_deliveries where ctid = any(array(
      select ctid from webhook_deliveries where created_at < ${before} order by created_at limit ${most}))`);
}

/** Removes up to `most` of one receiver's. */
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
