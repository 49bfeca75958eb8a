/** Changes to a workspace: by the operator, from the command line or over HTTP, and by its own people. */
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
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
    | "name"
    | "timezone"
    | "plan"
    | "hourly_cap"
    | "own_hourly_cap"
    | "notify_email"
    | "default_sender"
    | "retry_hours"
    | "tracks_transactional"
    | "requires_second_factor"
    | "language"
    | "language_field"
    | "is_suspended"
  >
>;

interface ChangeDeps {
  readonly clock: Clock;
  readonly plans: Plans;
}

/** As `changeWorkspaceIn`, in a transaction of its own. */
export function changeWorkspace(
  db: Database,
  workspaceId: WorkspaceId,
  changes: WorkspaceChanges,
  deps: ChangeDeps,
): Promise<Workspace> {
  return db.transaction((tx) => changeWorkspaceIn(tx, workspaceId, changes, deps));
}

/**
 * Changes the given settings and leaves the others; workspaces/workspace.ts has validated the values. A running API
 * applies them within two seconds, when its cached key records expire. A new plan applies from now on: earlier usage is
 * charged under the old plan.
 * @throws ApiError NOT_FOUND
 */
export async function changeWorkspaceIn(
  tx: Queryable,
  workspaceId: WorkspaceId,
  changes: WorkspaceChanges,
  { clock, plans }: ChangeDeps,
): Promise<Workspace> {
  const workspace = await lockWorkspace(tx, workspaceId);
  if (!workspace) throw notFound("Workspace");
  const now = clock.now();
  if (changes.plan !== undefined) await settleAccount(tx, plans, workspaceId, now);
  const { is_suspended = workspace.is_suspended } = changes;
  const suspended_at = is_suspended ? (workspace.suspended_at ?? now) : null;
  const changed = { ...workspace, ...changes, suspended_at, updated_at: now };
  await updateWorkspace(tx, changed);
  // The operator's plan replaces a subscription.
  if (changes.plan !== undefined) await removeSubscription(tx, workspaceId);
  await forgetHeadroom(tx, workspaceId);
  return changed;
}
