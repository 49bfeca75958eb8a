/**
 * Removes many suppression entries in steps of bounded size, because one statement for a million rows takes too long:
 * the entries of a list that is deleted, and hard bounces that have expired.
 */
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
 * Deletes a list with its entries. If it is interrupted, the call can be repeated. No subscriber becomes active again.
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

/** The refusal of changes to the system list. */
export function managedByService(): ApiError {
  return new ApiError(
    "FORBIDDEN",
    "This list is managed by the service and cannot be changed or deleted. You can add or remove single entries.",
  );
}

/**
 * Deletes the suppression lists whose scope is a mailing list or one of its segments, before the mailing list is
 * deleted.
 */
export async function removeListsScopedTo(
  db: Database,
  workspaceId: WorkspaceId,
  mailingListId: string,
): Promise<void> {
  for (const listId of await listScopedTo(db, workspaceId, mailingListId)) {
    await removeInSteps(db, { workspaceId, listId });
  }
}

/**
 * Deletes the lists created during removeListsScopedTo. The caller's transaction must keep others from creating more.
 */
export async function removeRemainingListsScopedTo(
  tx: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
): Promise<void> {
  for (const listId of await listScopedTo(tx, workspaceId, mailingListId)) {
    while ((await removeStep(tx, { workspaceId, listId })) === "entries left");
  }
}

/** @returns whether this call deleted the list; a concurrent call may have done it */
async function removeInSteps(db: Database, list: EntriesOf): Promise<boolean> {
  for (;;) {
    const step = await db.transaction((tx) => removeStep(tx, list));
    if (step !== "entries left") return step === "removed";
  }
}

/** Removes one step of entries, and the list with the last of them. */
async function removeStep(tx: Queryable, list: EntriesOf): Promise<"removed" | "gone" | "entries left"> {
  if (!(await lockForRemoval(tx, list))) return "gone";
  if ((await removeSomeEntries(tx, list, STEP)) === STEP) return "entries left";
  await removeSuppressionList(tx, list);
  return "removed";
}

/**
 * Removes hard bounces that the service added before a time from all lists. Complaints stay. Mailboxes come back, and
 * addresses get new owners.
 */
export async function expireHardBounces(db: Database, before: Date): Promise<void> {
  for (const list of await listListsWithBouncesBefore(db, before)) {
    const step = () =>
      db.transaction(async (tx) =>
        (await lockForRemoval(tx, list)) ? removeBouncesBefore(tx, list, before, EXPIRY_STEP) : 0,
      );
    while ((await step()) === EXPIRY_STEP);
  }
}
