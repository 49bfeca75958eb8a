/** A new workspace, always with a key that may do everything: without one nobody could reach it over HTTP. */
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { asWorkspaceId, newId, type WorkspaceId } from "#platform/ids.ts";
import type { IssuedKey } from "./api-keys/api-key.ts";
import { issueKey } from "./api-keys/issue.ts";
import { insertAccount } from "./billing/account-store.ts";
import { insertWorkspace, lockWhetherEmpty } from "./workspaces/store.ts";
import { type PlanName, STANDARD_RETRY_HOURS, type Workspace } from "./workspaces/workspace.ts";

/**
 * Makes both in the given transaction. The settings have been read by workspaces/workspace.ts; `secret` fixes the
 * key's value and is generated when absent.
 */
export async function createWorkspace(
  tx: Queryable,
  settings: Pick<Workspace, "name" | "timezone" | "plan">,
  clock: Clock,
  secret?: string,
): Promise<{ workspace: Workspace; key: IssuedKey }> {
  const now = clock.now();
  const workspace: Workspace = {
    ...settings,
    id: asWorkspaceId(newId()),
    hourly_cap: null,
    notify_email: null,
    default_sender: null,
    retry_hours: STANDARD_RETRY_HOURS,
    tracks_transactional: false,
    is_suspended: false,
    created_at: now,
    updated_at: now,
  };
  await insertWorkspace(tx, workspace);
  await insertAccount(tx, workspace.id);
  const given = { name: "First key", permissions: ["*:*"], expires_at: null };
  return { workspace, key: await issueKey(tx, workspace.id, given, now, secret) };
}

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
