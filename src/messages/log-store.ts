/**
 * Pages of the message log, bounded whatever its size: along indexes, by source, status and recipient. How many messages
 * there are is known from counters (counters/), and so is where a deep page begins.
 */
import sql, { empty, join, raw, type Sql } from "sql-template-tag";
import type { Queryable } from "../platform/database/pool.ts";
import { firstIdAt, type WorkspaceId } from "../platform/ids.ts";
import { columnsSql, quarterOf } from "./counters/notes-store.ts";
import {
  type MessageSource,
  type MessageStatus,
  messageSources,
  type StoredStatus,
  storedStatuses,
} from "./states.ts";

/** A search looks at so many messages, the newest. */
export const MOST_SEARCHED = 10_000;
/** From here on rows are not skipped one by one. */
const DEEP = 20_000;
/**
 * Messages are counted by when they were accepted and stand in the log by their id, which is made a moment later: so many
 * at most are on different sides of a quarter-hour's end.
 */
const MOST_STRADDLING = 10_000;
const STRADDLING_MS = 60_000;
const QUARTER_MS = 900_000;

export interface LogFilter {
  readonly source?: MessageSource | undefined;
  readonly status?: MessageStatus | undefined;
  /** What sent them. Its messages have ids from `first` to `last`. */
  readonly origin?: { readonly id: string; readonly first: string; readonly last: string } | undefined;
}

interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** Messages that a delivery worker holds: they show as being sent (states.ts). There are few. */
const heldSql = (workspaceId: WorkspaceId): Sql => sql`array(
  select message_id from delivery_queue where workspace_id = ${workspaceId} and leased_by is not null)`;

const heldStatuses: readonly StoredStatus[] = ["queued", "deferred"];

/** The statuses that messages which show this one are stored with. */
const storedAs = (status: MessageStatus): readonly StoredStatus[] =>
  status === "sending" ? heldStatuses : [status];

/** Of a message `m` stored with a status that may show this one: begins with `and`. */
function shows(workspaceId: WorkspaceId, status: MessageStatus | undefined): Sql {
  if (status === "sending") return sql`and m.id = any (${heldSql(workspaceId)})`;
  const canBeHeld = heldStatuses.some((held) => held === status);
  return canBeHeld ? sql`and m.id <> all (${heldSql(workspaceId)})` : empty;
}

/** Of a message `m` by whatever sent it: begins with `and`. */
const isFrom = ({ origin }: LogFilter): Sql =>
  origin ? sql`and m.origin_id = ${origin.id} and m.id between ${origin.first} and ${origin.last}` : empty;

/**
 * Columns of messages as a relation `m` that is read in the order of ids without sorting: the index knows them by source
 * and status, and whoever asks for any asks for all of those.
 * @param where begins with `and`
 * @param most as many of the newest are enough, of each source and status
 */
function logSql(
  workspaceId: WorkspaceId,
  columns: Sql,
  {
    sources = messageSources,
    statuses = storedStatuses,
    where = empty,
    most,
  }: {
    readonly sources?: readonly MessageSource[] | undefined;
    readonly statuses?: readonly StoredStatus[] | undefined;
    readonly where?: Sql;
    readonly most?: number | undefined;
  },
): Sql {
  const isAny = sources === messageSources && statuses === storedStatuses;
  const kinds = isAny
    ? [empty]
    : sources.flatMap((source) =>
        statuses.map((status) => sql`and m.source = ${source} and m.status = ${status}`),
      );
  const newest = most === undefined ? empty : sql`order by m.id desc limit ${most}`;
  const branches = kinds.map(
    (kind) => sql`(
      select ${columns} from messages m where m.workspace_id = ${workspaceId} ${kind} ${where} ${newest})`,
  );
  return sql`(${join(branches, " union all ")}) m`;
}

function filteredSql(
  workspaceId: WorkspaceId,
  columns: Sql,
  filter: LogFilter,
  { where = empty, ...options }: { readonly where?: Sql; readonly most?: number } = {},
): Sql {
  const { source, status } = filter;
  return logSql(workspaceId, columns, {
    ...options,
    sources: source && [source],
    statuses: status && storedAs(status),
    where: sql`${shows(workspaceId, status)} ${isFrom(filter)} ${where}`,
  });
}

