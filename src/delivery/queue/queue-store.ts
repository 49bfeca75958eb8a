/**
 * The delivery queue, a narrow table apart from the message log: how messages enter it, how they leave it other than by a
 * settled lease (lease-store.ts, settle-leases-store.ts), and how many there are.
 */

import sql, { type Sql } from "sql-template-tag";
import type { Priority } from "#delivery/message/message.ts";
import { integerArray, textArray, timestamptzArray, uuidArray } from "#platform/database/binary-arrays.ts";
import type { ConnectionSettings, Queryable } from "#platform/database/pool.ts";
import { asWorkspaceId, firstIdAt, nilId, type WorkspaceId } from "#platform/ids.ts";

const RELEASED_AT_ONCE = 5_000;

/**
 * Planner settings of a delivery process. Its statements find rows by keys, whatever the tables contain, so named statements
 * are planned once per connection, and always by index. Replanned each time, which is PostgreSQL's default, a lease takes
 * 2 ms to plan and about 2 ms more to run. Planned once while the queue was empty, without these settings, it would scan
 * whole tables until they are analyzed.
 */
export const PLANNER_SETTINGS: ConnectionSettings = {
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
  // Up to PostgreSQL 17 the cost of an unavoidable scan is so high that every lease would be JIT-compiled.
  jit: "off",
};

export interface QueueEntry {
  readonly workspaceId: WorkspaceId;
  readonly messageId: string;
  readonly priority: Priority;
  readonly domain: string;
  /** Characters of the content: about the memory it takes in a worker. */
  readonly bytes: number;
  readonly expiresAt: Date;
  /** How long the message waits before its first attempt; it is due at once without it. */
  readonly waitMs?: number | undefined;
}

/** The part of the accepting statement that enqueues a batch (sending/acceptance/accept-messages-statement.ts). The condition is on message_id. */
export function enqueueSql(entries: readonly QueueEntry[], condition: Sql): Sql {
  const column = <Value>(read: (entry: QueueEntry) => Value) => entries.map(read);
  if (entries.some(({ waitMs }) => waitMs !== undefined)) return enqueueLaterSql(entries, condition);
  return sql`
    insert into delivery_queue (workspace_id, message_id, priority, domain, bytes, expires_at, due_at)
    select *, now() from unnest(
      ${uuidArray(column((entry) => entry.workspaceId))}::uuid[],
      ${uuidArray(column((entry) => entry.messageId))}::uuid[],
      ${integerArray(column((entry) => entry.priority))}::integer[],
      ${textArray(column((entry) => entry.domain))}::text[],
      ${integerArray(column((entry) => entry.bytes))}::integer[],
      ${timestamptzArray(column((entry) => entry.expiresAt))}::timestamptz[])
      as q (workspace_id, message_id, priority, domain, bytes, expires_at)
    where ${condition}`;
}

/**
 * As enqueueSql, where messages wait. Their lease numbers begin with 1, as if they had been leased: the suppression check made
 * at acceptance is too old when they are due (`is_stale` in lease-store.ts).
 */
function enqueueLaterSql(entries: readonly QueueEntry[], condition: Sql): Sql {
  const column = <Value>(read: (entry: QueueEntry) => Value) => entries.map(read);
  return sql`
    insert into delivery_queue (workspace_id, message_id, priority, domain, bytes, expires_at, lease_number, due_at)
    select workspace_id, message_id, priority, domain, bytes, expires_at, case when wait_ms > 0 then 1 else 0 end,
      now() + make_interval(secs => wait_ms / 1000)
    from unnest(
      ${uuidArray(column((entry) => entry.workspaceId))}::uuid[],
      ${uuidArray(column((entry) => entry.messageId))}::uuid[],
      ${integerArray(column((entry) => entry.priority))}::integer[],
      ${textArray(column((entry) => entry.domain))}::text[],
      ${integerArray(column((entry) => entry.bytes))}::integer[],
      ${timestamptzArray(column((entry) => entry.expiresAt))}::timestamptz[],
      ${column(({ waitMs = 0 }) => waitMs)}::float8[])
      as q (workspace_id, message_id, priority, domain, bytes, expires_at, wait_ms)
    where ${condition}`;
}

/**
 * Enqueues the messages of one step of a campaign or autoresponder, which are a relation with the columns id and domain. They
 * are enqueued and sent in random order: people imported together are on the same table pages, and a batch of their updates
 * would leave a page no room for new row versions, so that every index would get a new entry (no HOT updates).
 */
