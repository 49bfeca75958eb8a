/** SQL of meters (meter.ts explains them). */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { MeterReading, MeterRow, UnappliedUse, Use } from "./derive-meter-reading.ts";
import type { MeterKind } from "./plans.ts";

/** The lock-free path is open only with more emails than this left: meter.ts says why so many. */
const NARROW = 25_000;
/**
 * The same bound for bytes of contents: what one process accepts at a time (sending/acceptance/acceptor.ts). Each
 * further machine may exceed the limit by as much.
 */
const NARROW_BYTES = 256 * 1024 * 1024;

/** What is about to be accepted for a workspace: emails, and bytes of their contents. */
export interface RequestedUsage {
  readonly workspaceId: WorkspaceId;
  readonly quantity: number;
  readonly bytes: number;
}

/**
 * One row, `is_wide`: whether all these workspaces are so far from their limits that usage can be recorded without
 * locks.
 */
export function isFarFromLimitsSql(asked: readonly RequestedUsage[], now: Date): Sql {
  return sql`
    select coalesce(bool_and(case
      when a.headroom_until is null or a.headroom_until <= ${now} then false
      when a.email_headroom is null and a.content_headroom is null then true
      else (
        select (a.email_headroom is null or a.email_headroom - asked.quantity >= ${NARROW} + coalesce(sum(quantity), 0))
          and (a.content_headroom is null or asked.bytes = 0
            or a.content_headroom - asked.bytes >= ${NARROW_BYTES} + coalesce(sum(bytes), 0))
        from meter_entries e
        where e.workspace_id = asked.workspace_id and e.kind = 'email') end), true) as is_wide
    from unnest(${asked.map(({ workspaceId }) => workspaceId)}::uuid[],
        ${asked.map(({ quantity }) => quantity)}::bigint[], ${asked.map(({ bytes }) => bytes)}::bigint[])
      as asked (workspace_id, quantity, bytes)
    left join billing_accounts a on a.workspace_id = asked.workspace_id`;
}

/**
 * Records usage; a negative quantity is a refund.
 * @param uses a relation with workspace_id and quantity
 */
export function addEntriesSql(kind: MeterKind, uses: Sql, now: Date): Sql {
  return sql`
    insert into meter_entries (workspace_id, kind, quantity, created_at)
    select workspace_id, ${kind}, quantity, ${now} from ${uses} where quantity <> 0`;
}

/**
 * Records emails whose contents are stored.
 * @param uses a relation with workspace_id, quantity and bytes
 */
export function addStoredEntriesSql(uses: Sql, now: Date): Sql {
  return sql`
    insert into meter_entries (workspace_id, kind, quantity, bytes, created_at)
    select workspace_id, 'email', quantity, bytes, ${now} from ${uses} where quantity <> 0`;
}

/** A workspace whose entries are read, and the times that split the hours of its entries. */
export interface MeterSplit {
  readonly workspaceId: WorkspaceId;
  readonly moments: readonly [Date, Date, Date];
}

/** Unapplied usage with its workspace. */
export type WorkspaceUse = UnappliedUse & { readonly workspace_id: WorkspaceId };

/** The workspaces with their moments, in order. */
function splitSql(splits: readonly MeterSplit[]): Sql {
  const moment = (at: 0 | 1 | 2) => splits.map(({ moments }) => moments[at]);
  return sql`
    select workspace_id, array[a, b, c] as moments
    from unnest(${splits.map(({ workspaceId }) => workspaceId)}::uuid[], ${moment(0)}::timestamptz[], ${moment(1)}::timestamptz[],
      ${moment(2)}::timestamptz[]) as s (workspace_id, a, b, c)`;
}

/** Entries summed by workspace and hour; an hour that contains one of the workspace's moments is split there. */
const byHour = (entries: Sql) => sql`
  select workspace_id, kind, date_trunc('hour', created_at, 'UTC') as hour, max(created_at) as last,
    coalesce(sum(quantity) filter (where quantity > 0), 0) as taken,
    coalesce(-sum(quantity) filter (where quantity < 0), 0) as given_back, sum(bytes)::bigint as bytes
  from ${entries}
  group by workspace_id, kind, date_trunc('hour', created_at, 'UTC'), width_bucket(created_at, moments)`;

/**
 * Deletes and returns the entries. The caller holds the accounts' locks and adds them to the meters in this transaction.
 */
export function takeEntries(tx: Queryable, splits: readonly MeterSplit[]): Promise<WorkspaceUse[]> {
  return tx.rows(sql`
    with split as materialized (${splitSql(splits)}),
    gone as (
      delete from meter_entries e using split where e.workspace_id = split.workspace_id
      returning e.workspace_id, kind, quantity, bytes, created_at, moments)
    ${byHour(sql`gone`)}`);
}

export function listEntries(db: Queryable, splits: readonly MeterSplit[]): Promise<WorkspaceUse[]> {
  return db.rows(
    byHour(sql`(
      select e.workspace_id, kind, quantity, bytes, created_at, moments
      from (${splitSql(splits)}) split join meter_entries e on e.workspace_id = split.workspace_id) e`),
  );
}

/** A period of a workspace's meter, and an hour. */
export interface MeterPeriod {
  readonly workspaceId: WorkspaceId;
  readonly start: Date;
  readonly hour: Date;
}

