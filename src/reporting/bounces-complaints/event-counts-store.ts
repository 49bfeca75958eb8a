/**
 * Bounces and complaints by time of arrival, to the second: whole quarter-hours and days are read from the counters,
 * the rest of the quarter-hour in which a span begins from the records.
 */
import sql, { empty, join, raw, type Sql } from "sql-template-tag";
import { countedByTimeSql, dayStartsSql } from "#messages/counters/by-time-store.ts";
import { eventCounters } from "#messages/counters/counters.ts";
import { quarterOf } from "#messages/counters/deltas-store.ts";
import type { MessageSource } from "#messages/message/status.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/**
 * Common table expressions with `event`: bounces and complaints since the first of some times, with columns time,
 * source, hard, soft, block and complaints. No row crosses one of the times, or one of the cuts, which lie between
 * quarter-hours.
 */
function eventSql(workspaceId: WorkspaceId, moments: readonly Date[], cuts?: Sql): Sql {
  const first = new Date(Math.min(...moments.map((moment) => moment.getTime())));
  const ofMoments = sql`select moment as cut from unnest(${[...moments]}::timestamptz[]) moment`;
  const counted = countedByTimeSql(
    workspaceId,
    { from: first, to: null },
    {
      columns: eventCounters,
      cuts: sql`(${ofMoments} ${cuts ? sql`union all select cut from ${cuts}` : empty}) cuts`,
      where: sql`and (${join(
        eventCounters.map((counter) => sql`${raw(counter)} <> 0`),
        " or ",
      )})`,
    },
  );
  const recorded = (table: Sql, columns: Sql) => sql`
    select r.created_at, r.source, ${columns}
    from divided d join ${table} r on r.workspace_id = ${workspaceId}
      and r.created_at >= greatest(d.quarter, ${first}) and r.created_at < d.quarter + interval '15 minutes'`;
  const isOf = (type: string) => sql`(r.bounce_type = ${type})::int`;
  return sql`
    divided as materialized (
      select distinct ${quarterOf(sql`cut`)} as quarter from (${ofMoments}) moments where cut <> ${quarterOf(sql`cut`)}
    ), event as (
      select time, source, hard_bounces as hard, soft_bounces as soft, block_bounces as block, complaints
      from ${counted} where time <> all (array(select quarter from divided))
      union all
      ${recorded(sql`bounces`, sql`${isOf("hard")}, ${isOf("soft")}, ${isOf("block")}, 0`)}
      union all
      ${recorded(sql`complaints`, sql`0, 0, 0, 1`)}
    )`;
}

/** Bounces and complaints of one day and source. */
export interface EventDay {
  /** "2026-11-21". */
  readonly date: string;
  readonly source: MessageSource;
  readonly hard: number;
  readonly soft: number;
  readonly block: number;
  readonly complaints: number;
}

/** By day (of a time zone) and source, oldest first, without empty days. `to` is now. */
export function listEventDays(
  db: Queryable,
  workspaceId: WorkspaceId,
  zone: string,
  { from, to }: { readonly from: Date; readonly to: Date },
): Promise<EventDay[]> {
  return db.rows(sql`
    with ${eventSql(workspaceId, [from], dayStartsSql(zone, from, to))}
    select day::text as date, source, hard, soft, block, complaints
    from (
      select (time at time zone ${zone})::date as day, source, sum(hard)::bigint as hard, sum(soft)::bigint as soft,
        sum(block)::bigint as block, sum(complaints)::bigint as complaints
      from event group by 1, 2) days
    order by day, source`);
}

export interface EventCounts {
  readonly bounces: number;
  readonly complaints: number;
}

/** Bounces and complaints since each of the times, in their order. */
export function countEvents(
  db: Queryable,
  workspaceId: WorkspaceId,
  moments: readonly Date[],
): Promise<EventCounts[]> {
  return db.rows(sql`
    with ${eventSql(workspaceId, moments)}
    select coalesce(sum(hard + soft + block), 0)::bigint as bounces, coalesce(sum(complaints), 0)::bigint as complaints
    from unnest(${[...moments]}::timestamptz[]) with ordinality as m (moment, position)
    left join event on event.time >= m.moment
    group by position order by position`);
}

export interface DomainBounces {
  readonly domain: string;
  readonly count: number;
}

/** The recipient domains with the most bounces since a time. */
export function listBouncingDomains(
  db: Queryable,
  workspaceId: WorkspaceId,
  since: Date,
  most: number,
): Promise<DomainBounces[]> {
  const start = sql`${since}::timestamptz`;
  const firstDay = sql`(select day from first)`;
  const firstWeek = sql`(select week from first)`;
  const bounces = sql`hard_bounces + soft_bounces + block_bounces`;
  return db.rows(sql`
    with first_day as materialized (
      select (date_trunc('day', ${start} - interval '1 microsecond', 'UTC') + interval '1 day') at time zone 'UTC' as day
    ), first as materialized (
      select day::date as day, date_trunc('week', day + interval '6 days')::date as week from first_day
    )
    select domain, sum(bounces)::bigint as count
    from (
      select domain, ${bounces} as bounces from report_domain_weeks
      where workspace_id = ${workspaceId} and ${bounces} <> 0 and week >= ${firstWeek}
      union all
      select domain, ${bounces} from report_domain_days
      where workspace_id = ${workspaceId} and ${bounces} <> 0 and day >= ${firstDay} and day < ${firstWeek}
      union all
      select domain, ${bounces} from report_notes
      where workspace_id = ${workspaceId} and quarter >= ${firstDay}::timestamp at time zone 'UTC' and source_ip is null
      union all
      select domain, 1 from bounces
      where workspace_id = ${workspaceId} and created_at >= ${start}
        and created_at < ${firstDay}::timestamp at time zone 'UTC') counted
    group by domain having sum(bounces) > 0
    order by count desc, domain limit ${most}`);
}
