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
/** After so long anybody takes a message that waits for the machine with its source address. */
const DESERTED_SECONDS = 120;
const RELEASED_AT_ONCE = 5_000;
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
  /** The complete message of a client of the submission port, in place of the three above. */
  readonly raw: Buffer | null;
  /** Whether its content is stored with it; otherwise examination (examination.ts) gives it. */
  readonly has_content: boolean;
  /** Leased before, or later than JUDGED_SECONDS after it was due: the message is judged once more. */
  readonly is_stale: boolean;
  /** Which version of its workspace's sending IPs and routing rules holds; null: it has none. */
  readonly routing_version: number | null;
  /** The address of ours it should leave from, if one was settled on. */
  readonly source_ip: string | null;
  readonly content?: () => MessageContent;
  /** Of an SMS: what it says and where it goes. */
  readonly sms?: () => SmsContent;
}

/** What a worker asks for. */
export interface LeaseOrder {
  readonly workerId: string;
  readonly priority: Priority;
  readonly limit: number;
  readonly bytes: number;
  readonly seconds: number;
  /** Recipient domains whose lanes are full; for workspaces with a routing of their own, "<workspace> <domain>". */
  readonly saturated: readonly string[];
  /** This machine's own networks: mail that is to leave from elsewhere stays. */
  readonly networks?: readonly string[];
  /** Campaigns that are paused. */
  readonly halted?: readonly string[];
}

/**
 * Leases due messages of one priority: up to `limit`, and no more content than `bytes` (but always one message). Every
 * campaign is a line of its own, and so is what a workspace sends outside of campaigns. Each line has its share of every
 * batch, workspaces alike whatever the number of their lines; what others leave over goes to whom chance prefers. In a
 * line the longest waiting goes first. A suspended workspace's mail stays in the queue, and so do halted campaigns'.
 */
export function leaseMessages(db: Queryable, lease: LeaseOrder): Promise<LeasedMessage[]> {
  return db.rows(
    sql`
    with recursive step as (
      -- From each line to the next one along the index: as many steps as there are lines.
      (select workspace_id, campaign_id from delivery_queue where priority = ${lease.priority}
        order by workspace_id, campaign_id limit 1)
      union all
      select next.* from step cross join lateral (
        select q.workspace_id, q.campaign_id from delivery_queue q
        where q.priority = ${lease.priority} and (q.workspace_id, q.campaign_id) > (step.workspace_id, step.campaign_id)
        order by q.workspace_id, q.campaign_id limit 1) next
    ), line as materialized (
      select workspace_id, campaign_id,
        workspace_id = any (array(select workspace_id from routed_workspaces)) as is_routed,
        ceil(${lease.limit}::float8 / count(*) over (partition by workspace_id)
          / (dense_rank() over (order by workspace_id) + dense_rank() over (order by workspace_id desc) - 1)) as share
      from step where campaign_id <> all (${lease.halted ?? []}::uuid[])
        and workspace_id <> all (array(select id from workspaces where is_suspended))
    ), shared as materialized (
      select head.*, line.campaign_id from (select * from line order by random()) line
      cross join lateral (${headOf(lease, sql`line.share`, sql`true`)}) head
      limit ${lease.limit}
    ), more as materialized (
      -- Who has not filled his share has no more.
      select head.*, line.campaign_id from (
        select line.* from line join (
          select workspace_id, campaign_id, count(*) as taken from shared group by workspace_id, campaign_id) filled
          on filled.workspace_id = line.workspace_id and filled.campaign_id = line.campaign_id and taken >= share
        order by random()) line
      cross join lateral (${headOf(
        lease,
        sql`${lease.limit}`,
        sql`q.message_id not in (select message_id from shared)`,
      )}) head
      limit ${lease.limit} - (select count(*) from shared)
    ), waiting as (
      select * from shared union all select * from more
    ), due as (
      select workspace_id, message_id, due_at from (
        select *, sum(bytes) over (order by place, due_at, message_id) - bytes as bytes_before from (
          select *, row_number() over (partition by workspace_id order by due_at, message_id) as place
          from waiting) as placed) as counted
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
        host(q.source_ip) as source_ip,
        -- Both moments are the database's: machines whose clocks differ agree.
        q.lease_number > 1 or due.due_at < now() - make_interval(secs => ${JUDGED_SECONDS}) as is_stale
    )
    select leased.*, r.version as routing_version, m.created_at, m.source, m.origin_id, m.from_email, m.localpart, m.domain, m.subject,
      c.from_name, c.to_name, c.html, c.text, c.attachments, s.raw,
      c.message_id is not null and (c.submission_id is null or s.id is not null) as has_content
    from leased
    join messages m on m.workspace_id = leased.workspace_id and m.id = leased.message_id
    left join routed_workspaces r on r.workspace_id = leased.workspace_id
    left join message_contents c on c.workspace_id = leased.workspace_id and c.message_id = leased.message_id
    left join submissions s on s.workspace_id = leased.workspace_id and s.id = c.submission_id`,
    "lease messages",
  );
}