export function enqueueAllSql(
  mail: Sql,
  entry: Pick<QueueEntry, "workspaceId" | "priority" | "bytes" | "expiresAt"> & {
    readonly campaignId: string;
  },
): Sql {
  return sql`
    insert into delivery_queue (workspace_id, message_id, campaign_id, priority, domain, bytes, expires_at, due_at)
    select ${entry.workspaceId}, id, ${entry.campaignId}, ${entry.priority}, domain, ${entry.bytes},
      ${entry.expiresAt}, now()
    from ${mail} order by random()`;
}

/**
 * Removes messages whose outcome became known otherwise than by an attempt. A worker that holds one of them can no longer settle
 * its lease.
 */
export async function removeQueueEntries(tx: Queryable, messages: readonly QueueKey[]): Promise<void> {
  await tx.run(sql`
    delete from delivery_queue q using unnest(
      ${uuidArray(messages.map((one) => one.workspaceId))}::uuid[],
      ${uuidArray(messages.map((one) => one.messageId))}::uuid[]) as ended (workspace_id, message_id)
    where q.workspace_id = ended.workspace_id and q.message_id = ended.message_id`);
}

/** Whether a message waits, is leased by a worker, or is no longer in the queue. */
export type QueuePlace = "waiting" | "leased" | "ended";

/**
 * Locks the queue row of a message, so that no worker leases or settles it before the transaction ends. Lock the queue
 * before the log: delivery workers do so.
 */
export async function lockInQueue(
  tx: Queryable,
  workspaceId: WorkspaceId,
  messageId: string,
): Promise<QueuePlace> {
  const row = await tx.row<{ is_leased: boolean }>(sql`
    select leased_by is not null as is_leased from delivery_queue
    where workspace_id = ${workspaceId} and message_id = ${messageId} for update`);
  if (row === undefined) return "ended";
  return row.is_leased ? "leased" : "waiting";
}

/** Locks the queue rows of those messages that wait, as lockInQueue does. @returns their ids, in order */
export async function lockAllInQueue(
  tx: Queryable,
  workspaceId: WorkspaceId,
  messageIds: readonly string[],
): Promise<string[]> {
  const rows = await tx.rows<{ message_id: string; is_leased: boolean }>(sql`
    select message_id, leased_by is not null as is_leased from delivery_queue
    where workspace_id = ${workspaceId} and message_id = any (${uuidArray([...messageIds])}::uuid[])
    order by message_id for update`);
  return rows.flatMap(({ message_id, is_leased }) => (is_leased ? [] : [message_id]));
}

/** A place in the order of the queue's primary key. */
export type QueueKey = Pick<QueueEntry, "workspaceId" | "messageId">;

/**
 * Messages whose first attempt was not yet due at `time`. Not one that waits for a source address: it was due before. Times
 * are truncated to milliseconds on their way here.
 */
const notYetDue = (time: Date) =>
  sql`(attempts = 0 and source_ip is null and due_at >= ${time}::timestamptz + interval '1 millisecond')`;

/**
 * Locks the next `most` waiting messages, of all workspaces, that were accepted before `time` and had been due by then, for a
 * first or a further attempt.
 */
export function lockWaitingBefore(
  tx: Queryable,
  time: Date,
  after: QueueKey,
  most: number,
): Promise<QueueKey[]> {
  return tx.rows(sql`
    select workspace_id as "workspaceId", message_id as "messageId" from delivery_queue
    where (workspace_id, message_id) > (${after.workspaceId}::uuid, ${after.messageId}::uuid)
      and message_id < ${firstIdAt(time)} and leased_by is null and not ${notYetDue(time)}
    order by workspace_id, message_id limit ${most} for update skip locked`);
}

export interface LeftInQueue {
  /** Messages that a worker holds. */
  readonly leased: number;
  /** Messages whose first attempt was not yet due. */
  readonly notYetDue: number;
}

/** Counts the messages that were accepted before `time`, and that lockWaitingBefore does not give. Reads the whole queue. */
export async function countLeftBefore(db: Queryable, time: Date): Promise<LeftInQueue> {
  const counted = await db.row<LeftInQueue>(sql`
    select count(*) filter (where leased_by is not null) as leased,
      count(*) filter (where leased_by is null and ${notYetDue(time)}) as "notYetDue"
    from delivery_queue where message_id < ${firstIdAt(time)}`);
  return counted ?? { leased: 0, notYetDue: 0 };
}