/** Ids of a page, newest first. */
export async function findPage(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: LogFilter,
  { limit, offset }: Page,
): Promise<string[]> {
  const isCounted = filter.origin === undefined && filter.status !== "sending";
  const start = isCounted && offset >= DEEP ? await findStart(db, workspaceId, filter, offset) : undefined;
  const log = filteredSql(workspaceId, sql`m.id`, filter, {
    where: start ? sql`and m.id < ${firstIdAt(start.end)}` : empty,
    most: limit + (start?.rest ?? offset),
  });
  const rows = await db.rows<{ id: string }>(sql`
    select id from ${log} order by id desc limit ${limit} offset ${start?.rest ?? offset}`);
  return rows.map(({ id }) => id);
}

interface Start {
  /** End of a quarter-hour: what is below it has to be read. */
  readonly end: Date;
  /** How many of those to skip. */
  readonly rest: number;
}

/** Where to begin to get to a row that is so far down. */
async function findStart(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: LogFilter,
  offset: number,
): Promise<Start | undefined> {
  const start = await db.row<{ quarter: Date; before: number }>(sql`
    select quarter, before
    from (
      select quarter, (sum(sum(messages)) over (order by quarter desc) - sum(messages))::bigint as before
      from ${countedSql(workspaceId, filter, quarters(workspaceId))} group by quarter) running
    where before <= ${offset - MOST_STRADDLING}
    order by quarter limit 1`);
  if (start === undefined) return undefined;
  const end = new Date(start.quarter.getTime() + QUARTER_MS);
  return { end, rest: offset - start.before - (await countStraddling(db, workspaceId, filter, end)) };
}

/** How many stand above the end of a quarter-hour and are counted below it. */
async function countStraddling(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: LogFilter,
  end: Date,
): Promise<number> {
  const above = sql`and m.id >= ${firstIdAt(end)}
    and m.id < ${firstIdAt(new Date(end.getTime() + STRADDLING_MS))}`;
  const near = filteredSql(workspaceId, sql`m.id, m.created_at`, filter, { where: above });
  const counted = await db.row<{ straddling: number }>(sql`
    select count(*) as straddling
    from (select created_at from ${near} order by id limit ${MOST_STRADDLING}) near
    where created_at < ${end}`);
  return counted?.straddling ?? 0;
}

/** The quarter-hour in which the log begins: counters outlive the messages they counted. */
const beginning = (workspaceId: WorkspaceId) =>
  quarterOf(
    sql`(select created_at from messages where workspace_id = ${workspaceId} order by id limit 1)::timestamptz`,
  );

/** The counters of what the log has. */
const quarters = (workspaceId: WorkspaceId) => sql`
  select quarter, source, ${columnsSql(storedStatuses)} from report_quarters
  where workspace_id = ${workspaceId} and quarter >= ${beginning(workspaceId)}`;

/** The counters of all time, which are few. */
const origins = (workspaceId: WorkspaceId) => sql`
  select null::timestamptz, source, ${columnsSql(storedStatuses)} from report_origins
  where workspace_id = ${workspaceId}`;

/** How many messages show a status: what is counted, less what is held, and the platform's own mail. */
function countedSql(workspaceId: WorkspaceId, { source, status }: LogFilter, counters: Sql): Sql {
  const messages = raw(status ?? storedStatuses.join(" + "));
  const ofSource = source ? sql`and source = ${source}` : empty;
  const ofStatus = status ? sql`and status = ${status}` : empty;
  const isHeld = status && heldStatuses.some((held) => held === status);
  return sql`(
    select quarter, ${messages} as messages
    from (${counters}) c (quarter, source, ${columnsSql(storedStatuses)}) where true ${ofSource}
    union all
    select quarter, ${messages} from report_notes
    where workspace_id = ${workspaceId} and source_ip is null ${ofSource}
    union all
    select ${quarterOf(sql`created_at`)}, 1 from messages
    where workspace_id = ${workspaceId} and source = 'platform' ${ofSource} ${ofStatus}
    ${
      isHeld
        ? sql`
    union all
    select ${quarterOf(sql`created_at`)}, -1 from messages
    where workspace_id = ${workspaceId} and id = any (${heldSql(workspaceId)}) ${ofSource} ${ofStatus}`
        : empty
    }) counted`;
}

