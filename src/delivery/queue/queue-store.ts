/**
 * The delivery queue, a narrow table apart from the log: what comes into it, what leaves it by other ways than a
 * settled lease (lease-store.ts, queue-result-store.ts), and how much is there.
 */

import sql, { type Sql } from "sql-template-tag";
import type { Priority } from "#delivery/message/message.ts";
import { integerArray, textArray, timestamptzArray, uuidArray } from "#platform/database/array-values.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

export const priorities: readonly Priority[] = [0, 1];

const RELEASED_AT_ONCE = 5_000;

export interface QueueEntry {
  readonly workspaceId: WorkspaceId;
  readonly messageId: string;
  readonly priority: Priority;
  readonly domain: string;
  /** Characters of the content, about the memory it takes in a worker. */
  readonly bytes: number;
  readonly expiresAt: Date;
}

/** A part of the statement that accepts a batch (sending/acceptance/acceptor.ts): those of which the condition, on message_id, holds. */
export function enqueueSql(entries: readonly QueueEntry[], condition: Sql): Sql {
  const column = <Value>(read: (entry: QueueEntry) => Value) => entries.map(read);
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
 * The same for a step of a campaign's or an autoresponder's messages, which are a relation with the columns id and
 * domain. They are shuffled, and sent in that order: people who were imported together stand on one page, and when a
 * batch moved the figures of all of them, the page would have no room for their new rows, and every index of people a
 * new entry for each.
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
 * Takes messages out of the queue whose end became known by other ways than an attempt. A worker that holds one at this
 * moment settles nothing any more.
 */
export async function removeQueueEntries(
  tx: Queryable,
  messages: readonly Pick<QueueEntry, "workspaceId" | "messageId">[],
): Promise<void> {
  await tx.run(sql`
    delete from delivery_queue q using unnest(
      ${uuidArray(messages.map((one) => one.workspaceId))}::uuid[],
      ${uuidArray(messages.map((one) => one.messageId))}::uuid[]) as ended (workspace_id, message_id)
    where q.workspace_id = ended.workspace_id and q.message_id = ended.message_id`);
}

/**
 * Makes due what waits for a source address without having been tried, as its workspace's routing has changed: some of
 * it, by id, from after this one on. Returns the last id, null when there is no more.
 */
export async function releaseHeldBack(
  db: Queryable,
  workspaceId: WorkspaceId,
  after: string,
  limit = RELEASED_AT_ONCE,
): Promise<string | null> {
  // What is held at this moment meets the new routing when it is put back (settleLeases).
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

/** Beyond so many messages the queue is not counted but estimated. */
const COUNTED = 10_000;

/**
 * How many messages wait, and how many are leased, for the metrics, at a cost that does not grow with the queue: up to
 * 10,000 are counted, more are what PostgreSQL's statistics say, which follow within seconds. After a crash of PostgreSQL
 * they begin anew, and a long queue shows as 10,000 until autovacuum has been there.
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
