/** Background jobs of a suspended workspace wait until it is active again. */
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { PutBack } from "#platform/jobs/attempt.ts";
import { findWorkspace } from "./store.ts";

/** Delay before a job of a suspended workspace is tried again. */
const SUSPENDED_SECONDS = 60;

/**
 * Called before each step of a job.
 * @throws PutBack while the workspace is suspended
 */
export async function requireNotSuspended(db: Queryable, workspaceId: WorkspaceId): Promise<void> {
  const workspace = await findWorkspace(db, workspaceId);
  if (workspace?.is_suspended) throw new PutBack(SUSPENDED_SECONDS);
}