/** How many messages a filter leaves. */
export async function countMessages(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: Omit<LogFilter, "origin">,
): Promise<number> {
  const sum = (counters: Sql) => sql`(
    select coalesce(sum(messages), 0)::bigint from ${countedSql(workspaceId, filter, counters)})`;
  const counted = await db.row<{ total: number }>(
    filter.status === "sending"
      ? sql`select count(*) as total from ${filteredSql(workspaceId, sql`m.id`, filter)}`
      : sql`
        select case
          when (select min(quarter) from report_quarters where workspace_id = ${workspaceId})
            < coalesce(${beginning(workspaceId)}, 'infinity')
          then ${sum(quarters(workspaceId))}
          else ${sum(origins(workspaceId))} end as total`,
  );
  return counted?.total ?? 0;
}

/** Of an origin, how many messages are held, by the status that they are stored with. */
export async function countHeld(
  db: Queryable,
  workspaceId: WorkspaceId,
  originId: string,
): Promise<{ readonly queued: number; readonly deferred: number }> {
  const held = await db.row<{ queued: number; deferred: number }>(sql`
    select count(*) filter (where status = 'queued') as queued, count(*) filter (where status = 'deferred') as deferred
    from messages
    where workspace_id = ${workspaceId} and id = any (${heldSql(workspaceId)}) and origin_id = ${originId}`);
  return held ?? { queued: 0, deferred: 0 };
}

export interface Found {
  /** Of a page, newest first. */
  readonly ids: readonly string[];
  readonly total: number;
  /** Older messages were not looked at; null when all were. */
  readonly since: Date | null;
}

const address = sql`lower(m.localpart || '@' || m.domain)`;

/**
 * Messages by recipient. Somebody's whole address, in any case, is found by an index wherever it is in the log; anything
 * else as a part of addresses, among the newest messages that the filter leaves. A message gets into the index with its
 * first outcome, so that acceptance does not pay for it: those before it are looked through.
 */
export async function searchMessages(
  db: Queryable,
  workspaceId: WorkspaceId,
  { email, ...filter }: LogFilter & { readonly email: string },
  page: Page,
): Promise<Found> {
  const columns = sql`m.id, m.created_at, m.source, m.origin_id, m.status, m.localpart, m.domain`;
  if (/^[^@]+@[^@]+$/.test(email)) {
    const { source, status } = filter;
    const settled = sql`(
      select ${columns} from messages m
      where m.workspace_id = ${workspaceId} and m.status <> 'queued'
        and hashtext(${address}) = hashtext(lower(${email}))) m`;
    const waiting = logSql(workspaceId, columns, {
      sources: source && [source],
      statuses: ["queued"],
      where: isFrom(filter),
      most: MOST_SEARCHED,
    });
    const { isKnown, ...found } = await search(db, page, {
      places: [settled, waiting],
      isMeant: sql`${address} = lower(${email})`,
      isLeft: sql`true ${source ? sql`and m.source = ${source}` : empty} ${isFrom(filter)}
        ${status ? sql`and m.status = any (${[...storedAs(status)]}::text[])` : empty} ${shows(workspaceId, status)}`,
    });
    if (isKnown) return found;
  }
  const { isKnown: _isKnown, ...found } = await search(db, page, {
    places: [filteredSql(workspaceId, columns, filter, { most: MOST_SEARCHED })],
    isMeant: sql`position(lower(${email}) in ${address}) > 0`,
    isLeft: sql`true`,
  });
  return found;
}

async function search(
  db: Queryable,
  { limit, offset }: Page,
  {
    places,
    isMeant,
    isLeft,
  }: {
    /** Relations `m`; the newest of each are looked at. */
    readonly places: readonly Sql[];
    /** Whether a message `m` went to a recipient who is searched for. */
    readonly isMeant: Sql;
    /** Whether the filter leaves it. */
    readonly isLeft: Sql;
  },
): Promise<Found & { readonly isKnown: boolean }> {
  const newest = places.map(
    (place, at) => sql`
      select * from (select ${at}::int as place, m.* from ${place} order by m.id desc limit ${MOST_SEARCHED}) m`,
  );
  const found = await db.row<Found & { readonly isKnown: boolean }>(sql`
    with looked as materialized (${join(newest, " union all ")}),
      meant as materialized (select * from looked m where ${isMeant}),
      remaining as materialized (select id from meant m where ${isLeft})
    select array(select id from remaining order by id desc limit ${limit} offset ${offset}) as ids,
      (select count(*) from remaining) as total, exists (select from meant) as "isKnown",
      (select max(oldest)
        from (select min(created_at) as oldest from looked group by place having count(*) = ${MOST_SEARCHED}) cut) as since`);
  if (found === undefined) throw new Error("no row");
  return found;
}