/**
 * Makes every leased message wait, due now or since the end of its lease. Only for a database in which no worker runs.
 * Lease numbers stay, so that a worker of former times can settle nothing.
 */
export async function releaseAllLeases(tx: Queryable): Promise<void> {
  await tx.run(
    sql`update delivery_queue set leased_by = null, due_at = least(due_at, now()) where leased_by is not null`,
  );
}

/** Makes a locked, waiting message due now. Its attempts and its end of retries stay. */
export async function makeDue(tx: Queryable, workspaceId: WorkspaceId, messageId: string): Promise<void> {
  await tx.run(sql`
    update delivery_queue set due_at = now()
    where workspace_id = ${workspaceId} and message_id = ${messageId} and leased_by is null`);
}

/**
 * Makes messages due that wait for a source address without an attempt, because their workspace's routing has changed: up to
 * `limit` of them, by id after `after`.
 *
 * @returns the last id, or null when there are no more
 */
export async function releaseHeld(
  db: Queryable,
  workspaceId: WorkspaceId,
  after: string,
  limit = RELEASED_AT_ONCE,
): Promise<string | null> {
  // Leased messages meet the new routing when their lease is settled (settleLeases).
  const last = await db.row<{ message_id: string }>(sql`
    with held_back as materialized (
      select message_id from delivery_queue
      where workspace_id = ${workspaceId} and message_id > ${after}
        and source_ip is not null and attempts = 0 and leased_by is null
      order by message_id limit ${limit} for update skip locked
    ), released as (
      update delivery_queue q set due_at = now(), source_ip = null from held_back h
      where q.workspace_id = ${workspaceId} and q.message_id = h.message_id
    )
    select message_id from held_back order by message_id desc limit 1`);
  return last?.message_id ?? null;
}

/** More messages than this are estimated instead of counted. */
const COUNTED = 10_000;

/**
 * How many messages wait and how many are leased, for the metrics, at constant cost: up to 10,000 are counted; beyond that the
 * number is PostgreSQL's estimate, which follows within seconds. After a crash of PostgreSQL the estimate restarts, and a long
 * queue shows as 10,000 until autovacuum has run.
 */
export async function countQueue(db: Queryable): Promise<{ waiting: number; leased: number }> {
  const counted = await db.row<{ waiting: number; leased: number }>(sql`
    select greatest(queued - leased, 0) as waiting, leased
    from (
      select n_live_tup as estimate from pg_stat_all_tables where relid = 'delivery_queue'::regclass) statistics
    cross join lateral (
      select case when estimate > ${COUNTED} then estimate
        else (select count(*) from (select from delivery_queue limit ${COUNTED}) counted) end as queued,
        (select count(*) from (
          select from delivery_queue where leased_by is not null limit ${COUNTED}) counted) as leased) counts`);
  return counted ?? { waiting: 0, leased: 0 };
}

/** Rows of one statement, which ends well before its deadline. */
const POSTPONED_AT_ONCE = 10_000;

/**
 * Moves the end of retries of every message in the queue by the time from `heldSince` to the begin of the transaction, or
 * from its first due time, if that is later. To be called in the transaction that ends the hold: repeated, it would move
 * them again.
 */
export async function postponeExpiry(
  tx: Queryable,
  heldSince: Date,
  size = POSTPONED_AT_ONCE,
): Promise<void> {
  let after: QueueKey | undefined = { workspaceId: asWorkspaceId(nilId), messageId: nilId };
  while (after !== undefined) after = await postponePart(tx, heldSince, after, size);
}

/** @returns the last message of the part; undefined after the end */
function postponePart(
  tx: Queryable,
  heldSince: Date,
  after: QueueKey,
  size: number,
): Promise<QueueKey | undefined> {
  return tx.row<QueueKey>(sql`
    with part as materialized (
      select workspace_id, message_id from delivery_queue
      where (workspace_id, message_id) > (${after.workspaceId}::uuid, ${after.messageId}::uuid)
      order by workspace_id, message_id limit ${size} for update
    ), postponed as (
      update delivery_queue q
      set expires_at = q.expires_at + greatest(interval '0',
        now() - case when q.attempts = 0 then greatest(q.due_at, ${heldSince}::timestamptz) else ${heldSince}::timestamptz end)
      from part where q.workspace_id = part.workspace_id and q.message_id = part.message_id
    )
    select workspace_id as "workspaceId", message_id as "messageId" from part
    order by workspace_id desc, message_id desc limit 1`);
}
