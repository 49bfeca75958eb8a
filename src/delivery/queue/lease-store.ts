/**
 * Leases, hundreds at a time: `due_at` moved to a deadline plus a higher `lease_number`, committed at once. No
 * transaction is open while SMTP is spoken.
 */

import sql, { type Sql } from "sql-template-tag";
import type { LeasedMessage, Priority } from "#delivery/message/message.ts";
import { CLOCK_DIFFERENCE_SECONDS } from "#platform/clock.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { nilId, type WorkspaceId } from "#platform/ids.ts";
import type { Holding } from "./held-messages.ts";

/** Content beyond this is not converted on an event loop, and is not in memory before it has to be. */
export const LARGE_BYTES = 100 * 1024;
/** For so long what was found at acceptance about a recipient holds. */
const JUDGED_SECONDS = 5;
/** After so long anybody takes a message that waits for the machine with its source address. */
const DESERTED_SECONDS = 120;
/** Whatever is accepted or put back becomes visible so soon after the moment that it is due, by whatever clock. */
const SETTLING_SECONDS = CLOCK_DIFFERENCE_SECONDS;
const lastId = "ffffffff-ffff-ffff-ffff-ffffffffffff";

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
  /** What one workspace may have under way; without it, everything. */
  readonly share?: WorkspaceShare;
}

/** How much of what the worker holds may be one workspace's. */
export interface WorkspaceShare {
  readonly messages: number;
  readonly bytes: number;
  /** What workspaces have under way already. */
  readonly held: readonly (Holding & { readonly workspaceId: WorkspaceId })[];
  /** Those of which nothing more is leased. */
  readonly full: readonly WorkspaceId[];
  /** Those of which no large messages (LARGE_BYTES) are leased. */
  readonly crowded: readonly WorkspaceId[];
}

const everything: WorkspaceShare = {
  messages: Number.MAX_SAFE_INTEGER,
  bytes: Number.MAX_SAFE_INTEGER,
  held: [],
  full: [],
  crowded: [],
};
/** Of its share, a workspace's large messages leave a third more to its small ones. */
const SMALL_SHARE = 1.5;

/** Of which line a row is. */
export interface Line {
  readonly workspace_id: WorkspaceId;
  /** The nil UUID: outside of campaigns. */
  readonly campaign_id: string;
}

/** From where on a line is looked at; what was due earlier is known to stay. */
export interface LineStart extends Line {
  readonly starts_at: Date;
}

/**
 * Leases due messages of one priority: up to `limit`, and no more content than `bytes` (but always one message). Every
 * campaign is a line of its own, and so is what a workspace sends outside of campaigns. Each line has its share of every
 * batch, workspaces alike whatever the number of their lines; what others leave over goes to whom chance prefers. In a
 * line the longest waiting goes first. No workspace has more than its share under way, but always one message; and large
 * messages (LARGE_BYTES) have the room that small ones leave. A suspended workspace's mail stays in the queue, and so do halted campaigns'.
 */
