/**
 * The statement that leases messages, hundreds at a time. A lease moves `due_at` to its deadline and raises `lease_number`; it
 * is committed at once. No transaction is open while SMTP is spoken.
 */

import sql, { type Sql } from "sql-template-tag";
import type { LeasedMessage } from "#delivery/message/message.ts";
import { CLOCK_DIFFERENCE_SECONDS } from "#platform/clock.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { nilId } from "#platform/ids.ts";
import { LARGE_BYTES, type LeaseOrder, type Line, type LineStart, unlimitedShare } from "./lease-order.ts";
import { type LeasedEntry, withMail } from "./leased-mail-store.ts";

/** The suppression check made at acceptance is trusted for this long. */
const CHECK_VALID_SECONDS = 5;
/** After this long, any machine may lease a message reserved for the machine that has its source address. */
const RESERVED_SECONDS = 120;
/** Accepted and requeued messages become visible within this time after they are due, by the clock of any machine. */
const SETTLING_SECONDS = CLOCK_DIFFERENCE_SECONDS;

/** The small messages of a workspace may exceed its share of bytes by this factor, the large ones may not. */
const SMALL_SHARE = 1.5;

/** A line of which messages are leased. */
export interface LeasedLine extends LineStart {
  /** How many messages it gets before unused room is given to others. */
  readonly share: number;
}

/**
 * Leases due messages of one priority from the lines: up to `limit`, with up to `bytes` of content, but at least one message.
 *
 * Each line gets its share; unused room is given to other lines in random order. Within a line the oldest goes first. No
 * workspace may exceed its share of the worker, except by one message; large messages (LARGE_BYTES) take the room that small
 * ones leave.
 */
export async function leaseFromLines(
  db: Queryable,
  lease: LeaseOrder,
  lines: readonly LeasedLine[],
): Promise<(LeasedMessage & Line)[]> {
  return withMail(db, await leaseQueued(db, lease, lines));
}

function leaseQueued(
  db: Queryable,
  lease: LeaseOrder,
  lines: readonly LeasedLine[],
): Promise<(LeasedEntry & Line)[]> {
  const { share = unlimitedShare } = lease;
  return db.rows(
    sql`
    with line as materialized (
      select workspace_id, campaign_id, share, coalesce(starts_at, '-infinity') as starts_at,
        workspace_id = any (${share.crowded}::uuid[]) as is_crowded, ${isRouted}
      from unnest(
        ${lines.map((line) => line.workspace_id)}::uuid[],
        ${lines.map((line) => line.campaign_id)}::uuid[],
        ${lines.map((line) => line.starts_at)}::timestamptz[],
        ${lines.map((line) => line.share)}::bigint[]) as given (workspace_id, campaign_id, starts_at, share)
    ), shared as materialized (
      select head.*, line.campaign_id from (select * from line order by random()) line
      cross join lateral (${headOf(lease, sql`line.share`, sql`true`)}) head
      limit ${lease.limit}
    ), more as materialized (
      -- Lines that did not fill their share have nothing more due.
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
    ), held as materialized (
      select * from unnest(
        ${share.held.map(({ workspaceId }) => workspaceId)}::uuid[],
        ${share.held.map(({ messages }) => messages)}::bigint[],
        ${share.held.map(({ bytes }) => bytes)}::bigint[]) as h (workspace_id, held_messages, held_bytes)
    ), placed as (
      select waiting.*, row_number() over own as place,
        row_number() over own + coalesce(held_messages, 0) as own_messages,
        sum(bytes) over own + coalesce(held_bytes, 0) as own_bytes
      from waiting left join held using (workspace_id)
      window own as (partition by workspace_id order by bytes > ${LARGE_BYTES}, due_at, message_id rows unbounded preceding)
    ), due as (
      select slot, due_at from (
        select *, sum(bytes) over (order by bytes > ${LARGE_BYTES}, place, due_at, message_id rows unbounded preceding) - bytes as bytes_before
        from placed
        where own_messages <= ${share.messages} and (own_messages = 1
          or own_bytes <= ${share.bytes}::numeric * case when bytes > ${LARGE_BYTES} then 1 else ${SMALL_SHARE}::numeric end)
        ) as counted
      where bytes_before = 0 or bytes_before + bytes <= ${lease.bytes}
    ), leased as (
      update delivery_queue q
      set lease_number = q.lease_number + 1, leased_by = ${lease.workerId},
          due_at = now() + make_interval(secs => ${lease.seconds}),
          -- A campaign may have been paused for days, so the retry time begins with the first attempt. A look-up that
          -- no DNS server answered is not an attempt, but it sets first_attempt_at (settleLeases) and starts the time.
          expires_at = case when q.campaign_id <> ${nilId} and q.attempts = 0 and q.first_attempt_at is null
            then greatest(q.expires_at, now() + make_interval(hours => (
              select retry_hours from workspaces w where w.id = q.workspace_id)))
            else q.expires_at end
      -- By ctid, because by their key the planner might find the locked rows through other indexes. A row updated in the
      -- meantime has moved and is left for the next lease.
      from due where q.ctid = due.slot
      returning q.workspace_id, q.campaign_id, q.message_id, q.lease_number, q.priority, q.attempts, q.bytes, q.expires_at,
        coalesce(q.first_attempt_at, now()) as first_attempt_at,
        host(q.source_ip) as source_ip,
        -- Both times are of the database clock, so machines with different clocks agree.
        q.lease_number > 1 or due.due_at < now() - make_interval(secs => ${CHECK_VALID_SECONDS}) as is_stale
    )
    select leased.*, (extract(epoch from leased.expires_at - now()) * 1000)::float8 as lives_ms,
      r.version as routing_version
    from leased left join routed_workspaces r on r.workspace_id = leased.workspace_id`,
    "lease messages",
  );
}

