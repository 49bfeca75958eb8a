/**
 * Figures of messages by time, exact at all times: applied counters and the deltas that are not applied yet
 * (messages/counters), in one statement. They never read the log, which has millions of rows.
 *
 * Messages count at their time of acceptance, `hard_bounces` to `complaints` at the time of the event. `sending` counts
 * as queued or deferred. Times are rounded down to quarter-hours.
 */
import sql from "sql-template-tag";
import { countedByTimeSql, dayStartsSql, type TimeSpan } from "#messages/counters/by-time-store.ts";
import { type Counts, columnsSql, counters, sumsSql } from "#messages/counters/counters.ts";
import { quarterOf } from "#messages/counters/deltas-store.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { totalSums } from "./sum-with-deltas-store.ts";

/** The figures of a time span. */
export function totals(db: Queryable, workspaceId: WorkspaceId, span: TimeSpan): Promise<Counts> {
  return totalSums(db, countedByTimeSql(workspaceId, span));
}

/** The figures since each of some times, in their order. */
export function totalsSince(
  db: Queryable,
  workspaceId: WorkspaceId,
  moments: readonly Date[],
): Promise<Counts[]> {
  const from = new Date(Math.min(...moments.map((moment) => moment.getTime())));
  const cuts = sql`unnest(${[...moments]}::timestamptz[]) cut`;
  // Each row is summed once, under the latest of the times before it.
  return db.rows(sql`
    with bounds as materialized (
      select array(select ${quarterOf(sql`m`)} from unnest(${[...moments]}::timestamptz[]) m order by 1) as starts
    ), part as materialized (
      select starts[width_bucket(time, starts)] as start, ${sumsSql(counters)}
      from bounds, ${countedByTimeSql(workspaceId, { from, to: null }, { cuts })} group by 1
    )
    select ${sumsSql(counters)}
    from unnest(${[...moments]}::timestamptz[]) with ordinality as since (moment, position)
    left join part on start >= ${quarterOf(sql`since.moment`)}
    group by position order by position`);
}

/** The days (of a time zone) with messages, oldest first; `date` is "2026-11-21". */
export function countsByDay(
  db: Queryable,
  workspaceId: WorkspaceId,
  zone: string,
  { from, to }: { readonly from: Date; readonly to: Date },
): Promise<(Counts & { readonly date: string })[]> {
  const cuts = dayStartsSql(zone, from, to);
  return db.rows(sql`
    select day::text as date, ${columnsSql(counters)}
    from (
      select (time at time zone ${zone})::date as day, ${sumsSql(counters)}
      from ${countedByTimeSql(workspaceId, { from, to }, { cuts })} group by 1) days
    order by day`);
}
