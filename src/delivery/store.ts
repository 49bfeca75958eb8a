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
import { nilId, type WorkspaceId } from "../platform/ids.ts";
import type { MessageContent } from "./examination.ts";
import type { SmsContent } from "./sms/gateway.ts";

/** Transactional and platform mail goes before campaigns. */
export type Priority = 0 | 1;
export const priorities: readonly Priority[] = [0, 1];

/** For so long what was found at acceptance about a recipient holds. */
const JUDGED_SECONDS = 5;
/** A campaign's message is retried for so long. */
const CAMPAIGN_RETRY_HOURS = 72;

export interface QueueEntry {
  readonly workspaceId: WorkspaceId;
  readonly messageId: string;
  readonly priority: Priority;
  readonly domain: string;
  /** Characters of the content, about the memory it takes in a worker. */
  readonly bytes: number;
  readonly expiresAt: Date;
}

/** A part of the statement that accepts a batch (sending/accept.ts): those of which the condition, on message_id, holds. */
export function enqueueSql(entries: readonly QueueEntry[], condition: Sql): Sql {
  const column = <Value>(read: (entry: QueueEntry) => Value) => entries.map(read);
  return sql`
    insert into delivery_queue (workspace_id, message_id, priority, domain, bytes, expires_at, due_at)
    select *, now() from unnest(
      ${column((entry) => entry.workspaceId)}::uuid[], ${column((entry) => entry.messageId)}::uuid[],
      ${column((entry) => entry.priority)}::smallint[], ${column((entry) => entry.domain)}::text[],
      ${column((entry) => entry.bytes)}::integer[], ${column((entry) => entry.expiresAt)}::timestamptz[])
      as q (workspace_id, message_id, priority, domain, bytes, expires_at)
    where ${condition}`;
}

