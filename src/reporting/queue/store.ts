/** SQL of the report about the delivery queue of a workspace. Each statement reads a bounded number of rows. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import { firstIdAt, type WorkspaceId } from "#platform/ids.ts";

/** The oldest messages of the queue that are looked at. */
export const MOST_QUEUED_READ = 20_000;
/** Domains with the most messages, in the answer. */
export const MOST_QUEUED_DOMAINS = 100;
/** The newest delivered messages of each source whose times are compared. */
const MOST_TIMED = 1_000;

/** The last reply to a message that waits, or why no server was reached. */
export interface QueueReply {
  readonly time: Date;
  readonly mx_host: string | null;
  readonly code: number | null;
  readonly enhanced_code: string | null;
  readonly text: string | null;
}

export interface QueuedDomainRow {
  readonly domain: string;
  readonly waiting: number;
  readonly in_delivery: number;
  readonly deferred: number;
  /** Waiting messages without an attempt whose sending IP has no quota left, or is not in use. */
  readonly held: number;
  /** Whether all waiting messages are due later, and the first of them because its sender has scheduled it. */
  readonly is_scheduled: boolean;
  readonly oldest_id: string;
  readonly next_attempt_at: Date | null;
  readonly reply: QueueReply | null;
}

/** All messages that were read, and the domains with the most of them. */
export async function readQueuedDomains(
  db: Queryable,
  workspaceId: WorkspaceId,
  now: Date,
): Promise<{ readonly messages: number; readonly domains: readonly QueuedDomainRow[] }> {
  // Ids that are known beforehand: the statement opens the days of the log since then only.
  const oldest = await db.row<{ id: string }>(sql`
    select message_id as id from delivery_queue where workspace_id = ${workspaceId} order by message_id limit 1`);
  if (oldest === undefined) return { messages: 0, domains: [] };
  const rows = await db.rows<Omit<QueuedDomainRow, "reply"> & { messages: number } & QueueReply>(
    sql`
    with queued as materialized (
      select message_id, domain, due_at, attempts, leased_by is not null as is_leased, source_ip
      from delivery_queue where workspace_id = ${workspaceId}
      order by message_id limit ${MOST_QUEUED_READ}
    ), domains as (
      select domain, count(*) filter (where not is_leased)::int as waiting,
        count(*) filter (where is_leased)::int as in_delivery, count(*) filter (where attempts > 0)::int as deferred,
        count(*) filter (where not is_leased and attempts = 0 and source_ip is not null)::int as held,
        min(message_id::text) as oldest_id, min(due_at) filter (where not is_leased) as next_attempt_at,
        (array_agg(message_id order by due_at) filter (where not is_leased))[1] as next_id,
        max(message_id::text) filter (where attempts > 0) as tried_id
      from queued group by domain
      order by count(*) desc, domain collate "C" limit ${MOST_QUEUED_DOMAINS}
    )
    select d.domain, d.waiting, d.in_delivery, d.deferred, d.held, d.oldest_id, d.next_attempt_at,
      exists (select from messages where workspace_id = ${workspaceId} and id = d.next_id
        and id >= ${oldest.id} and (email_details ->> 'scheduled_at')::timestamptz > ${now}) as is_scheduled,
      (select count(*)::int from queued) as messages, e.time, e.mx_host, e.code, e.enhanced_code,
      e.detail as text
    from domains d
    left join lateral (
      select time, mx_host, code, enhanced_code, detail from message_events
      where workspace_id = ${workspaceId} and message_id = d.tried_id::uuid
        and message_id >= ${oldest.id} and type = 'deferred'
      order by id desc limit 1) e on true
    order by d.waiting + d.in_delivery desc, d.domain collate "C"`,
    "queued domains",
  );
  const domains = rows.map(({ time, mx_host, code, enhanced_code, text, ...domain }) => ({
    ...domain,
    reply: time === null ? null : { time, mx_host, code, enhanced_code, text },
  }));
  return { messages: rows[0]?.messages ?? 0, domains };
}

export interface DeliveryTimes {
  readonly is_bulk: boolean;
  readonly messages: number;
  readonly p50_seconds: number;
  readonly p95_seconds: number;
}

/**
 * How long the newest messages delivered since then took, from acceptance or the time that their sender has scheduled to the
 * answer of the server.
 */
export function readDeliveryTimes(
  db: Queryable,
  workspaceId: WorkspaceId,
  since: Date,
): Promise<DeliveryTimes[]> {
  return db.rows(
    sql`
    select is_bulk, count(*)::int as messages,
      percentile_cont(0.5) within group (order by seconds)::float8 as p50_seconds,
      percentile_cont(0.95) within group (order by seconds)::float8 as p95_seconds
    from (values ('campaign', true), ('autoresponder', true), ('api', false), ('smtp', false)) s (source, is_bulk)
    cross join lateral (
      select greatest(0, extract(epoch from
        updated_at - greatest(created_at, (email_details ->> 'scheduled_at')::timestamptz))) as seconds from messages
      where workspace_id = ${workspaceId} and source = s.source and status = 'delivered' and id >= ${firstIdAt(since)}
      order by id desc limit ${MOST_TIMED}) delivered
    group by is_bulk`,
    "delivery times",
  );
}