export function leaseEntries(
  db: Queryable,
  lease: LeaseOrder,
  starts: readonly LineStart[],
): Promise<LeasedMessage[]> {
  const { share = everything } = lease;
  return db.rows(
    sql`
    with recursive ${linesOf(lease, starts)}, open_line as materialized (
      select workspace_id, campaign_id, starts_at, is_routed, is_crowded,
        ceil(${lease.limit}::float8 / count(*) over (partition by workspace_id)
          / (dense_rank() over (order by workspace_id) + dense_rank() over (order by workspace_id desc) - 1)) as share
      -- A line in which nothing waits any more, and which is only remembered, has no share.
      from line cross join lateral (
        select q.bytes, line.workspace_id = any (${share.crowded}::uuid[]) as is_crowded from delivery_queue q
        where ${stands(lease, sql`line.starts_at`, sql`now()`)} limit 1) first
      where campaign_id <> all (${lease.halted ?? []}::uuid[])
        and workspace_id <> all (array(select id from workspaces where is_suspended))
        and workspace_id <> all (${share.full}::uuid[])
        -- The messages of a campaign are all of one size.
        and not (is_crowded and campaign_id <> ${nilId} and bytes > ${LARGE_BYTES})
    ), shared as materialized (
      select head.*, line.campaign_id from (select * from open_line order by random()) line
      cross join lateral (${headOf(lease, sql`line.share`, sql`true`)}) head
      limit ${lease.limit}
    ), more as materialized (
      -- Who has not filled his share has no more.
      select head.*, line.campaign_id from (
        select open_line.* from open_line join (
          select workspace_id, campaign_id, count(*) as taken from shared group by workspace_id, campaign_id) filled
          on filled.workspace_id = open_line.workspace_id and filled.campaign_id = open_line.campaign_id
            and taken >= share
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
          -- A campaign may have been paused for days: the time for retries begins with the first attempt. A look-up
          -- that no DNS server answers is no attempt, but it is news (settleLeases), and the time runs from then on.
          expires_at = case when q.campaign_id <> ${nilId} and q.attempts = 0 and q.first_attempt_at is null
            then greatest(q.expires_at, now() + make_interval(hours => (
              select retry_hours from workspaces w where w.id = q.workspace_id)))
            else q.expires_at end
      -- Rows that are held are where they are: by their key the planner could look for them through other indexes. One
      -- that changed while it was being taken has moved, and is left for the next look.
      from due where q.ctid = due.slot
      returning q.workspace_id, q.message_id, q.lease_number, q.priority, q.attempts, q.bytes, q.expires_at,
        case when q.attempts = 0 then coalesce(q.first_attempt_at, now()) else q.first_attempt_at end as first_attempt_at,
        host(q.source_ip) as source_ip,
        -- Both moments are the database's: machines whose clocks differ agree.
        q.lease_number > 1 or due.due_at < now() - make_interval(secs => ${JUDGED_SECONDS}) as is_stale
    )
    -- Each by itself: a month whose statistics are still to be taken looks small enough to be read whole.
    select leased.*, (extract(epoch from leased.expires_at - now()) * 1000)::float8 as lives_ms, r.version as routing_version, m.*, c.from_name, c.to_name, c.particulars,
      leased.bytes > ${LARGE_BYTES} as is_large,
      case when leased.bytes <= ${LARGE_BYTES} then c.html end as html,
      case when leased.bytes <= ${LARGE_BYTES} then c.text end as text,
      case when leased.bytes <= ${LARGE_BYTES} then c.attachments end as attachments,
      case when leased.bytes <= ${LARGE_BYTES} then s.raw end as raw,
      c.message_id is not null and (c.submission_id is null or s.id is not null) as has_content
    from leased
    cross join lateral (
      select created_at, source, origin_id, from_email, localpart, domain, subject from messages m
      where m.workspace_id = leased.workspace_id and m.id = leased.message_id offset 0) m
    left join routed_workspaces r on r.workspace_id = leased.workspace_id
    left join lateral (
      select * from message_contents c
      where c.workspace_id = leased.workspace_id and c.message_id = leased.message_id offset 0) c on true
    left join lateral (
      select id, raw from submissions s
      where s.workspace_id = leased.workspace_id and s.id = c.submission_id offset 0) s on true`,
    "lease messages",
  );
}

/**
 * All lines of a priority, found from each to the next one along the index: as many steps as there are lines. From one
 * that is known the step leads past all that stands of it in the index, which after an hour-long backup is much more
 * than what waits.
 */
function linesOf({ priority }: LeaseOrder, known: readonly (Line & Partial<LineStart>)[]): Sql {
  return sql`
    known as materialized (
      select *, lead(workspace_id, 1, ${lastId}::uuid) over neighbours as next_workspace_id,
        lead(campaign_id, 1, ${lastId}::uuid) over neighbours as next_campaign_id
      from unnest(
        ${[nilId, ...known.map((line) => line.workspace_id)]}::uuid[],
        ${[nilId, ...known.map((line) => line.campaign_id)]}::uuid[],
        ${[null, ...known.map((line) => line.starts_at ?? null)]}::timestamptz[]) as k (workspace_id, campaign_id, starts_at)
      window neighbours as (order by workspace_id, campaign_id)
    ), step as (
      select * from known
      union all
      select next.*, null::timestamptz, next_workspace_id, next_campaign_id from step cross join lateral (
        select q.workspace_id, q.campaign_id from delivery_queue q
        where (q.priority, q.workspace_id, q.campaign_id) > (${priority}, step.workspace_id, step.campaign_id)
          and (q.priority, q.workspace_id, q.campaign_id) < (${priority}, step.next_workspace_id, step.next_campaign_id)
        order by q.priority, q.workspace_id, q.campaign_id limit 1) next
    ), line as materialized (
      select workspace_id, campaign_id, coalesce(starts_at, '-infinity') as starts_at,
        workspace_id = any (array(select workspace_id from routed_workspaces)) as is_routed
      from step where workspace_id <> ${nilId}
    )`;
}

