/**
 * Pages of the message log, newest first, with bounded cost for any filter and size. Counters (counters/) give the
 * number of messages, and where a deep page begins.
 * The API pages by offset. In a log of ten million messages, pages in the middle and at the end take 16 to 35 ms
 * (docs/benchmarks.md), because findStart finds the quarter-hour in which a page begins, instead of reading and
 * skipping the rows before it.
 */
import sql, { empty, raw, type Sql } from "sql-template-tag";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { firstIdAt, type WorkspaceId } from "#platform/ids.ts";
import { countedByTimeSql, type TimeSpan } from "./counters/by-time-store.ts";
import { columnsSql } from "./counters/counters.ts";
import { eighthOf, quarterOf } from "./counters/deltas-store.ts";
import { canBeHeld, filteredSql, heldSql, type LogFilter } from "./log-filter-store.ts";
import { storedStatuses } from "./message/status.ts";

/** From this offset on, counters find the page; below it, rows are skipped. */
const DEEP = 20_000;
/**
 * A message is counted by its time of acceptance and sorted by its id, which is generated a moment later: at most this
 * many are on different sides of the end of a quarter-hour.
 */
const MOST_STRADDLING = 10_000;
const STRADDLING_MS = 60_000;
const QUARTER_MS = 900_000;
const EIGHTH_MS = 12 * QUARTER_MS;

type Filter = Omit<LogFilter, "origin">;

/** Ids of a page. */
export async function findMessagePage(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: LogFilter,
  { limit, offset, after }: Page,
): Promise<string[]> {
  const isCounted = filter.origin === undefined && filter.status !== "sending";
  const start = isCounted && offset >= DEEP ? await findStart(db, workspaceId, filter, offset) : undefined;
  const { below, rest } = start ?? { below: undefined, rest: offset };
  const skipped = Math.max(0, rest);
  const log = filteredSql(workspaceId, sql`m.id`, filter, {
    where: below ? isBelow(firstIdAt(below)) : after === undefined ? empty : isBelow(after),
    most: limit + skipped,
  });
  const page = sql`select id from ${log} order by id desc limit ${limit} offset ${skipped}`;
  const rows = await db.rows<{ id: string }>(
    below && rest < 0
      ? sql`
        select id from ((${page}) union all (${oldestSql(workspaceId, filter, below, -rest)})) near
        order by id desc limit ${limit}`
      : page,
  );
  return rows.map(({ id }) => id);
}

const isBelow = (id: string): Sql => sql`and m.id < ${id}`;

/** The oldest `most` messages of a quarter-hour, which has at least as many. */
function oldestSql(workspaceId: WorkspaceId, filter: Filter, quarter: Date, most: number): Sql {
  const where = sql`and m.id >= ${firstIdAt(quarter)} and m.id < ${firstIdAt(new Date(quarter.getTime() + QUARTER_MS))}`;
  return sql`select id from ${filteredSql(workspaceId, sql`m.id`, filter, { where })} order by id limit ${most}`;
}

interface Start {
  /** Boundary between two quarter-hours. */
  readonly below: Date;
  /** How many messages below it to skip; negative: so many messages above it come first. */
  readonly rest: number;
}

/** Where to start reading for a row at this offset. */
async function findStart(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: Filter,
  offset: number,
): Promise<Start | undefined> {
  const { log, isShortened } = await findBeginning(db, workspaceId);
  if (log === null) return undefined;
  const whole = { from: log, to: null };
  for (const target of [offset, offset - MOST_STRADDLING]) {
    const eighth = await findLast(db, workspaceId, filter, { span: whole, partOf: eighthOf, most: target });
    if (eighth === undefined) return undefined;
    const from = new Date(Math.max(eighth.time.getTime(), log.getTime()));
    const span = { from, to: new Date(eighth.time.getTime() + EIGHTH_MS) };
    const most = target - eighth.before;
    const quarter = await findLast(db, workspaceId, filter, { span, partOf: quarterOf, most });
    if (quarter === undefined) return undefined;
    const end = new Date(quarter.time.getTime() + QUARTER_MS);
    const straddling = await countStraddling(db, workspaceId, filter, end);
    const rest = offset - eighth.before - quarter.before - straddling;
    if (rest < 0) continue;
    // In the quarter-hour where a shortened log begins, counters may contain more than the log.
    if (rest < quarter.messages / 2 || (isShortened && quarter.time <= log)) return { below: end, rest };
    const early = await countStraddling(db, workspaceId, filter, quarter.time);
    return { below: quarter.time, rest: rest - (quarter.messages - straddling + early) };
  }
  return undefined;
}

