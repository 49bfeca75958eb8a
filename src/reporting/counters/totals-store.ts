/**
 * Figures about messages, exact at every moment: what the counters have taken in and the notes that they have not
 * (messages/counters), in one statement. Never the log: it has millions of rows.
 *
 * Messages count by when they were accepted; `hard_bounces` to `complaints` by when they happened. `sending` counts as
 * queued or deferred. Times are rounded down to quarter-hours.
 */
import sql from "sql-template-tag";
import { countedByTimeSql, dayStartsSql, type TimeSpan } from "#messages/counters/by-time-store.ts";
import { type Counts, columnsSql, counters, sumsSql } from "#messages/counters/counters.ts";
import { quarterOf } from "#messages/counters/deltas-store.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { totalSums } from "./sums-store.ts";

/** Everything in a span. */
export function totals(db: Queryable, workspaceId: WorkspaceId, span: TimeSpan): Promise<Counts> {
  return totalSums(db, countedByTimeSql(workspaceId, span));
}

/** Everything since each of some moments, in their order. */
export function totalsSince(
  db: Queryable,
  workspaceId: WorkspaceId,
  moments: readonly Date[],
): Promise<Counts[]> {
  const from = new Date(Math.min(...moments.map((moment) => moment.getTime())));
  const cuts = sql`unnest(${[...moments]}::timestamptz[]) cut`;
  // Added up once, by the latest of the moments before.
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

/** The days of a time zone in which there was something, oldest first; `date` is "2026-11-21". */
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
