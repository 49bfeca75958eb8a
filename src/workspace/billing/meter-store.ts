/** The SQL of meters (meter.ts says how they work). */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { MeterReading, MeterRow, UnappliedUse, Use } from "./meter-reading.ts";
import type { MeterKind } from "./plans.ts";

const NARROW = 25_000;
/** What one process accepts at one time (sending/acceptance/acceptor.ts). Several machines may go beyond the limit by as much each. */
const NARROW_BYTES = 256 * 1024 * 1024;

/** What is about to be accepted for a workspace: emails, and bytes of their contents. */
export interface RequestedUsage {
  readonly workspaceId: WorkspaceId;
  readonly quantity: number;
  readonly bytes: number;
}

/** Whether all workspaces are so far from their limits that each may take and store that without asking: `is_wide`. */
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

/** Notes use, or below zero what is given back. `uses` is a relation of workspace_id and quantity. */
export function addEntriesSql(kind: MeterKind, uses: Sql, now: Date): Sql {
  return sql`
    insert into meter_entries (workspace_id, kind, quantity, created_at)
    select workspace_id, ${kind}, quantity, ${now} from ${uses} where quantity <> 0`;
}

/** The same of emails whose contents are stored: a relation of workspace_id, quantity and bytes. */
export function addStoredEntriesSql(uses: Sql, now: Date): Sql {
  return sql`
    insert into meter_entries (workspace_id, kind, quantity, bytes, created_at)
    select workspace_id, 'email', quantity, bytes, ${now} from ${uses} where quantity <> 0`;
}

/** By hour, and apart what is older and what is younger than some moments, which are in order. */
const byHour = (entries: Sql, moments: readonly Date[]) => sql`
  select kind, date_trunc('hour', created_at, 'UTC') as hour, max(created_at) as last,
    coalesce(sum(quantity) filter (where quantity > 0), 0) as taken,
    coalesce(-sum(quantity) filter (where quantity < 0), 0) as given_back, sum(bytes)::bigint as bytes
  from ${entries}
  group by kind, date_trunc('hour', created_at, 'UTC'),
    width_bucket(created_at, ${[...moments]}::timestamptz[])`;

/** Takes the entries away: they must be written to the meter in this transaction, which holds the account. */
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

/** Use by kind in a period, and in an hour. Who has no row used nothing. */
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

/** Writes how `kinds`, those of `uses` among them, stand now. An hour keeps what was taken in it, whatever came back. */
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
    )
    insert into meters (workspace_id, kind, period_start, used, paid, covered)
    select ${workspaceId}, kind, ${period.start}, used, paid, covered
    from unnest(${[...kinds]}::text[], ${kinds.map((kind) => used[kind])}::bigint[],
      ${kinds.map((kind) => paid[kind])}::numeric[], ${kinds.map((kind) => covered[kind])}::bigint[])
      as m (kind, used, paid, covered)
    on conflict (workspace_id, kind, period_start)
      do update set used = excluded.used, paid = excluded.paid, covered = excluded.covered`);
}

/** Workspaces that used something since their meter was last read. */
export async function listWorkspacesWithEntries(db: Queryable, most: number): Promise<WorkspaceId[]> {
  const rows = await db.rows<{ workspace_id: WorkspaceId }>(sql`
    select distinct workspace_id from meter_entries limit ${most}`);
  return rows.map(({ workspace_id }) => workspace_id);
}

/** Removes up to `most` of the hours that no cap asks about any more, and says how many. */
export function removeOldHours(db: Queryable, before: Date, most: number): Promise<number> {
  return db.run(sql`
    delete from meter_hours where ctid = any(array(
      select ctid from meter_hours where hour < ${before} order by hour limit ${most}))`);
}