/** The first in a line who may be leased. */
function headOf({ priority, saturated, networks = [] }: LeaseOrder, most: Sql, condition: Sql): Sql {
  return sql`
    select q.workspace_id, q.message_id, q.bytes, q.due_at from delivery_queue q
    where q.priority = ${priority} and q.workspace_id = line.workspace_id and q.campaign_id = line.campaign_id
      and q.due_at <= now() and ${condition}
      and case when line.is_routed then q.workspace_id || ' ' || q.domain else q.domain end
        <> all (${saturated}::text[])
      and (q.source_ip is null or q.source_ip <<= any (${networks}::inet[])
        or q.due_at < now() - make_interval(secs => ${DESERTED_SECONDS}))
    order by q.due_at limit ${most} for update of q skip locked`;
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
  /** The address of ours it should leave from next. */
  readonly sourceIp?: string | null;
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
        ${column((one) => one.dueAt)}::timestamptz[], ${column((one) => one.isDelivered)}::boolean[],
        ${column((one) => one.sourceIp ?? null)}::inet[])
        as s (workspace_id, message_id, lease_number, attempts, due_at, is_delivered, source_ip)
    ), done as (
      delete from delivery_queue q using settlement s
      where s.due_at is null and q.workspace_id = s.workspace_id and q.message_id = s.message_id
        and (s.is_delivered or (q.lease_number = s.lease_number and q.leased_by is not null))
      returning s.message_id, s.lease_number
    ), waiting as (
      update delivery_queue q
      set due_at = s.due_at, attempts = s.attempts, source_ip = s.source_ip, leased_by = null
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

/**
 * Takes a message out of the queue whose end became known by other ways than an attempt. A worker that holds it at this
 * moment settles nothing any more.
 */
export async function removeQueueEntry(
  tx: Queryable,
  workspaceId: WorkspaceId,
  messageId: string,
): Promise<void> {
  await tx.run(sql`
    delete from delivery_queue where workspace_id = ${workspaceId} and message_id = ${messageId}`);
}

/** Gives back everything a worker holds: at its graceful stop, and after its death once its journal is replayed. */
export function releaseLeasesOf(db: Queryable, workerId: string): Promise<number> {
  return db.run(
    sql`update delivery_queue set due_at = now(), leased_by = null where leased_by = ${workerId}`,
  );
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
  // Who is being leased at this moment meets the new routing anyway.
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

/** How many messages wait, and how many are held; for the metrics. */
export async function countQueue(db: Queryable): Promise<{ waiting: number; leased: number }> {
  const counted = await db.row<{ waiting: number; leased: number }>(sql`
    select count(*) filter (where leased_by is null) as waiting, count(leased_by) as leased from delivery_queue`);
  return counted ?? { waiting: 0, leased: 0 };
}
