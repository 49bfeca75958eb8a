/** Limits on the number of rows that a workspace may have in a table, exact even for concurrent inserts. */
import sql, { empty, type Sql } from "sql-template-tag";
import { ApiError } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { lockKey } from "./advisory-lock-key.ts";
import type { Queryable } from "./pool.ts";

/** The largest number of rows of a table that a workspace may have. */
export interface WorkspaceRowLimit {
  readonly table: Sql;
  /** Condition of the rows that count, starting with `and`; without it all rows count. */
  readonly counted?: Sql;
  readonly most: number;
  /** Plural name of the rows, for the error message and the name of the lock. */
  readonly what: string;
  /** Code of the error; default: BAD_REQUEST. */
  readonly code?: keyof typeof refusals;
  /** What the caller can do, if it differs from the default of the code. */
  readonly way?: string;
}

const refusals = {
  BAD_REQUEST: { begin: "There can be", way: "delete one first" },
  CONFLICT: { begin: "There are", way: "delete one that is not needed any more" },
} as const;

/** Makes other transactions that add such a row to the workspace wait for the end of this one. */
export async function lockRowLimit(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { what }: Pick<WorkspaceRowLimit, "what">,
): Promise<void> {
  await tx.run(sql`select pg_advisory_xact_lock(${lockKey(`${what} of ${workspaceId}`)})`);
}

/**
 * Call before adding a row: takes the lock of the limit and counts the rows.
 * @throws ApiError with the code of the limit if the workspace has as many rows as allowed
 */
export async function requireBelowRowLimit(
  tx: Queryable,
  workspaceId: WorkspaceId,
  limit: WorkspaceRowLimit,
): Promise<void> {
  await lockRowLimit(tx, workspaceId, limit);
  await requireBelowRowLimitUnderLock(tx, workspaceId, limit);
}

/**
 * Counts the rows like `requireBelowRowLimit`, for callers that already hold a lock against other inserts. @throws
 * ApiError
 */
export async function requireBelowRowLimitUnderLock(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { table, counted = empty, most, what, code = "BAD_REQUEST", way = refusals[code].way }: WorkspaceRowLimit,
): Promise<void> {
  const row = await tx.row<{ count: number }>(sql`
    select count(*) as count from ${table} where workspace_id = ${workspaceId} ${counted}`);
  if ((row?.count ?? 0) < most) return;
  throw new ApiError(code, `${refusals[code].begin} ${most} ${what}; ${way}`);
}
