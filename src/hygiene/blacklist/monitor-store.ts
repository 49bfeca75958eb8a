/** The table of monitors: targets that are checked on a schedule. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceRowLimit } from "#platform/database/row-limit-store.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import type { BlacklistTarget, TargetType } from "./target.ts";

export const monitorStatuses = ["active", "paused"] as const;
export type MonitorStatus = (typeof monitorStatuses)[number];

export interface MonitorRow {
  readonly id: string;
  readonly target: string;
  readonly target_type: TargetType;
  readonly frequency_minutes: number;
  readonly notify: boolean;
  readonly status: MonitorStatus;
  /** The last run in which at least one zone answered. */
  readonly last_checked_at: Date | null;
  /** Null while paused. */
  readonly next_run_at: Date | null;
  readonly last_listed_count: number;
  readonly last_listed_zones: string[];
  readonly last_error: string | null;
}

const columns = sql`
  id, target, target_type, frequency_minutes, notify, status, last_checked_at, next_run_at,
  cardinality(last_listed_zones) as last_listed_count, last_listed_zones, last_error`;

export const monitorRoom: WorkspaceRowLimit = {
  table: sql`blacklist_monitors`,
  what: "monitors",
  most: 1_000,
  code: "CONFLICT",
};

/** Newest first. */
export function listMonitors(db: Queryable, workspaceId: WorkspaceId): Promise<MonitorRow[]> {
  return db.rows(sql`
    select ${columns} from blacklist_monitors where workspace_id = ${workspaceId}
    order by created_at desc, id desc`);
}

export function findMonitor(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<MonitorRow | undefined> {
  return db.row(sql`
    select ${columns} from blacklist_monitors where workspace_id = ${workspaceId} and id = ${id}`);
}

/** Inserts a monitor that is due at once. Undefined when the workspace monitors the target already. */
export function insertMonitor(
  db: Queryable,
  workspaceId: WorkspaceId,
  monitor: BlacklistTarget & Pick<MonitorRow, "frequency_minutes" | "notify">,
  now: Date,
): Promise<MonitorRow | undefined> {
  return db.row(sql`
    insert into blacklist_monitors
      (workspace_id, id, target, target_type, frequency_minutes, notify, status, next_run_at, created_at)
    values (${workspaceId}, ${newId()}, ${monitor.target}, ${monitor.target_type}, ${monitor.frequency_minutes},
      ${monitor.notify}, 'active', ${now}, ${now})
    on conflict (workspace_id, target) do nothing
    returning ${columns}`);
}

/**
 * Null leaves a field unchanged. A resumed monitor is due at once. After a change of the frequency the next run is counted from
 * the last one, unless the monitor is due already.
 */
export function updateMonitor(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  changes: {
    readonly frequency_minutes: number | null;
    readonly notify: boolean | null;
    readonly status: MonitorStatus | null;
  },
  now: Date,
): Promise<MonitorRow | undefined> {
  const { frequency_minutes, notify, status } = changes;
  return db.row(sql`
    update blacklist_monitors
    set frequency_minutes = coalesce(${frequency_minutes}::int, frequency_minutes),
      notify = coalesce(${notify}::boolean, notify),
      status = coalesce(${status}::text, status),
      next_run_at = case
        when coalesce(${status}::text, status) = 'paused' then null
        when status = 'paused' then ${now}::timestamptz
        when ${frequency_minutes}::int <> frequency_minutes and last_checked_at is not null and next_run_at > ${now}
          then greatest(${now}::timestamptz, last_checked_at + make_interval(mins => ${frequency_minutes}::int))
        else next_run_at end
    where workspace_id = ${workspaceId} and id = ${id}
    returning ${columns}`);
}

export async function removeMonitor(db: Queryable, workspaceId: WorkspaceId, id: string): Promise<boolean> {
  const removed = await db.run(sql`
    delete from blacklist_monitors where workspace_id = ${workspaceId} and id = ${id}`);
  return removed > 0;
}

/** A leased monitor. A run with an older `lease_number` is discarded. */
export interface MonitorLease extends BlacklistTarget {
  readonly workspace_id: WorkspaceId;
  readonly id: string;
  readonly lease_number: number;
  readonly next_run_at: Date;
}

/** Leases the active monitor that has been due longest, unless its workspace is suspended. */
export function leaseDueMonitor(db: Queryable, now: Date, until: Date): Promise<MonitorLease | undefined> {
  return db.row(sql`
    with due as materialized (
      select m.workspace_id, m.id from blacklist_monitors m join workspaces w on w.id = m.workspace_id
      where m.status = 'active' and m.next_run_at <= ${now} and not w.is_suspended
        and (m.leased_until is null or m.leased_until <= ${now})
      order by m.next_run_at limit 1
      for update of m skip locked)
    update blacklist_monitors m set lease_number = m.lease_number + 1, leased_until = ${until}
    from due where m.workspace_id = due.workspace_id and m.id = due.id
    returning m.workspace_id, m.id, m.target, m.target_type, m.lease_number, m.next_run_at`);
}

/** The leased monitor, locked until the transaction ends; undefined when it was deleted or leased again. */
export function lockLeasedMonitor(tx: Queryable, lease: MonitorLease): Promise<MonitorRow | undefined> {
  return tx.row(sql`
    select ${columns} from blacklist_monitors
    where workspace_id = ${lease.workspace_id} and id = ${lease.id} and lease_number = ${lease.lease_number}
    for update`);
}

/**
 * Writes the result of a run and ends the lease. The next run is the first future one of the schedule, which late or missed
 * runs do not shift. A monitor that was paused or made due during the run stays so.
 */
export async function updateMonitorRun(
  tx: Queryable,
  lease: MonitorLease,
  run: Pick<MonitorRow, "last_checked_at" | "last_listed_zones" | "last_error">,
  now: Date,
): Promise<void> {
  await tx.run(sql`
    update blacklist_monitors
    set last_checked_at = ${run.last_checked_at}, last_listed_zones = ${run.last_listed_zones},
      last_error = ${run.last_error}, leased_until = null,
      listed_since = case when cardinality(${run.last_listed_zones}::text[]) > 0 then coalesce(listed_since, ${now}) end,
      next_run_at = case when next_run_at <> ${lease.next_run_at} then next_run_at
        else next_run_at + make_interval(mins => frequency_minutes * (1 + greatest(0,
          floor(extract(epoch from ${now}::timestamptz - next_run_at) / (60 * frequency_minutes))))::int) end
    where workspace_id = ${lease.workspace_id} and id = ${lease.id}`);
}

/**
 * For reports: how many blacklists list the monitored targets, and when they were checked. By target, in the form of
 * readTarget; targets that were never checked are left out.
 */
export async function listedCountOf(
  db: Queryable,
  workspaceId: WorkspaceId,
  targets: readonly string[],
): Promise<Map<string, { readonly last_listed_count: number; readonly last_checked_at: Date }>> {
  const rows = await db.rows<{ target: string; last_listed_count: number; last_checked_at: Date }>(sql`
    select target, cardinality(last_listed_zones) as last_listed_count, last_checked_at from blacklist_monitors
    where workspace_id = ${workspaceId} and target = any(${targets}) and last_checked_at is not null`);
  return new Map(rows.map(({ target, ...seen }) => [target, seen]));
}
