/** What background jobs of a suspended workspace do: they wait. */
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { PutBack } from "#platform/jobs/attempt.ts";
import { findWorkspace } from "./store.ts";

/** How often it is looked whether a suspended workspace goes on. */
const SUSPENDED_SECONDS = 60;

/** To be called before each piece of work. @throws PutBack while the workspace is suspended */
export async function requireNotSuspended(db: Queryable, workspaceId: WorkspaceId): Promise<void> {
  const workspace = await findWorkspace(db, workspaceId);
  if (workspace?.is_suspended) throw new PutBack(SUSPENDED_SECONDS);
}
