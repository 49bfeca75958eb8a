/** Emptying a list, in steps of bounded size: a million members in one transaction would hold everybody else up. */

import { lockMailingList } from "#audience/mailing-lists/store.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { removeMembers } from "./memberships/membership-changes.ts";
import { listMemberIds } from "./store.ts";

const STEP = 5_000;

/**
 * Each step is a transaction of its own; whoever joins meanwhile may stay.
 * @returns how many left the list
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

/** The same inside the caller's transaction, which keeps everybody else off the list. */
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
