/** Creates suppression lists and changes their settings. */

import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { requireBelowRowLimit } from "#platform/database/row-limit-store.ts";
import { ApiError } from "#platform/errors.ts";
import { isEmptyChange } from "#platform/http/request/known-fields.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { managedByService } from "./remove-in-steps.ts";
import {
  insertSuppressionList,
  lockScope,
  lockSuppressionList,
  requireSuppressionList,
  suppressionListRoom,
  updateSuppressionList,
} from "./store.ts";
import {
  readSuppressionListSettings,
  type SuppressionList,
  SuppressionListChanges,
  type SuppressionSettings,
  unknownScope,
} from "./suppression-list.ts";

interface Dependencies {
  readonly db: Database;
  readonly clock: Clock;
}

/**
 * @throws ApiError VALIDATION_ERROR, also for an unknown mailing list or segment; BAD_REQUEST when the workspace has
 * too many lists
 */
export function createSuppressionList(
  { db, clock }: Dependencies,
  workspaceId: WorkspaceId,
  body: SuppressionListChanges,
): Promise<SuppressionList> {
  const settings = readSuppressionListSettings(undefined, body);
  const id = newId();
  return db.transaction(async (tx) => {
    await requireScope(tx, workspaceId, settings);
    await requireBelowRowLimit(tx, workspaceId, suppressionListRoom);
    await insertSuppressionList(tx, workspaceId, { id, ...settings }, clock.now());
    return requireSuppressionList(tx, workspaceId, id);
  });
}

/**
 * Changes settings; omitted ones stay.
 * @throws ApiError VALIDATION_ERROR, NOT_FOUND, FORBIDDEN for the system list, CONFLICT when the scope changed
 * concurrently
 */
export function changeSuppressionList(
  { db, clock }: Dependencies,
  workspaceId: WorkspaceId,
  id: string,
  body: SuppressionListChanges,
): Promise<SuppressionList> {
  return db.transaction(async (tx) => {
    const held = await requireSuppressionList(tx, workspaceId, id);
    if (held.is_system) throw managedByService();
    if (isEmptyChange(SuppressionListChanges, body)) return held;
    // The deletion of a mailing list locks the mailing list first, then its suppression lists; the same order is used
    // here.
    const scope = readSuppressionListSettings(held, body);
    await requireScope(tx, workspaceId, scope);
    const settings = readSuppressionListSettings(await lockSuppressionList(tx, workspaceId, id), body);
    if (settings.mailing_list_id !== scope.mailing_list_id || settings.segment_id !== scope.segment_id) {
      throw new ApiError(
        "CONFLICT",
        "The scope of this list was changed at the same time. Read the list again and retry.",
      );
    }
    await updateSuppressionList(tx, workspaceId, { id, ...settings }, clock.now());
    return requireSuppressionList(tx, workspaceId, id);
  });
}

/** Locks the mailing list or segment of the scope. @throws ApiError VALIDATION_ERROR if it does not exist */
async function requireScope(
  tx: Queryable,
  workspaceId: WorkspaceId,
  settings: SuppressionSettings,
): Promise<void> {
  const { suppression_scope: scope } = settings;
  if (!(await lockScope(tx, workspaceId, settings)) && scope !== "global") throw unknownScope(scope);
}
