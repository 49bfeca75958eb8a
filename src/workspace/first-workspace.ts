/**
 * The first start: an installation without any workspace gets one, so that the API can be called at once.
 *
 * This happens once. On later starts BOOTSTRAP_API_KEY and BOOTSTRAP_PLAN change nothing: a key that an operator
 * has deleted or replaced stays dead even while the setting still names it, and a lost key is replaced with
 * `posthaste key create`.
 */
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { createWorkspace } from "./create-workspace.ts";
import { lockWhetherEmpty } from "./workspaces/store.ts";
import type { PlanName } from "./workspaces/workspace.ts";

export interface FirstWorkspace {
  readonly workspaceId: WorkspaceId;
  /** The key's secret, to be printed once; null when the operator chose it and so knows it. */
  readonly generatedSecret: string | null;
}

/** Makes the first workspace, unless there is one already (then undefined); safe from several machines at once. */
export function createFirstWorkspace(
  db: Database,
  bootstrap: { readonly secret: string | null; readonly plan: PlanName },
  clock: Clock,
): Promise<FirstWorkspace | undefined> {
  return db.transaction(async (tx) => {
    if (!(await lockWhetherEmpty(tx))) return undefined;
    const settings = { name: "Default", timezone: "UTC", plan: bootstrap.plan };
    const { workspace, key } = await createWorkspace(tx, settings, clock, bootstrap.secret ?? undefined);
    return { workspaceId: workspace.id, generatedSecret: bootstrap.secret === null ? key.key : null };
  });
}