/** Whether the lanes of a line's workspace are its own. With "exists", the planner would read all routed workspaces. */
const isRouted = sql`(select true from routed_workspaces r where r.workspace_id = given.workspace_id) is not null as is_routed`;

/** The first messages of a line that may be leased. */
function headOf(lease: LeaseOrder, most: Sql, condition: Sql): Sql {
  return sql`
    select q.ctid as slot, q.workspace_id, q.message_id, q.bytes, q.due_at from delivery_queue q
    where ${betweenTimes(lease, sql`line.starts_at`, sql`now()`)} and ${condition} and ${mayLeave(lease)}
      and (q.bytes <= ${LARGE_BYTES} or not line.is_crowded)
    ${byLineAndTime} limit ${most} for update of q skip locked`;
}

/**
 * Messages of a line that are due between two times. The row comparison is served by the index of lines alone; with separate
 * conditions, if the statistics say that almost nothing waits, a scan of the workspace's primary key looks as cheap. The
 * conditions after it are redundant but give the planner its estimates: of the row comparison it uses only the priority.
 */
function betweenTimes({ priority }: LeaseOrder, from: Sql, until: Sql): Sql {
  return sql`(q.priority, q.workspace_id, q.campaign_id, q.due_at) >= (${priority}, line.workspace_id, line.campaign_id, ${from})
    and (q.priority, q.workspace_id, q.campaign_id, q.due_at) <= (${priority}, line.workspace_id, line.campaign_id, ${until})
    and q.campaign_id = line.campaign_id and q.due_at >= ${from} and q.due_at <= ${until}`;
}

/** The order of the index; within one line by time. */
const byLineAndTime = sql`order by q.priority, q.workspace_id, q.campaign_id, q.due_at`;

/** Computes the same key as destinationKey in smtp-transport.ts. */
const place = sql`case when line.is_routed then q.workspace_id || ' ' || q.domain else q.domain end`;

function mayLeave({ saturated, networks = [] }: LeaseOrder): Sql {
  return sql`${place} <> all (${saturated}::text[])
      and (q.source_ip is null or q.source_ip <<= any (${networks}::inet[])
        or q.due_at < now() - make_interval(secs => ${RESERVED_SECONDS}))`;
}

/** The messages of a line before the first one that may be leased. */
export interface PassedOver extends Line {
  /** When the first message that may be leased was due; SETTLING_SECONDS ago if there is none. */
  readonly ends_at: Date;
  /** How many messages are passed over. */
  readonly count: number;
  /** Their saturated domains (LeaseOrder.saturated), each with the time when the first of its messages was due in `due_at`. */
  readonly places: readonly string[];
  readonly due_at: readonly Date[];
}

/** Reads for each of the lines what a scan passes over row by row, also if the line is empty. */
export function listPassedOver(
  db: Queryable,
  lease: LeaseOrder,
  lines: readonly Line[],
): Promise<PassedOver[]> {
  // Times are truncated to milliseconds on their way here, so no message is skipped.
  return db.rows(sql`
    with line as materialized (
      select workspace_id, campaign_id, ${isRouted}
      from unnest(
        ${lines.map((line) => line.workspace_id)}::uuid[],
        ${lines.map((line) => line.campaign_id)}::uuid[]) as given (workspace_id, campaign_id)
    )
    select line.workspace_id, line.campaign_id, passed.ends_at, coalesce(sum(front.count), 0)::integer as count,
      coalesce(array_agg(front.place) filter (where front.place is not null), '{}') as places,
      coalesce(array_agg(front.due_at) filter (where front.place is not null), '{}') as due_at
    from line
    cross join lateral (
      select least(settled_at, (
        select q.due_at from delivery_queue q
        where ${betweenTimes(lease, sql`'-infinity'`, sql`settled_at`)} and ${mayLeave(lease)}
        ${byLineAndTime} limit 1)) as ends_at
      from (select now() - make_interval(secs => ${SETTLING_SECONDS}) as settled_at) moment) passed
    left join lateral (
      select ${place} as place, count(*), min(q.due_at) as due_at from delivery_queue q
      where ${betweenTimes(lease, sql`'-infinity'`, sql`passed.ends_at`)} and q.due_at < passed.ends_at and ${place} = any (${lease.saturated}::text[])
      group by 1) front on true
    group by line.workspace_id, line.campaign_id, passed.ends_at`);
}
