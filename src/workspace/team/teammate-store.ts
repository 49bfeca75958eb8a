/** SQL that reads the members of a workspace. */
import sql, { empty } from "sql-template-tag";
import { lockKey } from "#platform/database/advisory-lock-key.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceRowLimit } from "#platform/database/row-limit-store.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { type GrantedRole, grantedRoleOf, type RoleColumns } from "#workspace/people/granted-role.ts";

/** A page lists all members at once. */
export const teammateRoom: WorkspaceRowLimit = {
  table: sql`workspace_members`,
  what: "teammates",
  most: 1_000,
  way: "remove one first",
};

export interface TeammateRow {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly role: GrantedRole;
  readonly joined_at: Date;
  readonly is_disabled: boolean;
  readonly last_seen_at: Date | null;
}

type Selected = Omit<TeammateRow, "role"> & RoleColumns;

const selected = sql`
  select u.id, u.name, u.email, m.created_at as joined_at, u.disabled_at is not null as is_disabled,
    m.last_seen_at,
    m.built_in_role as "builtInRole", m.role_id as "roleId", r.name as "ownRoleName",
    r.permissions as "ownRolePermissions"
  from workspace_members m join users u on u.id = m.user_id
  left join roles r on r.workspace_id = m.workspace_id and r.id = m.role_id`;

const teammateOf = ({
  id,
  name,
  email,
  joined_at,
  is_disabled,
  last_seen_at,
  ...role
}: Selected): TeammateRow => ({
  id,
  name,
  email,
  role: grantedRoleOf(role),
  joined_at,
  is_disabled,
  last_seen_at,
});

/** By name. */
export async function listTeammates(db: Queryable, workspaceId: WorkspaceId): Promise<TeammateRow[]> {
  const rows = await db.rows<Selected>(sql`
    ${selected} where m.workspace_id = ${workspaceId} order by lower(u.name), u.id limit ${teammateRoom.most}`);
  return rows.map(teammateOf);
}

export async function findTeammate(
  db: Queryable,
  workspaceId: WorkspaceId,
  userId: string,
  lock: "unlocked" | "locked" = "unlocked",
): Promise<TeammateRow | undefined> {
  const row = await db.row<Selected>(sql`
    ${selected} where m.workspace_id = ${workspaceId} and m.user_id = ${userId}
    ${lock === "locked" ? sql`for update of m` : empty}`);
  return row && teammateOf(row);
}

export async function isTeammate(db: Queryable, workspaceId: WorkspaceId, email: string): Promise<boolean> {
  const row = await db.row(sql`
    select from workspace_members m join users u on u.id = m.user_id
    where m.workspace_id = ${workspaceId} and u.email = ${email}`);
  return row !== undefined;
}

/** Whether another person is an owner who can sign in. */
export async function hasOtherOwner(
  tx: Queryable,
  workspaceId: WorkspaceId,
  userId: string,
): Promise<boolean> {
  const row = await tx.row(sql`
    select from workspace_members m join users u on u.id = m.user_id
    where m.workspace_id = ${workspaceId} and m.built_in_role = 'owner' and m.user_id <> ${userId}
      and u.disabled_at is null
    limit 1`);
  return row !== undefined;
}

/** Makes other changes of this team wait for the end of the transaction. */
export async function lockTeam(tx: Queryable, workspaceId: WorkspaceId): Promise<void> {
  await tx.run(sql`select pg_advisory_xact_lock(${lockKey(`team of ${workspaceId}`)})`);
}
