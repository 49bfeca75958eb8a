/**
 * Counters by time. They are kept in quarter-hours and in eighths of a day (three hours); a read uses an eighth
 * wherever it does not need its twelve quarter-hours. With ten million messages a chart of 366 days takes PostgreSQL 10
 * ms instead of 49 (docs/benchmarks.md).
 */
import sql, { empty, join, type Sql } from "sql-template-tag";
import type { WorkspaceId } from "#platform/ids.ts";
import { columnsSql, counters } from "./counters.ts";
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
