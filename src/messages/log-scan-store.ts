/**
 * Searches the message log by properties that no index has, such as the subject: a call reads the newest messages up to
 * a maximum, and says where it stopped, so that the next call continues there. The cost of a call is bounded, and
 * acceptance and delivery maintain no further index for it (docs/benchmarks.md).
 */
import sql, { empty, join, type Sql } from "sql-template-tag";
import { domainInALabels } from "#mail/address.ts";
import { CLOCK_DIFFERENCE_SECONDS } from "#platform/clock.ts";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { firstIdAt, type WorkspaceId } from "#platform/ids.ts";
import { hasLabelSql, type Label, labelledSql } from "./labels-store.ts";
import { findSpans } from "./log-counts-store.ts";
import {
  type IdSpans,
  type LogFilter,
  logSql,
  type ReadFilter,
  readable,
  shows,
  storedAs,
} from "./log-filter-store.ts";
import type { Found } from "./log-search-store.ts";
import type { StoredStatus } from "./message/status.ts";

/** A call reads this many messages. */
export const MOST_SCANNED = 10_000;

/** Properties of messages; undefined ones are not asked for. */
export interface ScanFilter extends Omit<LogFilter, "origin"> {
  /** The recipient's address, or a part of it, in any case. */
  readonly email?: string | undefined;
  /** A part of the subject, in any case. */
  readonly subject?: string | undefined;
  /** The recipient's domain, in either script. */
  readonly domain?: string | undefined;
  /** The whole address of the sender, in any case. */
  readonly from_email?: string | undefined;
  readonly request_id?: string | undefined;
  readonly tag?: string | undefined;
  /** A pair of its metadata. */
  readonly metadata?: { readonly name: string; readonly value: string } | undefined;
  /** An SMTP reply code, or an enhanced status code, of any attempt. */
  readonly code?: string | undefined;
  readonly origin_id?: string | undefined;
  /** Ids that the origin's messages are known to be within. */
  readonly span?: { readonly first: string; readonly last: string } | undefined;
  /** Inclusive. */
  readonly accepted_from?: Date | undefined;
  /** Exclusive. */
  readonly accepted_before?: Date | undefined;
}

/** The page of a search that may continue. */
export interface Scanned extends Found {
  /** All messages down to this id were searched, and older ones were not; null when all were. */
  readonly searchedTo: string | null;
}

/** An id is generated up to this long after the time of acceptance that its message shows. */
const ID_LAG_MS = 60_000;

const address = sql`lower(m.localpart || '@' || m.domain)`;
const columns = sql`m.id, m.created_at, m.source, m.origin_id, m.status, m.attempts, m.localpart, m.domain, m.from_email,
  m.subject, m.request_id, m.email_details`;

/**
 * Messages that have all properties, newest first, among those that the call reads: the newest ones (below the cursor)
 * with the source, status and time of the filter, or those that the index of tags and metadata has, or of a whole address
 * those that the index of addresses has, and the newest that wait for their first attempt and are not in it yet. `total`
 * counts the messages found by this call.
 * @param db a transaction of one snapshot (findSpans)
 */
export async function scanMessages(
  db: Queryable,
  workspaceId: WorkspaceId,
  asked: ScanFilter,
  { limit, offset, after }: Page,
): Promise<Scanned> {
  const filter = await readable(db, workspaceId, asked);
  const { status } = filter;
  const ids = idsWithin(filter, after);
  const within = sql`${ids} ${acceptedWithin(filter)}`;
  const stored = status && storedAs(status);
  const spansOf = (of: LogFilter) =>
    asked.span || asked.accepted_before
      ? undefined
      : findSpans(db, workspaceId, { ...of, held: filter.held }, { most: MOST_SCANNED, below: after });
  const places = await placesOf(workspaceId, filter, { ids, within, stored, spansOf });
  const newest = places.map(
    (place, at) => sql`
      select * from (select ${at}::int as place, m.* from ${place} order by m.id desc limit ${MOST_SCANNED}) m`,
  );
  const found = await db.row<Scanned>(sql`
    with looked as materialized (${join(newest, " union all ")}),
      -- Where the places stopped that have more messages than the call reads: below the newest of these some are missing.
      stopped as materialized (
        select id, created_at from (
          select distinct on (place) id, created_at, count(*) over (partition by place) as read
          from looked order by place, id) oldest
        where read = ${MOST_SCANNED} order by id desc limit 1),
      meant as materialized (
        select m.id from looked m
        where m.id >= coalesce((select id from stopped), '00000000-0000-0000-0000-000000000000')
          ${conditionsOf(workspaceId, filter)})
    select array(select id from meant order by id desc limit ${limit} offset ${offset}) as ids,
      (select count(*) from meant) as total, (select created_at from stopped) as since,
      (select id from stopped) as "searchedTo"`);
  if (found === undefined) throw new Error("no row");
  return found;
}

interface Bounds {
  /** Conditions on the id of a message `m`; begins with `and`. */
  readonly ids: Sql;
  /** Those, and the condition on the time of acceptance. */
  readonly within: Sql;
  readonly stored: readonly StoredStatus[] | undefined;
  /** Where the messages that are read are (findSpans); undefined: unknown. */
  readonly spansOf: (filter: LogFilter) => Promise<IdSpans | undefined> | undefined;
}

