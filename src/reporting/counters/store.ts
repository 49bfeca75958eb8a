/**
 * Figures about messages, exact at every moment: what the counters have taken in and the notes that they have not
 * (messages/counters), in one statement. Never the log: it has millions of rows.
 *
 * Messages count by when they were accepted; `hard_bounces` to `complaints` by when they happened. `sending` counts as
 * queued or deferred. Times are rounded down to quarter-hours, and where a function says so to UTC days.
 */
import sql, { empty, join, raw, type Sql } from "sql-template-tag";
import { type Counts, counters, type StatusCounts } from "../../messages/counters/counters.ts";
import { columnsSql, DAY, quarterOf } from "../../messages/counters/notes-store.ts";
import { type MessageSource, storedStatuses } from "../../messages/states.ts";
import type { Queryable } from "../../platform/database/pool.ts";
import type { WorkspaceId } from "../../platform/ids.ts";

/** From the quarter-hour that `from` is in to the one before `to`; null: without an end. */
export interface Span {
  readonly from: Date | null;
  readonly to: Date | null;
}

export const allTime: Span = { from: null, to: null };

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

export interface Paged<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
}

type Table = "report_quarters" | "report_origins" | "report_sender_days" | "report_ip_days";

const sums = (columns: readonly string[]): Sql =>
  join(columns.map((column) => sql`coalesce(sum(${raw(column)}), 0)::bigint as ${raw(column)}`));

/** Counters and notes of a workspace: the columns `keys` of the table and, of the notes, what they are made of. */
function countedSql(
  workspaceId: WorkspaceId,
  table: Table,
  {
    keys,
    ofNotes = keys,
    columns = counters,
    where = empty,
    whereNotes = where,
  }: {
    readonly keys: readonly string[];
    readonly ofNotes?: readonly string[];
    readonly columns?: readonly string[];
    /** Begins with `and`. */
    readonly where?: Sql;
    readonly whereNotes?: Sql;
  },
): Sql {
  const kind = table === "report_ip_days" ? sql`source_ip is not null` : sql`source_ip is null`;
  return sql`(
    select ${columnsSql([...keys, ...columns])} from ${raw(table)} where workspace_id = ${workspaceId} ${where}
    union all
    select ${columnsSql([...ofNotes, ...columns])} from report_notes
    where workspace_id = ${workspaceId} and ${kind} ${whereNotes}) counted`;
}

function within({ from, to }: Span, sources?: readonly MessageSource[]): Sql {
  const start = from === null ? empty : sql`and quarter >= ${quarterOf(sql`${from}::timestamptz`)}`;
  const end = to === null ? empty : sql`and quarter < ${quarterOf(sql`${to}::timestamptz`)}`;
  return sql`${start} ${end} ${sources ? sql`and source = any (${[...sources]}::text[])` : empty}`;
}

const nothing = Object.fromEntries(counters.map((counter) => [counter, 0])) as Counts;

/** Everything in a span, of some sources or of all. */
export async function totals(
  db: Queryable,
  workspaceId: WorkspaceId,
  span: Span,
  sources?: readonly MessageSource[],
): Promise<Counts> {
  // Of all time there are fewer rows by origin.
  const table = span.from === null && span.to === null ? "report_origins" : "report_quarters";
  const counted = countedSql(workspaceId, table, { keys: ["source"], where: within(span, sources) });
  return (await db.row<Counts>(sql`select ${sums(counters)} from ${counted}`)) ?? nothing;
}

/** Everything since each of some moments, in their order. */
export function totalsSince(
  db: Queryable,
  workspaceId: WorkspaceId,
  moments: readonly Date[],
): Promise<Counts[]> {
  const first = new Date(Math.min(...moments.map((moment) => moment.getTime())));
  const counted = countedSql(workspaceId, "report_quarters", {
    keys: ["quarter"],
    where: within({ from: first, to: null }),
  });
  // Added up once, by the latest of the moments before.
  return db.rows(sql`
    with bounds as materialized (
      select array(select ${quarterOf(sql`m`)} from unnest(${[...moments]}::timestamptz[]) m order by 1) as starts
    ), part as materialized (
      select starts[width_bucket(quarter, starts)] as start, ${sums(counters)} from bounds, ${counted} group by 1
    )
    select ${sums(counters)}
    from unnest(${[...moments]}::timestamptz[]) with ordinality as since (moment, position)
    left join part on start >= ${quarterOf(sql`since.moment`)}
    group by position order by position`);
}

