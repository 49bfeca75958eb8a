/** Deleting suppression lists, entries first and in steps of bounded size: a million in one statement takes its time. */
import type { Database, Queryable } from "#platform/database/pool.ts";
import { ApiError, notFound } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import {
  type EntriesOf,
  listListsWithBouncesBefore,
  removeBouncesBefore,
  removeSomeEntries,
} from "./entry-store.ts";
import { listScopedTo, lockForRemoval, removeSuppressionList, requireSuppressionList } from "./store.ts";

const STEP = 50_000;
/** Entries of one step of expireHardBounces. */
const EXPIRY_STEP = 5_000;

/**
 * Deletes a list with its entries; one that is cut short can be repeated. Nobody becomes active by it.
 * @throws ApiError NOT_FOUND, FORBIDDEN for the system list
 */
export async function deleteSuppressionList(
  db: Database,
  workspaceId: WorkspaceId,
  listId: string,
): Promise<void> {
  const list = await requireSuppressionList(db, workspaceId, listId);
  if (list.is_system) throw managedByService();
  if (!(await removeInSteps(db, { workspaceId, listId }))) throw notFound("Suppression list");
}

/** What is refused on the list of bounces and complaints. */
export function managedByService(): ApiError {
  return new ApiError(
    "FORBIDDEN",
    "The service keeps this list by itself: only single entries can be added to it, and deleted",
  );
}

/** Deletes the lists whose scope is a mailing list or one of its segments; both are about to go. */
export async function removeListsScopedTo(
  db: Database,
  workspaceId: WorkspaceId,
  mailingListId: string,
): Promise<void> {
  for (const listId of await listScopedTo(db, workspaceId, mailingListId)) {
    await removeInSteps(db, { workspaceId, listId });
  }
}

/** The same in the transaction that keeps everybody else from making such lists: those made meanwhile. */
export async function removeRemainingListsScopedTo(
  tx: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
): Promise<void> {
  for (const listId of await listScopedTo(tx, workspaceId, mailingListId)) {
    while ((await removeStep(tx, { workspaceId, listId })) === "entries left");
  }
}

/** Whether it was this call that took the list away: another one may do the same. */
async function removeInSteps(db: Database, list: EntriesOf): Promise<boolean> {
  for (;;) {
    const step = await db.transaction((tx) => removeStep(tx, list));
    if (step !== "entries left") return step === "removed";
  }
}

/** A list goes with the last of its entries. */
async function removeStep(tx: Queryable, list: EntriesOf): Promise<"removed" | "gone" | "entries left"> {
  if (!(await lockForRemoval(tx, list))) return "gone";
  if ((await removeSomeEntries(tx, list, STEP)) === STEP) return "entries left";
  await removeSuppressionList(tx, list);
  return "removed";
}

/** Takes hard bounces from before a time off all lists, in steps of bounded size. Complaints stay. */
export async function expireHardBounces(db: Database, before: Date): Promise<void> {
  for (const list of await listListsWithBouncesBefore(db, before)) {
    const step = () =>
      db.transaction(async (tx) =>
        (await lockForRemoval(tx, list)) ? removeBouncesBefore(tx, list, before, EXPIRY_STEP) : 0,
      );
    while ((await step()) === EXPIRY_STEP);
  }
}
