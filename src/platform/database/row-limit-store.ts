/** The bound of what a workspace may have of one kind, exact however many are added at the same time. */
import sql, { empty, type Sql } from "sql-template-tag";
import { ApiError } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { lockKey } from "./advisory-lock.ts";
import type { Queryable } from "./pool.ts";

/** How many rows of a table a workspace may have; the table's own noun says so. */
export interface Room {
  readonly table: Sql;
  /** A condition of the rows that count, which begins with `and`; all of them without. */
  readonly counted?: Sql;
  readonly most: number;
  /** What they are called, in the plural; the lock has its name from it. */
  readonly what: string;
  /** Of the refusal; BAD_REQUEST where nothing is said. */
  readonly code?: keyof typeof refusals;
  /** What the caller can do, where it is not the usual. */
  readonly way?: string;
}

const refusals = {
  BAD_REQUEST: { begin: "There can be", way: "delete one first" },
  CONFLICT: { begin: "There are", way: "delete one that is not needed any more" },
} as const;

/** Nobody else adds one of the kind to the workspace before this transaction ends. */
export async function lockRoom(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { what }: Pick<Room, "what">,
): Promise<void> {
  await tx.run(sql`select pg_advisory_xact_lock(${lockKey(`${what} of ${workspaceId}`)})`);
}

/**
 * Before one is added: nobody else adds one before this transaction ends.
 * @throws ApiError BAD_REQUEST, or what the room says, when there are as many as there may be
 */
export async function requireRoom(tx: Queryable, workspaceId: WorkspaceId, room: Room): Promise<void> {
  await lockRoom(tx, workspaceId, room);
  await requireRoomUnderLock(tx, workspaceId, room);
}

/** The same for those who wait for each other by a lock that is also for something else. @throws as requireRoom */
export async function requireRoomUnderLock(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { table, counted = empty, most, what, code = "BAD_REQUEST", way = refusals[code].way }: Room,
): Promise<void> {
  const row = await tx.row<{ count: number }>(sql`
    select count(*) as count from ${table} where workspace_id = ${workspaceId} ${counted}`);
  if ((row?.count ?? 0) < most) return;
  throw new ApiError(code, `${refusals[code].begin} ${most} ${what}; ${way}`);
}
