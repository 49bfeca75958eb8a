/** How many messages a filter of the message log leaves, and when they were accepted, by the counters of the reports. */
import sql, { empty, raw, type Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import { firstIdAt, lastId, timeOfId, type WorkspaceId } from "#platform/ids.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { countedByTimeSql, type TimeSpan } from "./counters/by-time-store.ts";
import { columnsSql } from "./counters/counters.ts";
import { eighthOf, quarterOf } from "./counters/deltas-store.ts";
import {
  filteredSql,
  type IdSpan,
  type IdSpans,
  type LogFilter,
  type ReadFilter,
  readable,
} from "./log-filter-store.ts";
import { type MessageSource, messageSources, type StoredStatus, storedStatuses } from "./message/status.ts";
import { findOldestDay } from "./partitions/store.ts";

/** A message is counted by its time of acceptance and sorted by its id, which is generated up to this much later. */
export const STRADDLING_MS = 60_000;
export const QUARTER_MS = 900_000;
export const EIGHTH_MS = 3 * 3_600_000;

export type CountedFilter = Omit<LogFilter, "origin">;

/**
 * The oldest part (eighth or quarter-hour) of a span with at most `most` newer messages; how many are newer, and how
 * many are in it.
 */
export function findLast(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: ReadFilter,
  {
    span,
    partOf,
    most,
  }: { readonly span: TimeSpan; readonly partOf: typeof eighthOf | typeof quarterOf; readonly most: number },
): Promise<{ readonly time: Date; readonly before: number; readonly messages: number } | undefined> {
  // Cutting the span after its first quarter-hour makes it be read by quarter-hours.
  const cuts =
    partOf === quarterOf
      ? sql`(select ${span.from}::timestamptz + interval '15 minutes' as cut) first`
      : undefined;
  const counted = countedByTimeSql(workspaceId, span, { columns: storedStatuses, ...(cuts && { cuts }) });
  const shown = sql`
    ${shownSql(workspaceId, filter, counted, span)}
    ${hasPlatformMail(filter) ? sql`union all ${platformMailSql(workspaceId, filter, span)}` : empty}`;
  return db.row(sql`
    select part as time, before, messages
    from (
      select part, sum(messages)::bigint as messages,
        (sum(sum(messages)) over (order by part desc) - sum(messages))::bigint as before
      from (select ${partOf(sql`time`)} as part, messages from (${shown}) shown) parts
      group by part) running
    where before <= ${most}
    order by part limit 1`);
}

interface NewestBelow {
  readonly most: number;
  /** Only messages with ids below this one are meant. */
  readonly below: string | undefined;
}

/**
 * Where the newest `most` messages of a source or status are. A statement that does not know it opens all days of the log,
 * in each branch of the filter. The counters include leased messages, which the filter may leave out. The spans are right
 * for statements of the same snapshot.
 * @returns undefined if the counters do not tell
 */
export async function findSpans(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: CountedFilter & Pick<ReadFilter, "held">,
  { most, below }: NewestBelow,
): Promise<IdSpans | undefined> {
  const { source, status, held } = filter;
  if (source === "platform" || status === "sending" || (source ?? status) === undefined) return undefined;
  const { log, hasCounters } = await findBeginning(db, workspaceId);
  if (log === null) return {};
  if (!hasCounters) return undefined;
  // All that is counted before this time is below `below`.
  const to = below === undefined ? null : new Date(timeOfId(below).getTime() - STRADDLING_MS);
  // The first message by its id may be counted after another.
  const from = new Date(log.getTime() - QUARTER_MS);
  const counted = countedByTimeSql(workspaceId, { from, to }, { columns: storedStatuses });
  // The oldest part is that of all sources: by its id, a message of any of them may belong to the next part.
  const found = await db.rows<{ source: MessageSource; oldest: Date; newest: Date }>(sql`
    select source, max(part) as newest,
      min(min(part) filter (where newer < ${most + held.length})) over () as oldest
    from (
      select source, part, sum(messages) over (order by part desc) - sum(messages) over (partition by part) as newer
      from (
        select source, ${eighthOf(sql`time`)} as part, sum(${statusesOf(filter)}) as messages
        from ${counted} ${source ? sql`where source = ${source}` : empty} group by source, part) parts
      where messages > 0) running
    group by source`);
  const spanFrom = (oldest: Date, above: string): IdSpan => ({
    lowest: firstIdAt(new Date(Math.max(0, oldest.getTime() - STRADDLING_MS))),
    above,
  });
  const spans: Partial<Record<MessageSource, IdSpan>> = {};
  // What is newer than the last whole quarter-hour before `to` is not counted, and below `below` all the same.
  if (to !== null && below !== undefined) {
    const notCounted = spanFrom(new Date(to.getTime() - QUARTER_MS), below);
    for (const one of messageSources) spans[one] = notCounted;
  }
  for (const { source: one, oldest, newest } of found) {
    const above = below ?? firstIdAt(new Date(newest.getTime() + EIGHTH_MS + STRADDLING_MS));
    spans[one] = spanFrom(oldest, above);
  }
  if (source !== undefined || status === undefined) return spans;
  const ofPlatform = { most: most + held.length, below };
  return { ...spans, platform: await findPlatformSpan(db, workspaceId, status, ofPlatform) };
}

/** Where the newest platform mail with a status is, which no counter has. The text is constant, like countPlatformMail's. */
async function findPlatformSpan(
  db: Queryable,
  workspaceId: WorkspaceId,
  status: StoredStatus,
  { most, below = lastId }: NewestBelow,
): Promise<IdSpan | undefined> {
  const row = await db.row<{ lowest: string | null; highest: string | null }>(
    sql`
    select min(id::text) as lowest, max(id::text) as highest from (
      select id from messages
      where workspace_id = ${workspaceId} and source = 'platform' and status = ${status} and id < ${below}
      order by id desc limit ${most}) newest`,
    "span of platform mail",
  );
  const { lowest, highest } = row ?? { lowest: null, highest: null };
  if (lowest === null || highest === null) return undefined;
  return { lowest, above: firstIdAt(new Date(timeOfId(highest).getTime() + 1)) };
}

interface Beginning {
  /** The quarter-hour in which the log begins; null when it is empty. */
  readonly log: Date | null;
  /** Whether counters begin earlier: they outlive the messages they counted. */
  readonly isShortened: boolean;
  readonly hasCounters: boolean;
}

/** Messages at the beginning of the log are looked for in this many days first. */
const BEGINNING_DAYS = 3;

export async function findBeginning(db: Queryable, workspaceId: WorkspaceId): Promise<Beginning> {
  const row = await db.row<{ counters: Date | null }>(
    sql`select min(quarter) as counters from report_quarters where workspace_id = ${workspaceId}`,
  );
  const day = await findOldestDay(db);
  const counters = row?.counters ?? null;
  const log = await findFirst(db, workspaceId, counters, day);
  const isShortened = log !== null && counters !== null && counters < log;
  return { log, isShortened, hasCounters: counters !== null };
}

/**
 * The quarter-hour of the first message. Where it is by the counters is looked first: a statement that orders the whole log
 * opens all of its days.
 */
async function findFirst(
  db: Queryable,
  workspaceId: WorkspaceId,
  counters: Date | null,
  day: Date,
): Promise<Date | null> {
  const first = async (ids: Sql) => {
    const row = await db.row<{ quarter: Date }>(sql`
      select ${quarterOf(sql`created_at`)} as quarter from messages
      where workspace_id = ${workspaceId} ${ids} order by id limit 1`);
    return row?.quarter ?? null;
  };
  const from = counters === null ? day : new Date(Math.max(day.getTime(), counters.getTime() - DAY_MS));
  const to = new Date(from.getTime() + BEGINNING_DAYS * DAY_MS);
  const isOlder = counters === null || counters < day;
  return (
    (isOlder ? await first(sql`and id < ${firstIdAt(day)}`) : null) ??
    (await first(sql`and id >= ${firstIdAt(from)} and id < ${firstIdAt(to)}`)) ??
    (await first(empty))
  );
}

/** The time in a UUID of version 7. */
export const timeOfIdSql = (id: Sql): Sql =>
  sql`to_timestamp(('x' || encode(substr(uuid_send(${id}), 1, 6), 'hex'))::bit(48)::bigint / 1000.0::float8)`;

/** A value: the counters of messages that show the status of the filter. */
const statusesOf = ({ status }: CountedFilter): Sql => raw(status ?? storedStatuses.join(" + "));

/**
 * Messages by time that show a status: the counters, less the leased messages.
 * @param counted a relation of statuses by time and source
 */
function shownSql(workspaceId: WorkspaceId, filter: ReadFilter, counted: Sql, span?: TimeSpan): Sql {
  const { source, status, held } = filter;
  const ofSource = source ? sql`and source = ${source}` : empty;
  const { from, to } = span ?? { from: null, to: null };
  return sql`
    select time, ${statusesOf(filter)} as messages from ${counted} where true ${ofSource}
    ${
      held.length > 0
        ? sql`
    union all
    select created_at, -1 from messages
    where workspace_id = ${workspaceId} and id = any (${held}::uuid[]) ${ofSource} and status = ${status}
      ${from ? sql`and created_at >= ${from}` : empty} ${to ? sql`and created_at < ${to}` : empty}`
        : empty
    }`;
}

const hasPlatformMail = ({ source }: LogFilter) => source === undefined || source === "platform";

/** Platform mail by time; it is not counted. */
const platformMailSql = (workspaceId: WorkspaceId, { status }: LogFilter, { from, to }: TimeSpan): Sql => sql`
  select ${timeOfIdSql(sql`id`)} as time, 1 as messages from messages
  where workspace_id = ${workspaceId} and source = 'platform' ${status ? sql`and status = ${status}` : empty}
    and id >= ${firstIdAt(from)} ${to ? sql`and id < ${firstIdAt(to)}` : empty}`;

/** Its text is constant, so that PostgreSQL plans it once and not for all days of the log each time. */
async function countPlatformMail(
  db: Queryable,
  workspaceId: WorkspaceId,
  { status }: LogFilter,
): Promise<number> {
  const row = await db.row<{ total: number }>(
    sql`
    select count(*) as total from messages
    where workspace_id = ${workspaceId} and source = 'platform' and status = any (${status ? [status] : [...storedStatuses]}::text[])`,
    "count platform mail",
  );
  return row?.total ?? 0;
}

/** Counters of all time, by origin: few rows. */
const countedEverSql = (workspaceId: WorkspaceId) => sql`(
  select null::timestamptz as time, source, ${columnsSql(storedStatuses)} from report_origins
  where workspace_id = ${workspaceId}
  union all
  select null, source, ${columnsSql(storedStatuses)} from report_notes
  where workspace_id = ${workspaceId} and source_ip is null) counted`;

/** How many messages a filter leaves. */
export async function countMessages(
  db: Queryable,
  workspaceId: WorkspaceId,
  asked: CountedFilter,
): Promise<number> {
  const filter = await readable(db, workspaceId, asked);
  if (filter.status === "sending") return countRows(db, filteredSql(workspaceId, sql`m.id`, filter));
  const { log, isShortened } = await findBeginning(db, workspaceId);
  if (log === null) return 0;
  const counted = isShortened
    ? countedByTimeSql(workspaceId, { from: log, to: null }, { columns: storedStatuses })
    : countedEverSql(workspaceId);
  const row = await db.row<{ total: number }>(sql`
    select coalesce(sum(messages), 0)::bigint as total from (${shownSql(workspaceId, filter, counted)}) shown`);
  const notCounted = hasPlatformMail(filter) ? await countPlatformMail(db, workspaceId, filter) : 0;
  return (row?.total ?? 0) + notCounted;
}

async function countRows(db: Queryable, relation: Sql): Promise<number> {
  const row = await db.row<{ total: number }>(sql`select count(*) as total from ${relation}`);
  return row?.total ?? 0;
}
