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

/** Entries summed by hour; an hour that contains one of `moments` (in order) is split there. */
const byHour = (entries: Sql, moments: readonly Date[]) => sql`
  select kind, date_trunc('hour', created_at, 'UTC') as hour, max(created_at) as last,
    coalesce(sum(quantity) filter (where quantity > 0), 0) as taken,
    coalesce(-sum(quantity) filter (where quantity < 0), 0) as given_back, sum(bytes)::bigint as bytes
  from ${entries}
  group by kind, date_trunc('hour', created_at, 'UTC'),
    width_bucket(created_at, ${[...moments]}::timestamptz[])`;

/**
 * Deletes and returns the entries. The caller holds the account's lock and adds them to the meter in this transaction.
 */
export function takeEntries(
  tx: Queryable,
  workspaceId: WorkspaceId,
  moments: readonly Date[],
): Promise<UnappliedUse[]> {
  return tx.rows(sql`
    with gone as (delete from meter_entries where workspace_id = ${workspaceId} returning kind, quantity, bytes, created_at)
    ${byHour(sql`gone`, moments)}`);
}

export function listEntries(
  db: Queryable,
  workspaceId: WorkspaceId,
  moments: readonly Date[],
): Promise<UnappliedUse[]> {
  const entries = sql`(
    select kind, quantity, bytes, created_at from meter_entries where workspace_id = ${workspaceId}) e`;
  return db.rows(byHour(entries, moments));
}

/** Usage by kind in a period and in an hour. A kind without usage has no row. */
export function listUse(
  db: Queryable,
  workspaceId: WorkspaceId,
  periodStart: Date,
  hour: Date,
): Promise<MeterRow[]> {
  return db.rows(sql`
    select kind, coalesce(sum(used), 0)::bigint as used, coalesce(sum(paid), 0)::numeric(20, 6) as paid,
      coalesce(sum(covered), 0)::bigint as covered, coalesce(sum(used_in_hour), 0)::bigint as used_in_hour
    from (
      select kind, used, paid, covered, 0 as used_in_hour from meters
      where workspace_id = ${workspaceId} and period_start = ${periodStart}
      union all
      select kind, 0, 0, 0, used from meter_hours where workspace_id = ${workspaceId} and hour = ${hour}) u
    group by kind`);
}

/** Writes the meter of `kinds`, which include those of `uses`. Refunds do not reduce the usage of an hour. */
export async function saveMeter(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { period, used, paid, covered }: MeterReading,
  uses: readonly Use[],
  kinds: readonly MeterKind[],
): Promise<void> {
  if (kinds.length === 0) return;
  await tx.run(sql`
    with by_hour as (
      insert into meter_hours (workspace_id, kind, hour, used)
      select ${workspaceId}, kind, hour, sum(taken)
      from unnest(${uses.map(({ kind }) => kind)}::text[], ${uses.map(({ hour }) => hour)}::timestamptz[],
        ${uses.map(({ taken }) => taken)}::bigint[]) as u (kind, hour, taken)
      group by kind, hour having sum(taken) > 0
      on conflict (workspace_id, kind, hour) do update set used = meter_hours.used + excluded.used
    ), by_day as (
      insert into meter_days as d (workspace_id, day, kind, used, returned)
      select ${workspaceId}, (hour at time zone 'UTC')::date, kind, sum(taken), sum(given_back)
      from unnest(${uses.map(({ kind }) => kind)}::text[], ${uses.map(({ hour }) => hour)}::timestamptz[],
        ${uses.map(({ taken }) => taken)}::bigint[], ${uses.map(({ given_back }) => given_back)}::bigint[])
        as u (kind, hour, taken, given_back)
      group by 2, kind having sum(taken) > 0 or sum(given_back) > 0
      on conflict (workspace_id, day, kind) do update
      set used = d.used + excluded.used, returned = d.returned + excluded.returned
    )
    insert into meters (workspace_id, kind, period_start, used, paid, covered)
    select ${workspaceId}, kind, ${period.start}, used, paid, covered
    from unnest(${[...kinds]}::text[], ${kinds.map((kind) => used[kind])}::bigint[],
      ${kinds.map((kind) => paid[kind])}::numeric[], ${kinds.map((kind) => covered[kind])}::bigint[])
      as m (kind, used, paid, covered)
    on conflict (workspace_id, kind, period_start)
      do update set used = excluded.used, paid = excluded.paid, covered = excluded.covered`);
}

/** Workspaces with entries that are not yet in their meter. */
export async function listWorkspacesWithEntries(db: Queryable, most: number): Promise<WorkspaceId[]> {
  const rows = await db.rows<{ workspace_id: WorkspaceId }>(sql`
    select distinct workspace_id from meter_entries limit ${most}`);
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