/**
 * The oldest part (eighth or quarter-hour) of a span with at most `most` newer messages; how many are newer, and how
 * many are in it.
 */
function findLast(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: Filter,
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
  return db.row(sql`
    select part as time, before, messages
    from (
      select part, sum(messages)::bigint as messages,
        (sum(sum(messages)) over (order by part desc) - sum(messages))::bigint as before
      from (select ${partOf(sql`time`)} as part, messages from ${shownSql(workspaceId, filter, counted, span)}) parts
      group by part) running
    where before <= ${most}
    order by part limit 1`);
}

/** Messages that are sorted after the end of a quarter-hour and counted before it. */
async function countStraddling(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: Filter,
  end: Date,
): Promise<number> {
  const above = sql`and m.id >= ${firstIdAt(end)}
    and m.id < ${firstIdAt(new Date(end.getTime() + STRADDLING_MS))}`;
  const near = filteredSql(workspaceId, sql`m.id, m.source, m.created_at`, filter, { where: above });
  const counted = await db.row<{ straddling: number }>(sql`
    select count(*) as straddling
    from (select created_at, source from ${near} order by id limit ${MOST_STRADDLING}) near
    where created_at < ${end} and source <> 'platform'`);
  return counted?.straddling ?? 0;
}

/**
 * The quarter-hour in which the log begins (null when it is empty), and whether counters begin earlier: they outlive
 * the messages they counted.
 */
async function findBeginning(
  db: Queryable,
  workspaceId: WorkspaceId,
): Promise<{ readonly log: Date | null; readonly isShortened: boolean }> {
  const row = await db.row<{ log: Date | null; counters: Date | null }>(sql`
    select ${quarterOf(
      sql`(select created_at from messages where workspace_id = ${workspaceId} order by id limit 1)::timestamptz`,
    )} as log, (select min(quarter) from report_quarters where workspace_id = ${workspaceId}) as counters`);
  const { log, counters } = row ?? { log: null, counters: null };
  return { log, isShortened: log !== null && counters !== null && counters < log };
}

/** The time in a UUID of version 7. */
export const timeOfIdSql = (id: Sql): Sql =>
  sql`to_timestamp(('x' || encode(substr(uuid_send(${id}), 1, 6), 'hex'))::bit(48)::bigint / 1000.0::float8)`;

/**
 * Messages by time that show a status: the counters, less the leased messages; and platform mail, which is not counted,
 * by its ids.
 * @param counted a relation of statuses by time and source
 */
function shownSql(workspaceId: WorkspaceId, { source, status }: Filter, counted: Sql, span?: TimeSpan): Sql {
  const messages = raw(status ?? storedStatuses.join(" + "));
  const ofSource = source ? sql`and source = ${source}` : empty;
  const ofStatus = status ? sql`and status = ${status}` : empty;
  const isHeld = status && canBeHeld(status);
  const { from, to } = span ?? { from: null, to: null };
  return sql`(
    select time, ${messages} as messages from ${counted} where true ${ofSource}
    union all
    select ${timeOfIdSql(sql`id`)}, 1 from messages
    where workspace_id = ${workspaceId} and source = 'platform' ${ofSource} ${ofStatus}
      ${from ? sql`and id >= ${firstIdAt(from)}` : empty} ${to ? sql`and id < ${firstIdAt(to)}` : empty}
    ${
      isHeld
        ? sql`
    union all
    select created_at, -1 from messages
    where workspace_id = ${workspaceId} and id = any (${heldSql(workspaceId)}) ${ofSource} ${ofStatus}
      ${from ? sql`and created_at >= ${from}` : empty} ${to ? sql`and created_at < ${to}` : empty}`
        : empty
    }) shown`;
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
  filter: Filter,
): Promise<number> {
  if (filter.status === "sending") return countRows(db, filteredSql(workspaceId, sql`m.id`, filter));
  const { log, isShortened } = await findBeginning(db, workspaceId);
  if (log === null) return 0;
  const counted = isShortened
    ? countedByTimeSql(workspaceId, { from: log, to: null }, { columns: storedStatuses })
    : countedEverSql(workspaceId);
  const row = await db.row<{ total: number }>(sql`
    select coalesce(sum(messages), 0)::bigint as total from ${shownSql(workspaceId, filter, counted)}`);
  return row?.total ?? 0;
}

async function countRows(db: Queryable, relation: Sql): Promise<number> {
  const row = await db.row<{ total: number }>(sql`select count(*) as total from ${relation}`);
  return row?.total ?? 0;
}
