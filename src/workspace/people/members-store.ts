/** SQL that changes who is a member of a workspace. The caller holds the lock of the team (team/escalation.ts). */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** A membership with its role: a built-in one, or one of the workspace. */
export interface NewMembership {
  readonly userId: string;
  readonly builtInRole: string | null;
  readonly roleId: string | null;
}

/** @returns false when the person is a member already; the role then stays */
export async function insertWorkspaceMember(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { userId, builtInRole, roleId }: NewMembership,
  now: Date,
): Promise<boolean> {
  const made = await tx.run(sql`
    insert into workspace_members (workspace_id, user_id, built_in_role, role_id, created_at)
    values (${workspaceId}, ${userId}, ${builtInRole}, ${roleId}, ${now}) on conflict do nothing`);
  return made === 1;
}

export async function updateWorkspaceMember(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { userId, builtInRole, roleId }: NewMembership,
): Promise<void> {
  await tx.run(sql`
    update workspace_members set built_in_role = ${builtInRole}, role_id = ${roleId}
    where workspace_id = ${workspaceId} and user_id = ${userId}`);
}

export async function removeWorkspaceMember(
  tx: Queryable,
  workspaceId: WorkspaceId,
  userId: string,
): Promise<void> {
  await tx.run(sql`delete from workspace_members where workspace_id = ${workspaceId} and user_id = ${userId}`);
}
