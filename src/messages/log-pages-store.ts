/**
 * Pages of the message log, newest first, with bounded cost for any filter and size. Counters (counters/) give the
 * number of messages, and where a deep page begins.
 * The API pages by offset. In a log of ten million messages, pages in the middle and at the end take 16 to 35 ms
 * (docs/benchmarks.md), because findStart finds the quarter-hour in which a page begins, instead of reading and
 * skipping the rows before it.
 */
import sql, { empty, type Sql } from "sql-template-tag";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { firstIdAt, newId, timeOfId, type WorkspaceId } from "#platform/ids.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { eighthOf, quarterOf } from "./counters/deltas-store.ts";
import {
  EIGHTH_MS,
  findBeginning,
  findLast,
  findSpans,
  QUARTER_MS,
  STRADDLING_MS,
} from "./log-counts-store.ts";
import { filteredSql, type IdSpans, type LogFilter, type ReadFilter, readable } from "./log-filter-store.ts";

/** From this offset on, counters find the page; below it, rows are skipped. */
const DEEP = 20_000;
/** At most this many messages are counted before the end of a quarter-hour and sorted after it (STRADDLING_MS). */
const MOST_STRADDLING = 10_000;

/**
 * A page is read from the newest day and the one before, then from these days, and then from the whole log. With a source or
 * status, findSpans comes after the first of them: a statement with a branch for each source takes longer to plan for 16 days
 * than the counters take to name the right ones.
 */
const DAYS_MS = [DAY_MS, 15 * DAY_MS];

/** Ids of a page. @param db without an origin in the filter, a transaction of one snapshot (findSpans) */
export async function findMessagePage(
  db: Queryable,
  workspaceId: WorkspaceId,
  asked: LogFilter,
  { limit, offset, after }: Page,
): Promise<string[]> {
  const filter = await readable(db, workspaceId, asked);
  const isCounted = filter.origin === undefined && filter.status !== "sending";
  const start = isCounted && offset >= DEEP ? await findStart(db, workspaceId, filter, offset) : undefined;
  const { below, rest } = start ?? { below: undefined, rest: offset };
  const skipped = Math.max(0, rest);
  const most = limit + skipped;
  const above = below && rest < 0 ? oldestSql(workspaceId, filter, below, -rest) : undefined;
  const end = below ? firstIdAt(below) : after;
  const read = async (ids: Sql, spans?: IdSpans) => {
    const where = sql`${end === undefined ? empty : sql`and m.id < ${end}`} ${ids}`;
    const log = filteredSql(workspaceId, sql`m.id`, filter, { where, most, spans });
    const page = sql`select id from ${log} order by id desc limit ${limit} offset ${skipped}`;
    const rows = await db.rows<{ id: string }>(
      above
        ? sql`
        select id from ((${page}) union all (${above})) near
        order by id desc limit ${limit}`
        : page,
    );
    return rows.map(({ id }) => id);
  };
  if (!isCounted) return read(empty);
  const { source, status } = filter;
  const isNamed = source !== "platform" && (source ?? status) !== undefined;
  for (const width of isNamed ? DAYS_MS.slice(0, 1) : DAYS_MS) {
    const from = Math.max(0, timeOfId(end ?? newId()).getTime() - width);
    const ids = await read(sql`and m.id >= ${firstIdAt(new Date(from))}`);
    if (ids.length === limit) return ids;
  }
  return read(empty, await findSpans(db, workspaceId, filter, { most, below: end }));
}

/** The oldest `most` messages of a quarter-hour, which has at least as many. */
function oldestSql(workspaceId: WorkspaceId, filter: ReadFilter, quarter: Date, most: number): Sql {
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
  filter: ReadFilter,
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

/** Messages that are sorted after the end of a quarter-hour and counted before it. */
async function countStraddling(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: ReadFilter,
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