/** The first in a line who may be leased. */
function headOf(lease: LeaseOrder, most: Sql, condition: Sql): Sql {
  return sql`
    select q.ctid as slot, q.workspace_id, q.message_id, q.bytes, q.due_at from delivery_queue q
    where ${stands(lease, sql`line.starts_at`, sql`now()`)} and ${condition} and ${mayLeave(lease)}
      and (q.bytes <= ${LARGE_BYTES} or not line.is_crowded)
    ${byLineAndTime} limit ${most} for update of q skip locked`;
}

/**
 * In a line, due from one moment to another. In one comparison, which the index of lines alone serves: where statistics
 * say that next to nothing waits (an hour ago it was so, or a backup keeps all that has left in the index), going through
 * the whole primary key of the workspace looks as cheap. The conditions behind it add nothing but what the planner reckons
 * by: of the comparison it looks at the priority only.
 */
function stands({ priority }: LeaseOrder, from: Sql, until: Sql): Sql {
  return sql`(q.priority, q.workspace_id, q.campaign_id, q.due_at) >= (${priority}, line.workspace_id, line.campaign_id, ${from})
    and (q.priority, q.workspace_id, q.campaign_id, q.due_at) <= (${priority}, line.workspace_id, line.campaign_id, ${until})
    and q.campaign_id = line.campaign_id and q.due_at >= ${from} and q.due_at <= ${until}`;
}

/** In one line by time alone; as the index has it. */
const byLineAndTime = sql`order by q.priority, q.workspace_id, q.campaign_id, q.due_at`;

/** What leads to the same lane (smtp-transport.ts). */
const place = sql`case when line.is_routed then q.workspace_id || ' ' || q.domain else q.domain end`;

function mayLeave({ saturated, networks = [] }: LeaseOrder): Sql {
  return sql`${place} <> all (${saturated}::text[])
      and (q.source_ip is null or q.source_ip <<= any (${networks}::inet[])
        or q.due_at < now() - make_interval(secs => ${DESERTED_SECONDS}))`;
}

/** What stands in front of a line's first message that may be leased. */
export interface PassedOver extends Line {
  /** When that one was due; where there is none, SETTLING_SECONDS ago. */
  readonly ends_at: Date;
  /** How many messages those of `places` are. */
  readonly count: number;
  /** Recipient domains of full lanes (LeaseOrder.saturated), each with when the first of its messages was due. */
  readonly places: readonly string[];
  readonly due_at: readonly Date[];
}

/** Reads, of every line, what a look passes over one by one; of the `known` ones also when nothing waits there. */
export function listPassedOver(
  db: Queryable,
  lease: LeaseOrder,
  known: readonly Line[],
): Promise<PassedOver[]> {
  // Moments lose their microseconds to milliseconds on their way here, so that nothing is missed.
  return db.rows(sql`
    with recursive ${linesOf(lease, known)}
    select line.workspace_id, line.campaign_id, passed.ends_at, coalesce(sum(front.count), 0)::integer as count,
      coalesce(array_agg(front.place) filter (where front.place is not null), '{}') as places,
      coalesce(array_agg(front.due_at) filter (where front.place is not null), '{}') as due_at
    from line
    cross join lateral (
      select least(settled_at, (
        select q.due_at from delivery_queue q
        where ${stands(lease, sql`'-infinity'`, sql`settled_at`)} and ${mayLeave(lease)}
        ${byLineAndTime} limit 1)) as ends_at
      from (select now() - make_interval(secs => ${SETTLING_SECONDS}) as settled_at) moment) passed
    left join lateral (
      select ${place} as place, count(*), min(q.due_at) as due_at from delivery_queue q
      where ${stands(lease, sql`'-infinity'`, sql`passed.ends_at`)} and q.due_at < passed.ends_at and ${place} = any (${lease.saturated}::text[])
      group by 1) front on true
    group by line.workspace_id, line.campaign_id, passed.ends_at`);
}
