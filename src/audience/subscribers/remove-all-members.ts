/** Removes all members of a list in steps of bounded size: one transaction for a million members would block others. */

import { lockMailingList } from "#audience/mailing-lists/store.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { removeMembers } from "./memberships/membership-changes.ts";
import { listMemberIds } from "./store.ts";

const STEP = 5_000;

/**
 * Each step is its own transaction; people who join in the meantime may stay.
 * @returns how many were removed from the list
 * @throws ApiError NOT_FOUND
 */
export async function removeAllMembers(
  db: Database,
  workspaceId: WorkspaceId,
  mailingListId: string,
  now: Date,
): Promise<number> {
  const work = async (tx: Queryable) => {
    await lockMailingList(tx, workspaceId, mailingListId);
    return removeSome(tx, workspaceId, mailingListId, now);
  };
  let removed = 0;
  for (;;) {
    const step = await db.transaction(work, { mayRepeat: true });
    removed += step.removed;
    if (step.seen < STEP) return removed;
  }
}

/**
 * Removes the members who joined during removeAllMembers. The caller's transaction must keep others from adding
 * members.
 */
export async function removeRemainingMembers(
  tx: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
  now: Date,
): Promise<void> {
  while ((await removeSome(tx, workspaceId, mailingListId, now)).seen === STEP);
}

async function removeSome(tx: Queryable, workspaceId: WorkspaceId, mailingListId: string, now: Date) {
  const ids = await listMemberIds(tx, workspaceId, mailingListId, STEP);
  const removed = ids.length === 0 ? 0 : await removeMembers(tx, workspaceId, mailingListId, ids, now);
  return { seen: ids.length, removed };
}