/** As `totals`, of statuses alone. */
export async function statusTotals(
  db: Queryable,
  workspaceId: WorkspaceId,
  span: Span,
): Promise<StatusCounts> {
  const columns = storedStatuses;
  const counted = countedSql(workspaceId, "report_quarters", { keys: [], columns, where: within(span) });
  return (await db.row<StatusCounts>(sql`select ${sums(columns)} from ${counted}`)) ?? nothing;
}

/** The quarter-hours in which there was something, oldest first. */
export function countsByQuarter(
  db: Queryable,
  workspaceId: WorkspaceId,
  span: Span,
  sources?: readonly MessageSource[],
): Promise<(Counts & { readonly quarter: Date })[]> {
  const counted = countedSql(workspaceId, "report_quarters", {
    keys: ["quarter"],
    where: within(span, sources),
  });
  return db.rows(sql`select quarter, ${sums(counters)} from ${counted} group by quarter order by quarter`);
}

/** The days of a time zone in which there was something, oldest first; `date` is "2026-11-21". */
export function countsByDay(
  db: Queryable,
  workspaceId: WorkspaceId,
  zone: string,
  span: Span,
  sources?: readonly MessageSource[],
): Promise<(Counts & { readonly date: string })[]> {
  const counted = countedSql(workspaceId, "report_quarters", {
    keys: ["quarter"],
    where: within(span, sources),
  });
  return db.rows(sql`
    select day::text as date, ${columnsSql(counters)}
    from (select (quarter at time zone ${zone})::date as day, ${sums(counters)} from ${counted} group by 1) days
    order by day`);
}

/** The moment at which a day of a time zone begins: for spans of whole days. */
export async function startOfDay(db: Queryable, zone: string, date: string): Promise<Date> {
  const row = await db.row<{ start: Date }>(
    sql`select (${date}::date)::timestamp at time zone ${zone} as start`,
  );
  if (row === undefined) throw new Error("no row");
  return row.start;
}

export interface OriginCounts extends Counts {
  readonly origin_id: string;
}

/** Of all time, newest origin first (ids carry the time). What was never sent by is not among them. */
export function countsByOrigin(
  db: Queryable,
  workspaceId: WorkspaceId,
  source: MessageSource,
  page: Page,
): Promise<Paged<OriginCounts>> {
  const where = sql`and source = ${source}`;
  const counted = countedSql(workspaceId, "report_origins", { keys: ["origin_id"], where });
  return pageOf(db, "origin_id", counted, { page, order: sql`origin_id desc` });
}

/** Of all time, by id; what was never sent by is not among them. */
export async function countsOfOrigins(
  db: Queryable,
  workspaceId: WorkspaceId,
  source: MessageSource,
  originIds: readonly string[],
): Promise<ReadonlyMap<string, Counts>> {
  const where = sql`and source = ${source} and origin_id = any (${[...originIds]}::uuid[])`;
  const counted = countedSql(workspaceId, "report_origins", { keys: ["origin_id"], where });
  const rows = await db.rows<OriginCounts>(sql`
    select origin_id, ${sums(counters)} from ${counted} group by origin_id`);
  return new Map(rows.map((row) => [row.origin_id, row]));
}

/** Days from the one on that `since` is in; null: all of them. */
function byDay(
  workspaceId: WorkspaceId,
  table: Table,
  key: string,
  since: Date | null,
  columns = counters as readonly string[],
) {
  const { first } = daysSince(since);
  return countedSql(workspaceId, table, {
    keys: [key],
    columns,
    where: since === null ? empty : sql`and day >= ${first}`,
    whereNotes: since === null ? empty : sql`and ${raw(DAY)} >= ${first}`,
  });
}

const mostMessages = sql`${join(
  storedStatuses.map((status) => sql`sum(${raw(status)})`),
  " + ",
)} desc`;

export interface DomainCounts extends StatusCounts {
  readonly domain: string;
}

/**
 * By the recipient's domain, most messages first. `since` is rounded down to a UTC day. Of whole weeks there are fewer rows
 * than of their days.
 */
export function countsByDomain(
  db: Queryable,
  workspaceId: WorkspaceId,
  since: Date | null,
  page: Page,
): Promise<Paged<DomainCounts>> {
  const columns = columnsSql(["domain", ...storedStatuses]);
  const { first, firstWeek } = daysSince(since);
  const counted = sql`(
    select ${columns} from report_domain_weeks
    where workspace_id = ${workspaceId} ${since === null ? empty : sql`and week >= ${firstWeek}`}
    union all
    select ${columns} from report_domain_days
    where workspace_id = ${workspaceId} and day >= ${first} and day < ${firstWeek}
    union all
    select ${columns} from report_notes
    where workspace_id = ${workspaceId} and source_ip is null ${since === null ? empty : sql`and ${raw(DAY)} >= ${first}`}
  ) counted`;
  return pageOf(db, "domain", counted, {
    page,
    order: sql`${mostMessages}, domain`,
    columns: storedStatuses,
  });
}

