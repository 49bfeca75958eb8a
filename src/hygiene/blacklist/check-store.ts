/** The table of blacklist checks: the history. */
import sql, { empty } from "sql-template-tag";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import type { ZoneStatus } from "./checker.ts";
import type { TargetType } from "./target.ts";

export const checkTypes = ["manual", "scheduled"] as const;
export type CheckType = (typeof checkTypes)[number];
export const checkStatuses = ["clean", "listed", "error", "skipped"] as const;
export type BlacklistCheckStatus = (typeof checkStatuses)[number];

export interface CheckRow {
  readonly id: string;
  readonly target: string;
  readonly target_type: TargetType;
  readonly check_type: CheckType;
  readonly status: BlacklistCheckStatus;
  readonly listed_count: number;
  readonly total_checked: number;
  /** Checks charged: 0 or 1. */
  readonly cost: number;
  readonly created_at: Date;
  /** Status by zone name. */
  readonly result: Readonly<Record<string, ZoneStatus>>;
}

export interface CheckFilter {
  readonly target: string | undefined;
  readonly check_type: CheckType | undefined;
  readonly monitor_id: string | undefined;
  /** Inclusive. */
  readonly since: Date | undefined;
  /** Exclusive. */
  readonly before: Date | undefined;
}

const columns = sql`
  id, target, target_type, check_type, status, listed_count, total_checked, cost, created_at, result`;

export async function insertCheck(
  tx: Queryable,
  workspaceId: WorkspaceId,
  check: Omit<CheckRow, "id"> & { readonly monitor_id: string | null },
): Promise<void> {
  await tx.run(sql`
    insert into blacklist_checks (workspace_id, id, monitor_id, target, target_type, check_type, status, listed_count,
      total_checked, cost, result, created_at)
    values (${workspaceId}, ${newId()}, ${check.monitor_id}, ${check.target}, ${check.target_type}, ${check.check_type},
      ${check.status}, ${check.listed_count}, ${check.total_checked}, ${check.cost}, ${JSON.stringify(check.result)},
      ${check.created_at})`);
}

/** Newest first. */
export function listChecks(
  db: Queryable,
  workspaceId: WorkspaceId,
  { target, check_type, monitor_id, since, before }: CheckFilter,
  page: Page,
): Promise<CheckRow[]> {
  return db.rows(sql`
    select ${columns} from blacklist_checks
    where workspace_id = ${workspaceId}
      ${target === undefined ? empty : sql`and target = ${target}`}
      ${check_type === undefined ? empty : sql`and check_type = ${check_type}`}
      ${monitor_id === undefined ? empty : sql`and monitor_id = ${monitor_id}`}
      ${since === undefined ? empty : sql`and created_at >= ${since}`}
      ${before === undefined ? empty : sql`and created_at < ${before}`}
    order by created_at desc, id desc limit ${page.limit} offset ${page.offset}`);
}

/** Whether the history has runs of a monitor, which may be deleted. */
export async function hasRuns(db: Queryable, workspaceId: WorkspaceId, monitorId: string): Promise<boolean> {
  const run = await db.row(sql`
    select from blacklist_checks where workspace_id = ${workspaceId} and monitor_id = ${monitorId} limit 1`);
  return run !== undefined;
}

/** Removes up to `most` checks made before this time. @returns how many */
export function removeOldChecks(db: Queryable, before: Date, most: number): Promise<number> {
  return db.run(sql`
    delete from blacklist_checks c using (
      select workspace_id, id from blacklist_checks where created_at < ${before} limit ${most}) old
    where c.workspace_id = old.workspace_id and c.id = old.id`);
}
