/**
 * Counters by time. They are kept in quarter-hours and in eighths of a day (three hours); a read uses an eighth
 * wherever it does not need its twelve quarter-hours. With ten million messages a chart of 366 days takes PostgreSQL 10
 * ms instead of 49 (docs/benchmarks.md).
 */
import sql, { empty, join, raw, type Sql } from "sql-template-tag";
import { storedStatuses } from "#messages/message/status.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { columnsSql, counters, type MessageStatusCounts, sumsSql } from "./counters.ts";
import { eighthOf, quarterOf } from "./deltas-store.ts";

/** From the quarter-hour that contains `from` to the last one before `to`; null: until now. */
export interface TimeSpan {
  readonly from: Date;
  readonly to: Date | null;
}

/**
 * A relation of the counters of a time span, with deltas that are not applied yet: `time`, `source` and counters. No
 * row crosses an end of the span or one of the cuts.
 * @param cuts a relation with the column `cut`, times
 * @param where a condition on source and counters; begins with `and`
 */
export function countedByTimeSql(
  workspaceId: WorkspaceId,
  { from, to }: TimeSpan,
  {
    columns = counters,
    cuts,
    where = empty,
  }: { readonly columns?: readonly string[]; readonly cuts?: Sql; readonly where?: Sql } = {},
): Sql {
  const ends = sql`select unnest(${to ? [from, to] : [from]}::timestamptz[]) as cut`;
  const start = quarterOf(sql`${from}::timestamptz`);
  const end = to && quarterOf(sql`${to}::timestamptz`);
  const within = (time: Sql, first = start) =>
    sql`and ${time} >= ${first} ${end ? sql`and ${time} < ${end}` : empty} ${where}`;
  const counted = sql`source, ${columnsSql(columns)}`;
  return sql`(
    with divided as materialized (
      select distinct ${eighthOf(sql`cut`)} as eighth
      from (${join(cuts ? [ends, sql`select cut from ${cuts}`] : [ends], " union all ")}) cuts
      where cut <> ${eighthOf(sql`cut`)}
    )
    select eighth as time, ${counted} from report_eighths
    where workspace_id = ${workspaceId} and eighth not in (select eighth from divided)
      ${within(sql`eighth`, eighthOf(start))}
    union all
    select quarter, ${counted} from divided
    join report_quarters on quarter >= eighth and quarter < eighth + interval '3 hours'
    where workspace_id = ${workspaceId} ${within(sql`quarter`)}
    union all
    select quarter, ${counted} from report_notes
    where workspace_id = ${workspaceId} and source_ip is null ${within(sql`quarter`)}) counted`;
}

/** For `cuts`: starts of the days of a time zone, from the one that contains `from` to the one after `to`. */
export const dayStartsSql = (zone: string, from: Date, to: Date): Sql => sql`(
  select day at time zone ${zone} as cut
  from generate_series(date_trunc('day', ${from}::timestamptz at time zone ${zone}),
    date_trunc('day', ${to}::timestamptz at time zone ${zone}) + interval '1 day', interval '1 day') day) starts`;

/** Messages by UTC day and source, by when they were accepted, without suppressed and cancelled ones. */
export function countMessagesByDay(
  db: Queryable,
  workspaceId: WorkspaceId,
  span: TimeSpan,
): Promise<{ readonly date: string; readonly source: string; readonly messages: number }[]> {
  const columns = storedStatuses.filter((status) => status !== "suppressed" && status !== "cancelled");
  const messages = join(
    columns.map((column) => sql`sum(${raw(column)})`),
    " + ",
  );
  // An eighth lies within a UTC day, so no cuts are needed.
  return db.rows(
    sql`
    select (time at time zone 'UTC')::date::text as date, source, (${messages})::bigint as messages
    from ${countedByTimeSql(workspaceId, span, { columns })} group by 1, 2 having ${messages} <> 0 order by 1, 2`,
    "messages by day",
  );
}

export interface CountsSince {
  readonly workspaceId: WorkspaceId;
  /** Rounded down to a quarter-hour. Meant for at most a day, because quarter-hours are summed one by one. */
  readonly since: Date;
}

/** The messages that were accepted since the time of each workspace, by their status now. */
export function listCountsSince(
  db: Queryable,
  spans: readonly CountsSince[],
): Promise<(MessageStatusCounts & { readonly workspace_id: WorkspaceId })[]> {
  const columns = columnsSql(storedStatuses);
  return db.rows(
    sql`
    select w.workspace_id, c.*
    from unnest(${spans.map(({ workspaceId }) => workspaceId)}::uuid[], ${spans.map(({ since }) => since)}::timestamptz[])
      as w (workspace_id, since)
    cross join lateral (
      select ${sumsSql(storedStatuses)}
      from (
        select ${columns} from report_quarters r
        where r.workspace_id = w.workspace_id and r.quarter >= ${quarterOf(sql`w.since`)}
        union all
        select ${columns} from report_notes n
        where n.workspace_id = w.workspace_id and n.source_ip is null and n.quarter >= ${quarterOf(sql`w.since`)}) counted) c`,
    "counts since",
  );
}
