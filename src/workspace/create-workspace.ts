/** Creates workspaces. One without people gets an API key with full access: it could not be reached over HTTP otherwise. */
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { asWorkspaceId, newId, type WorkspaceId } from "#platform/ids.ts";
import { DEFAULT_LANGUAGE } from "#platform/languages/language.ts";
import type { IssuedKey } from "./api-keys/api-key.ts";
import { issueKey } from "./api-keys/issue.ts";
import { insertAccount } from "./billing/account-store.ts";
import {
  findWorkspace,
  insertWorkspace,
  installationWorkspaceId,
  lockWhetherEmpty,
} from "./workspaces/store.ts";
import { type PlanName, STANDARD_RETRY_HOURS, type Workspace } from "./workspaces/workspace.ts";

type NewWorkspace = Pick<Workspace, "name" | "timezone" | "plan">;

/** Creates the workspace in the caller's transaction; workspaces/workspace.ts has validated the settings. */
export async function createWorkspaceWithoutKey(
  tx: Queryable,
  settings: NewWorkspace,
  now: Date,
): Promise<Workspace> {
  const workspace = workspaceWith(asWorkspaceId(newId()), settings, now);
  await insertWorkspace(tx, workspace);
  await insertAccount(tx, workspace.id);
  return workspace;
}

/**
 * Creates the workspace and its key in the caller's transaction; workspaces/workspace.ts has validated the settings.
 * @param secret the value of the key; generated when absent
 */
export async function createWorkspace(
  tx: Queryable,
  settings: NewWorkspace,
  clock: Clock,
  secret?: string,
): Promise<{ workspace: Workspace; key: IssuedKey }> {
  const now = clock.now();
  const workspace = await createWorkspaceWithoutKey(tx, settings, now);
  const given = { name: "First key", permissions: ["*:*"], expires_at: null };
  return { workspace, key: await issueKey(tx, workspace.id, given, now, secret) };
}

function workspaceWith(id: WorkspaceId, settings: NewWorkspace, now: Date): Workspace {
  return {
    ...settings,
    id,
    hourly_cap: null,
    own_hourly_cap: null,
    notify_email: null,
    default_sender: null,
    retry_hours: STANDARD_RETRY_HOURS,
    tracks_transactional: false,
    requires_second_factor: false,
    language: DEFAULT_LANGUAGE,
    language_field: null,
    is_suspended: false,
    suspended_at: null,
    created_at: now,
    updated_at: now,
  };
}

/** Creates the workspace of the mails about accounts, if it is missing. */
export async function ensureInstallationWorkspace(tx: Queryable, clock: Clock): Promise<WorkspaceId> {
  if ((await findWorkspace(tx, installationWorkspaceId)) !== undefined) return installationWorkspaceId;
  const settings = { name: "Posthaste", timezone: "UTC", plan: "enterprise" } as const;
  await insertWorkspace(tx, workspaceWith(installationWorkspaceId, settings, clock.now()), {
    mayExist: true,
  });
  await insertAccount(tx, installationWorkspaceId);
  return installationWorkspaceId;
}

/** The workspace that the first start of an installation creates, so that the API can be called at once. */
export interface FirstWorkspace {
  readonly workspaceId: WorkspaceId;
  /** The key's secret, to be printed once; null when the operator chose it (BOOTSTRAP_API_KEY). */
  readonly generatedSecret: string | null;
}

/**
 * Creates the first workspace; undefined when there is one already. Of several machines that start at once, one creates
 * it.
 * Later starts ignore BOOTSTRAP_API_KEY and BOOTSTRAP_PLAN: a key that the operator has deleted stays deleted even
 * while the setting still names it. `posthaste key create` replaces a lost key.
 */
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