/** The relations that are read, each along an index: of labels, of whole addresses, of source and status. */
async function placesOf(
  workspaceId: WorkspaceId,
  filter: ScanFilter & ReadFilter,
  { ids, within, stored, spansOf }: Bounds,
): Promise<Sql[]> {
  const { source, status, email } = filter;
  const [label] = labelsIn(filter);
  if (label !== undefined) return [labelledMessagesSql(workspaceId, label, ids)];
  const sources = source && [source];
  if (email === undefined || !/^[^@]+@[^@]+$/.test(email)) {
    const where = sql`${shows(filter)} ${within}`;
    const spans = await spansOf({ source, status });
    return [logSql(workspaceId, columns, { sources, statuses: stored, where, most: MOST_SCANNED, spans })];
  }
  /** Read only if the status of the filter allows it: it would otherwise end the search early, without any finding. */
  const waiting =
    stored === undefined || stored.includes("queued")
      ? [
          logSql(workspaceId, columns, {
            sources,
            statuses: ["queued"],
            where: within,
            most: MOST_SCANNED,
            spans: await spansOf({ source, status: "queued" }),
          }),
        ]
      : [];
  return [
    sql`(
      select ${columns} from messages m
      where m.workspace_id = ${workspaceId} and m.status <> 'queued'
        and hashtext(${address}) = hashtext(lower(${domainInALabels(email)})) ${within}) m`,
    ...waiting,
  ];
}

/** The labels that the filter asks for. Of metadata there are usually fewer messages than of a tag. */
function labelsIn({ tag, metadata }: ScanFilter): Label[] {
  return [metadata, tag === undefined ? undefined : { tag }].filter((label) => label !== undefined);
}

/**
 * The newest messages with the label. Only ids limit them, so that their number tells whether there are more; conditionsOf
 * checks the time of acceptance. `offset 0` makes PostgreSQL look up message by message.
 */
function labelledMessagesSql(workspaceId: WorkspaceId, label: Label, ids: Sql): Sql {
  return sql`(
    select ${columns} from (
      select m.id from (select message_id as id from ${labelledSql(workspaceId, label)}) m
      where true ${ids} order by m.id desc limit ${MOST_SCANNED}) found
    cross join lateral (
      select * from messages m where m.workspace_id = ${workspaceId} and m.id = found.id offset 0) m) m`;
}

/** Conditions on the id of a message `m`, which the indexes have. Begins with `and`. */
function idsWithin({ span, accepted_from: from, accepted_before: before }: ScanFilter, after?: string): Sql {
  const early = from && new Date(Math.max(0, from.getTime() - CLOCK_DIFFERENCE_SECONDS * 1_000));
  const late = before && new Date(before.getTime() + ID_LAG_MS);
  return sql`${after === undefined ? empty : sql`and m.id < ${after}`}
    ${span ? sql`and m.id between ${span.first} and ${span.last}` : empty}
    ${early ? sql`and m.id >= ${firstIdAt(early)}` : empty} ${late ? sql`and m.id < ${firstIdAt(late)}` : empty}`;
}

/**
 * The condition on the time of acceptance; begins with `and`. The planner does not know that this time agrees with the id,
 * and would expect that few rows of the range of ids meet both: it would read and sort all of them. It makes no such
 * guess about `coalesce`.
 */
function acceptedWithin({ accepted_from: from, accepted_before: before }: ScanFilter): Sql {
  if (from === undefined && before === undefined) return empty;
  return sql`and coalesce(m.created_at >= ${from ?? null}::timestamptz, true)
    and coalesce(m.created_at < ${before ?? null}::timestamptz, true)`;
}

/** The conditions on a message `m` that is read. Begins with `and`. */
function conditionsOf(workspaceId: WorkspaceId, filter: ScanFilter & ReadFilter): Sql {
  const { source, status, email, subject, domain, from_email, request_id, code, origin_id } = filter;
  // A text without an @ may be part of a local part.
  const wanted = email?.includes("@") ? domainInALabels(email) : email;
  const conditions = [
    source && sql`m.source = ${source}`,
    status && sql`m.status = any (${[...storedAs(status)]}::text[]) ${shows(filter)}`,
    wanted && sql`position(lower(${wanted}) in ${address}) > 0`,
    subject && sql`position(lower(${subject}) in lower(m.subject)) > 0`,
    domain && sql`lower(m.domain) = lower(${domainInALabels(domain)})`,
    from_email && sql`lower(m.from_email) = lower(${domainInALabels(from_email)})`,
    request_id && sql`m.request_id = ${request_id}`,
    origin_id && sql`m.origin_id = ${origin_id}`,
    ...labelsIn(filter).map(hasLabelSql),
    code && repliedSql(workspaceId, code),
  ].filter((condition) => condition !== undefined && condition !== "");
  const isAccepted = acceptedWithin(filter);
  return conditions.length === 0 ? isAccepted : sql`${isAccepted} and ${join(conditions, " and ")}`;
}

/**
 * Whether an attempt of message `m`, or a bounce, has the code. The timeline is read only where it can have such a code:
 * a message that was delivered at once has no refusal.
 */
function repliedSql(workspaceId: WorkspaceId, code: string): Sql {
  const isRefusal = !code.startsWith("2");
  const equal = code.includes(".") ? sql`e.enhanced_code = ${code}` : sql`e.code = ${Number(code)}`;
  return sql`m.status <> 'queued'
    ${isRefusal ? sql`and (m.attempts > 1 or m.status <> 'delivered')` : empty}
    and exists (
      select from message_events e
      where e.workspace_id = ${workspaceId} and e.message_id = m.id
        and e.type in ('delivered', 'deferred', 'bounced', 'failed') and ${equal})`;
}