/** The same for the messages of a campaign, which are a relation with the columns id and domain. */
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
    from ${mail} order by id`;
}

/** A message with everything an attempt needs, held by one worker until its lease lapses. */
export interface LeasedMessage {
  readonly workspace_id: WorkspaceId;
  readonly message_id: string;
  readonly lease_number: number;
  readonly priority: Priority;
  readonly attempts: number;
  /** Size of the content (enqueueSql). */
  readonly bytes: number;
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
  /** Whether its content is stored with it; otherwise examination (examination.ts) gives it. */
  readonly has_content: boolean;
  /** Leased before, or later than JUDGED_SECONDS after it was due: the message is judged once more. */
  readonly is_stale: boolean;
  readonly content?: () => MessageContent;
  /** Of an SMS: what it says and where it goes. */
  readonly sms?: () => SmsContent;
}

/**
 * Leases due messages of one priority: up to `limit`, and no more content than `bytes` (but always one message). Every
 * campaign is a line of its own, and what is of none is one; which comes first is left to chance, and in each the longest
 * waiting goes first. A suspended workspace's mail stays in the queue, and so do halted campaigns'.
 */
export function leaseMessages(
  db: Queryable,
  lease: {
    workerId: string;
    priority: Priority;
    limit: number;
    bytes: number;
    seconds: number;
    /** Recipient domains whose lanes are full. */
    saturated: readonly string[];
    /** Campaigns that are paused. */
    halted?: readonly string[];
  },
): Promise<LeasedMessage[]> {
  return db.rows(
    sql`
    with recursive line as (
      -- From each line's id to the next one's along the index: as many steps as there are lines.
      (select campaign_id as id from delivery_queue where priority = ${lease.priority} order by campaign_id limit 1)
      union all
      select (select campaign_id from delivery_queue where priority = ${lease.priority} and campaign_id > line.id
        order by campaign_id limit 1)
      from line where line.id is not null
    ), waiting as materialized (
      select waiting.* from (select id from line where id <> all (${lease.halted ?? []}::uuid[]) order by random()) line
      cross join lateral (
        select workspace_id, message_id, bytes, due_at from delivery_queue
        where priority = ${lease.priority} and campaign_id = line.id and due_at <= now()
          and domain <> all (${lease.saturated}::text[])
          and workspace_id <> all (array(select id from workspaces where is_suspended))
        order by due_at limit ${lease.limit} for update skip locked) waiting
      limit ${lease.limit}
    ), due as (
      select workspace_id, message_id, due_at from (
        select *, sum(bytes) over (order by due_at, message_id) - bytes as bytes_before from waiting) as counted
      where bytes_before = 0 or bytes_before + bytes <= ${lease.bytes}
    ), leased as (
      update delivery_queue q
      set lease_number = q.lease_number + 1, leased_by = ${lease.workerId},
          due_at = now() + make_interval(secs => ${lease.seconds}),
          -- A campaign may have been paused for days: the time for retries begins with the first attempt.
          expires_at = case when q.campaign_id <> ${nilId} and q.attempts = 0
            then greatest(q.expires_at, now() + make_interval(hours => ${CAMPAIGN_RETRY_HOURS})) else q.expires_at end
      from due where q.workspace_id = due.workspace_id and q.message_id = due.message_id
      returning q.workspace_id, q.message_id, q.lease_number, q.priority, q.attempts, q.bytes, q.expires_at,
        -- Both moments are the database's: machines whose clocks differ agree.
        q.lease_number > 1 or due.due_at < now() - make_interval(secs => ${JUDGED_SECONDS}) as is_stale
    )
    select leased.*, m.created_at, m.source, m.origin_id, m.from_email, m.localpart, m.domain, m.subject,
      c.from_name, c.to_name, c.html, c.text, c.attachments, c.message_id is not null as has_content
    from leased
    join messages m on m.workspace_id = leased.workspace_id and m.id = leased.message_id
    left join message_contents c on c.workspace_id = leased.workspace_id and c.message_id = leased.message_id`,
    "lease messages",
  );
}

/** Which lease of which message; an older number cannot do anything any more. */
export interface Lease {
  readonly workspaceId: WorkspaceId;
  readonly messageId: string;
  readonly leaseNumber: number;
}

/**
 * Moves the deadline of leases, a worker's heartbeat, and says which of them are still its own (lease keys). Leases
 * are named one by one: what was leased to a worker without its knowing (the answer was lost) has to lapse.
 */
export async function extendLeases(
  db: Queryable,
  workerId: string,
  leases: readonly Lease[],
  seconds: number,
): Promise<Set<string>> {
  if (leases.length === 0) return new Set();
  // A row that is being settled is locked and needs no extension; waiting for it could be a deadlock.
  const extended = await db.rows<Lease>(sql`
    with mine as materialized (
      select q.workspace_id, q.message_id
      from unnest(
        ${leases.map((lease) => lease.workspaceId)}::uuid[], ${leases.map((lease) => lease.messageId)}::uuid[],
        ${leases.map((lease) => lease.leaseNumber)}::integer[]) as held (workspace_id, message_id, lease_number)
      join delivery_queue q on q.workspace_id = held.workspace_id and q.message_id = held.message_id
        and q.lease_number = held.lease_number and q.leased_by = ${workerId}
      for update of q skip locked
    )
    update delivery_queue q set due_at = now() + make_interval(secs => ${seconds})
    from mine where q.workspace_id = mine.workspace_id and q.message_id = mine.message_id
    returning q.message_id as "messageId", q.lease_number as "leaseNumber"`);
  return new Set(extended.map(leaseKey));
}

/** What becomes of a lease: the message leaves the queue, or waits for its next attempt. */
export interface Settlement extends Lease {
  readonly attempts: number;
  /** null: done, take it out of the queue. */
  readonly dueAt: Date | null;
  /** The receiver has it: a fact, whoever holds the lease by now. */
  readonly isDelivered: boolean;
}

/** Tells the leases of one message apart, for sets and maps. */
export function leaseKey({ messageId, leaseNumber }: Lease): string {
  return `${messageId} ${leaseNumber}`;
}

/**
 * Settles leases that are still the newest of their message, and says which those were (lease keys). A settlement that
 * comes too late, or a second time, touches nothing; but a delivery that comes too late still ends the message, so that
 * the next holder of the lease does not send it again.
 */
export async function settleLeases(tx: Queryable, settlements: readonly Settlement[]): Promise<Set<string>> {
  if (settlements.length === 0) return new Set();
  const column = <Value>(read: (settlement: Settlement) => Value) => settlements.map(read);
  const settled = await tx.rows<Lease>(
    sql`
    with settlement as materialized (
      select * from unnest(
        ${column((one) => one.workspaceId)}::uuid[], ${column((one) => one.messageId)}::uuid[],
        ${column((one) => one.leaseNumber)}::integer[], ${column((one) => one.attempts)}::smallint[],
        ${column((one) => one.dueAt)}::timestamptz[], ${column((one) => one.isDelivered)}::boolean[])
        as s (workspace_id, message_id, lease_number, attempts, due_at, is_delivered)
    ), done as (
      delete from delivery_queue q using settlement s
      where s.due_at is null and q.workspace_id = s.workspace_id and q.message_id = s.message_id
        and (s.is_delivered or (q.lease_number = s.lease_number and q.leased_by is not null))
      returning s.message_id, s.lease_number
    ), waiting as (
      update delivery_queue q set due_at = s.due_at, attempts = s.attempts, leased_by = null
      from settlement s
      where s.due_at is not null and q.workspace_id = s.workspace_id and q.message_id = s.message_id
        and q.lease_number = s.lease_number and q.leased_by is not null
      returning s.message_id, s.lease_number
    )
    select message_id as "messageId", lease_number as "leaseNumber" from done
    union all select message_id, lease_number from waiting`,
    "settle leases",
  );
  return new Set(settled.map(leaseKey));
}

/** Gives back everything a worker holds: at its graceful stop, and after its death once its journal is replayed. */
export function releaseLeasesOf(db: Queryable, workerId: string): Promise<number> {
  return db.run(
    sql`update delivery_queue set due_at = now(), leased_by = null where leased_by = ${workerId}`,
  );
}

/** How many messages wait, and how many are held; for the metrics. */
export async function countQueue(db: Queryable): Promise<{ waiting: number; leased: number }> {
  const counted = await db.row<{ waiting: number; leased: number }>(sql`
    select count(*) filter (where leased_by is null) as waiting, count(leased_by) as leased from delivery_queue`);
  return counted ?? { waiting: 0, leased: 0 };
}
