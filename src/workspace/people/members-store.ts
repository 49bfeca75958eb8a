/** SQL that changes who is a member of a workspace. The caller holds the lock of the team (team/escalation.ts). */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { grantedRoleOf, type RoleColumns, type RoleReference } from "./granted-role.ts";

/** A membership with its role: a built-in one, or one of the workspace. */
export interface NewMembership extends RoleReference {
  readonly userId: string;
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
  await tx.run(
    sql`delete from workspace_members where workspace_id = ${workspaceId} and user_id = ${userId}`,
  );
}

/** Workspaces of one person that a page lists. */
export const MOST_WORKSPACES = 1_000;

/** A workspace of a person. */
export interface WorkspaceOfPerson extends RoleReference {
  readonly id: string;
  readonly name: string;
  readonly timezone: string;
  readonly is_suspended: boolean;
  readonly requires_second_factor: boolean;
  readonly joined_at: Date;
  /** Name of the role. */
  readonly roleName: string;
  readonly permissions: readonly string[];
}

/** By name. The rows belong to the person; the person's id takes the place of a workspace. */
export async function listWorkspacesOf(db: Queryable, userId: string): Promise<WorkspaceOfPerson[]> {
  const rows = await db.rows<Omit<WorkspaceOfPerson, "roleName" | "permissions"> & RoleColumns>(sql`
    select w.id, w.name, w.timezone, w.is_suspended, w.requires_second_factor, m.created_at as joined_at,
      m.built_in_role as "builtInRole", m.role_id as "roleId", r.name as "ownRoleName",
      r.permissions as "ownRolePermissions"
    from workspace_members m join workspaces w on w.id = m.workspace_id
    left join roles r on r.workspace_id = m.workspace_id and r.id = m.role_id
    where m.user_id = ${userId} order by lower(w.name), w.id limit ${MOST_WORKSPACES}`);
  return rows.map(({ ownRoleName, ownRolePermissions, ...row }) => {
    const { builtInRole, roleId } = row;
    const { name, permissions } = grantedRoleOf({ builtInRole, roleId, ownRoleName, ownRolePermissions });
    return { ...row, roleName: name, permissions };
  });
}
