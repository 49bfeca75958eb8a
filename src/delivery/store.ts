/**
 * The SQL of the delivery queue: a narrow table apart from the log, leased and settled hundreds of rows at a time.
 *
 * A lease is `due_at` moved to its own deadline plus a higher `lease_number`, committed at once: no transaction is
 * open while SMTP is spoken. A worker that dies simply lets its rows fall due again, and one that wakes up too late
 * holds an old number, with which nothing can be settled.
 */
import sql, { type Sql } from "sql-template-tag";
import type { StoredAttachment } from "../messages/store.ts";
import type { Queryable } from "../platform/database/pool.ts";
import type { WorkspaceId } from "../platform/ids.ts";

/** Transactional and platform mail goes before campaigns. */
export type Priority = 0 | 1;
export const priorities: readonly Priority[] = [0, 1];

export interface QueueEntry {
  readonly workspaceId: WorkspaceId;
  readonly messageId: string;
  readonly priority: Priority;
  readonly domain: string;
  readonly dueAt: Date;
  readonly expiresAt: Date;
}

/** A part of the statement that accepts a batch (sending/accept.ts). */
export function enqueueSql(entries: readonly QueueEntry[]): Sql {
  const column = <Value>(read: (entry: QueueEntry) => Value) => entries.map(read);
  return sql`
    insert into delivery_queue (workspace_id, message_id, priority, domain, due_at, expires_at)
    select * from unnest(
      ${column((entry) => entry.workspaceId)}::uuid[], ${column((entry) => entry.messageId)}::uuid[],
      ${column((entry) => entry.priority)}::smallint[], ${column((entry) => entry.domain)}::text[],
      ${column((entry) => entry.dueAt)}::timestamptz[], ${column((entry) => entry.expiresAt)}::timestamptz[])`;
}

/** A message with everything an attempt needs, held by one worker until its lease lapses. */
export interface LeasedMessage {
  readonly workspace_id: WorkspaceId;
  readonly message_id: string;
  readonly lease_number: number;
  readonly attempts: number;
  readonly expires_at: Date;
  readonly created_at: Date;
  readonly source: string;
  readonly origin_id: string | null;
  readonly from_email: string;
  readonly from_name: string | null;
  readonly to_name: string | null;
  readonly localpart: string;
  readonly domain: string;
  readonly subject: string;
  readonly html: string | null;
  readonly text: string | null;
  readonly attachments: StoredAttachment[] | null;
}

/** Leases up to `limit` due messages of one priority, the longest waiting first. */
export function leaseMessages(
  db: Queryable,
  lease: {
    workerId: string;
    priority: Priority;
    limit: number;
    seconds: number;
    /** Recipient domains whose lanes are full. */
    saturated: readonly string[];
  },
): Promise<LeasedMessage[]> {
  return db.rows(
    sql`
    with due as materialized (
      select workspace_id, message_id from delivery_queue
      where priority = ${lease.priority} and due_at <= now() and domain <> all (${lease.saturated}::text[])
      order by due_at limit ${lease.limit} for update skip locked
    ), leased as (
      update delivery_queue q
      set lease_number = q.lease_number + 1, leased_by = ${lease.workerId},
          due_at = now() + make_interval(secs => ${lease.seconds})
      from due where q.workspace_id = due.workspace_id and q.message_id = due.message_id
      returning q.workspace_id, q.message_id, q.lease_number, q.attempts, q.expires_at
    )
    select leased.*, m.created_at, m.source, m.origin_id, m.from_email, m.localpart, m.domain, m.subject,
      c.from_name, c.to_name, c.html, c.text, c.attachments
    from leased
    join messages m on m.workspace_id = leased.workspace_id and m.id = leased.message_id
    join message_contents c on c.workspace_id = leased.workspace_id and c.message_id = leased.message_id`,
    "lease messages",
  );
}

/** Moves the deadline of everything a worker holds: its heartbeat. */
export function extendLeases(db: Queryable, workerId: string, seconds: number): Promise<number> {
  return db.run(sql`
    update delivery_queue set due_at = now() + make_interval(secs => ${seconds}) where leased_by = ${workerId}`);
}

/** What becomes of a lease: the message leaves the queue, or waits for its next attempt. */
export interface Settlement {
  readonly workspaceId: WorkspaceId;
  readonly messageId: string;
  readonly leaseNumber: number;
  readonly attempts: number;
  /** null: done, take it out of the queue. */
  readonly dueAt: Date | null;
}

/**
 * Settles leases that are still the newest of their message, and says which those were (message ids). A settlement
 * that comes too late, or a second time, touches nothing.
 */
export async function settleLeases(tx: Queryable, settlements: readonly Settlement[]): Promise<Set<string>> {
  if (settlements.length === 0) return new Set();
  const column = <Value>(read: (settlement: Settlement) => Value) => settlements.map(read);
  const settled = await tx.rows<{ message_id: string }>(
    sql`
    with settlement as materialized (
      select * from unnest(
        ${column((one) => one.workspaceId)}::uuid[], ${column((one) => one.messageId)}::uuid[],
        ${column((one) => one.leaseNumber)}::integer[], ${column((one) => one.attempts)}::smallint[],
        ${column((one) => one.dueAt)}::timestamptz[])
        as s (workspace_id, message_id, lease_number, attempts, due_at)
    ), done as (
      delete from delivery_queue q using settlement s
      where s.due_at is null and q.workspace_id = s.workspace_id and q.message_id = s.message_id
        and q.lease_number = s.lease_number and q.leased_by is not null
      returning q.message_id
    ), waiting as (
      update delivery_queue q set due_at = s.due_at, attempts = s.attempts, leased_by = null
      from settlement s
      where s.due_at is not null and q.workspace_id = s.workspace_id and q.message_id = s.message_id
        and q.lease_number = s.lease_number and q.leased_by is not null
      returning q.message_id
    )
    select message_id from done union all select message_id from waiting`,
    "settle leases",
  );
  return new Set(settled.map((row) => row.message_id));
}

/** Gives back everything a worker holds: at its graceful stop, and after its death once its journal is replayed. */
export function releaseLeasesOf(db: Queryable, workerId: string): Promise<number> {
  return db.run(
    sql`update delivery_queue set due_at = now(), leased_by = null where leased_by = ${workerId}`,
  );
}

/** How many messages wait or are held, and since when the longest waiting one is due; for the metrics. */
export async function countQueue(db: Queryable): Promise<{ waiting: number; leased: number }> {
  const counted = await db.row<{ waiting: number; leased: number }>(sql`
    select count(*) filter (where leased_by is null) as waiting, count(leased_by) as leased from delivery_queue`);
  return counted ?? { waiting: 0, leased: 0 };
}
