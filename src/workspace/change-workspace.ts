/** What an operator may change on a workspace, from the command line or the console. */
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { notFound } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { forgetHeadroom } from "./billing/account-store.ts";
import { settleAccount } from "./billing/meter.ts";
import type { Plans } from "./billing/plans.ts";
import { removeSubscription } from "./billing/subscription-store.ts";
import { lockWorkspace, updateWorkspace } from "./workspaces/store.ts";
import type { Workspace } from "./workspaces/workspace.ts";

export type WorkspaceChanges = Partial<
  Pick<
    Workspace,
    | "timezone"
    | "plan"
    | "hourly_cap"
    | "notify_email"
    | "default_sender"
    | "retry_hours"
    | "tracks_transactional"
    | "is_suspended"
  >
>;

/**
 * Changes what is given and leaves the rest; the values have been read by workspace.ts. A running API notices
 * within two seconds, the life of its cached key records. Another plan holds from now on: what was used before is charged
 * under the old one.
 * @throws ApiError NOT_FOUND
 */
export function changeWorkspace(
  db: Database,
  workspaceId: WorkspaceId,
  changes: WorkspaceChanges,
  { clock, plans }: { readonly clock: Clock; readonly plans: Plans },
): Promise<Workspace> {
  return db.transaction(async (tx) => {
    const workspace = await lockWorkspace(tx, workspaceId);
    if (!workspace) throw notFound("Workspace");
    const now = clock.now();
    if (changes.plan !== undefined) await settleAccount(tx, plans, workspaceId, now);
    const changed = { ...workspace, ...changes, updated_at: now };
    await updateWorkspace(tx, changed);
    // A plan that the operator sets comes instead of one that is subscribed to.
    if (changes.plan !== undefined) await removeSubscription(tx, workspaceId);
    await forgetHeadroom(tx, workspaceId);
    return changed;
  });
}