/** The UTC day that a moment is in, and the first Monday from it on. Of null none is. */
export function daysSince(since: Date | null): { readonly first: Sql; readonly firstWeek: Sql } {
  const first = sql`(${since}::timestamptz at time zone 'UTC')::date`;
  return { first, firstWeek: sql`date_trunc('week', ${first} + 6)::date` };
}

/** Everything, by UTC days: `since` is rounded down to a UTC day. */
export async function totalsOfDays(
  db: Queryable,
  workspaceId: WorkspaceId,
  since: Date | null,
): Promise<Counts> {
  // Of senders there are fewer than of recipient domains.
  const counted = byDay(workspaceId, "report_sender_days", "from_domain", since);
  return (await db.row<Counts>(sql`select ${sums(counters)} from ${counted}`)) ?? nothing;
}

/** By the domain in From, most messages first. `since` is rounded down to a UTC day. */
export function countsBySender(
  db: Queryable,
  workspaceId: WorkspaceId,
  since: Date | null,
  page: Page,
): Promise<Paged<Counts & { readonly from_domain: string }>> {
  const counted = byDay(workspaceId, "report_sender_days", "from_domain", since);
  const order = sql`${mostMessages}, from_domain`;
  return pageOf(db, "from_domain", counted, { page, order });
}

/** By the address of ours that messages left from, most first. `since` is rounded down to a UTC day. */
export function countsByIp(
  db: Queryable,
  workspaceId: WorkspaceId,
  since: Date | null,
  page: Page,
): Promise<Paged<StatusCounts & { readonly source_ip: string }>> {
  const counted = byDay(workspaceId, "report_ip_days", "source_ip", since, storedStatuses);
  const order = sql`${mostMessages}, source_ip`;
  return pageOf(db, "source_ip", counted, { page, order, columns: storedStatuses });
}

/** How many addresses of ours were ever sent from, and how many domains ever stood in From. */
export async function countSources(
  db: Queryable,
  workspaceId: WorkspaceId,
): Promise<{ readonly ips: number; readonly domains: number }> {
  const row = await db.row<{ ips: number; domains: number }>(sql`
    select
      (select count(distinct source_ip) from ${byDay(workspaceId, "report_ip_days", "source_ip", null, [])}) as ips,
      (select count(distinct from_domain) from ${byDay(workspaceId, "report_sender_days", "from_domain", null, [])})
        as domains`);
  return row ?? { ips: 0, domains: 0 };
}

/** Bounces by what they were about, most first. `since` is rounded down to a UTC day. */
export function countsByCategory(
  db: Queryable,
  workspaceId: WorkspaceId,
  since: Date | null,
): Promise<{ readonly bounce_type: string; readonly category: string; readonly bounces: number }[]> {
  const { first } = daysSince(since);
  return db.rows(sql`
    select bounce_type, category, sum(bounces)::bigint as bounces
    from (
      select bounce_type, category, bounces from report_category_days
      where workspace_id = ${workspaceId} ${since === null ? empty : sql`and day >= ${first}`}
      union all
      select bounce_type, category, hard_bounces + soft_bounces + block_bounces from report_notes
      where workspace_id = ${workspaceId} and category is not null
        ${since === null ? empty : sql`and ${raw(DAY)} >= ${first}`}) counted
    group by 1, 2 order by 3 desc, 1, 2`);
}

async function pageOf<Row extends object>(
  db: Queryable,
  key: string,
  counted: Sql,
  {
    page,
    order,
    columns = counters,
  }: { readonly page: Page; readonly order: Sql; readonly columns?: readonly string[] },
): Promise<Paged<Row>> {
  const { offset, limit } = page;
  // Behind the last page there is one row, with the total alone.
  const found = await db.rows<Row & { readonly position: number | null; readonly total: number }>(sql`
    with grouped as (
      select ${raw(key)}, ${sums(columns)}, row_number() over (order by ${order}) as position
      from ${counted} group by ${raw(key)}
    ), sized as (select count(*) as total from grouped)
    select grouped.*, total
    from sized left join grouped on position > ${offset} and position <= ${offset + limit}
    order by position`);
  return {
    total: found[0]?.total ?? 0,
    rows: found.flatMap(({ position, total: _total, ...row }) =>
      position === null ? [] : (row as unknown as Row),
    ),
  };
}