/** Usage by kind in each of the periods and hours; `place` is that of the period, from 1. A kind without usage has no row. */
export function listUse(
  db: Queryable,
  periods: readonly MeterPeriod[],
): Promise<(MeterRow & { readonly place: number })[]> {
  return db.rows(sql`
    with period as materialized (
      select * from unnest(${periods.map(({ workspaceId }) => workspaceId)}::uuid[], ${periods.map(({ start }) => start)}::timestamptz[],
        ${periods.map(({ hour }) => hour)}::timestamptz[]) with ordinality as p (workspace_id, start, hour, place))
    select place, kind, coalesce(sum(used), 0)::bigint as used, coalesce(sum(paid), 0)::numeric(20, 6) as paid,
      coalesce(sum(covered), 0)::bigint as covered, coalesce(sum(used_in_hour), 0)::bigint as used_in_hour
    from (
      select place, kind, used, paid, covered, 0 as used_in_hour
      from period join meters m on m.workspace_id = period.workspace_id and m.period_start = period.start
      union all
      select place, kind, 0, 0, 0, used
      from period join meter_hours h on h.workspace_id = period.workspace_id and h.hour = period.hour) u
    group by place, kind`);
}

/** What is written of one period of a workspace. */
export interface PeriodMeter {
  readonly workspaceId: WorkspaceId;
  readonly reading: MeterReading;
  readonly uses: readonly Use[];
  /** The kinds whose meter is written; they include those of `uses`. */
  readonly kinds: readonly MeterKind[];
}

/** Writes meters, with the hours and days of their usage. Refunds do not reduce the usage of an hour. */
export async function saveMeters(tx: Queryable, meters: readonly PeriodMeter[]): Promise<void> {
  const rows = meters.flatMap(({ workspaceId, reading, kinds }) =>
    kinds.map((kind) => ({ workspaceId, reading, kind })),
  );
  if (rows.length === 0) return;
  const uses = meters.flatMap(({ workspaceId, uses: own }) => own.map((use) => ({ workspaceId, ...use })));
  await tx.run(sql`
    with use as materialized (
      select * from unnest(${uses.map(({ workspaceId }) => workspaceId)}::uuid[], ${uses.map(({ kind }) => kind)}::text[],
        ${uses.map(({ hour }) => hour)}::timestamptz[], ${uses.map(({ taken }) => taken)}::bigint[],
        ${uses.map(({ given_back }) => given_back)}::bigint[]) as u (workspace_id, kind, hour, taken, given_back)
    ), by_hour as (
      insert into meter_hours (workspace_id, kind, hour, used)
      select workspace_id, kind, hour, sum(taken) from use
      group by workspace_id, kind, hour having sum(taken) > 0
      on conflict (workspace_id, kind, hour) do update set used = meter_hours.used + excluded.used
    ), by_day as (
      insert into meter_days as d (workspace_id, day, kind, used, returned)
      select workspace_id, (hour at time zone 'UTC')::date, kind, sum(taken), sum(given_back) from use
      group by workspace_id, 2, kind having sum(taken) > 0 or sum(given_back) > 0
      on conflict (workspace_id, day, kind) do update
      set used = d.used + excluded.used, returned = d.returned + excluded.returned
    )
    insert into meters (workspace_id, kind, period_start, used, paid, covered)
    select * from unnest(${rows.map(({ workspaceId }) => workspaceId)}::uuid[], ${rows.map(({ kind }) => kind)}::text[],
      ${rows.map(({ reading }) => reading.period.start)}::timestamptz[],
      ${rows.map(({ kind, reading }) => reading.used[kind])}::bigint[],
      ${rows.map(({ kind, reading }) => reading.paid[kind])}::numeric[],
      ${rows.map(({ kind, reading }) => reading.covered[kind])}::bigint[])
    on conflict (workspace_id, kind, period_start)
      do update set used = excluded.used, paid = excluded.paid, covered = excluded.covered`);
}

/**
 * The next workspaces with entries that are not yet in their meter, in order. A loose index scan with one step for each
 * workspace, however many entries it has.
 * @param after they come after this one; null: from the first
 */
export async function listWorkspacesWithEntries(
  db: Queryable,
  after: WorkspaceId | null,
  most: number,
): Promise<WorkspaceId[]> {
  const next = (condition: Sql) =>
    sql`select workspace_id from meter_entries where ${condition} order by workspace_id limit 1`;
  const rows = await db.rows<{ workspace_id: WorkspaceId }>(sql`
    with recursive found as (
      (select workspace_id, 1 as number from (${next(after === null ? sql`true` : sql`workspace_id > ${after}`)}) first)
      union all
      select following.workspace_id, number + 1
      from found cross join lateral (${next(sql`workspace_id > found.workspace_id`)}) following
      where number < ${most}
    )
    select workspace_id from found`);
  return rows.map(({ workspace_id }) => workspace_id);
}

/**
 * Deletes up to `most` hours that no cap needs any more.
 * @returns how many
 */
export function removeOldHours(db: Queryable, before: Date, most: number): Promise<number> {
  return db.run(sql`
    delete from meter_hours where ctid = any(array(
      select ctid from meter_hours where hour < ${before} order by hour limit ${most}))`);
}
