/** SQL of the roles that workspaces have made. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceRowLimit } from "#platform/database/row-limit-store.ts";
import type { WorkspaceId } from "#platform/ids.ts";

export interface OwnRole {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly permissions: readonly string[];
  readonly created_at: Date;
}

/** A page lists all roles at once. */
export const roleRoom: WorkspaceRowLimit = { table: sql`roles`, what: "roles of your own", most: 100 };

const columns = sql`id, name, description, permissions, created_at`;

/** By name. */
export function listOwnRoles(db: Queryable, workspaceId: WorkspaceId): Promise<OwnRole[]> {
  return db.rows(sql`
    select ${columns} from roles where workspace_id = ${workspaceId}
    order by lower(name), id limit ${roleRoom.most}`);
}

export function findOwnRole(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<OwnRole | undefined> {
  return db.row(sql`select ${columns} from roles where workspace_id = ${workspaceId} and id = ${id}`);
}

/** Locks the role until the transaction ends; members cannot use it meanwhile to change keys or people. */
export function lockOwnRole(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<OwnRole | undefined> {
  return tx.row(sql`
    select ${columns} from roles where workspace_id = ${workspaceId} and id = ${id} for update`);
}

/** Whether another role has the name, without regard to case. */
export async function hasRoleNamed(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { id, name }: Pick<OwnRole, "id" | "name">,
): Promise<boolean> {
  const row = await tx.row(sql`
    select from roles where workspace_id = ${workspaceId} and lower(name) = lower(${name}) and id <> ${id} limit 1`);
  return row !== undefined;
}

export async function insertRole(tx: Queryable, workspaceId: WorkspaceId, role: OwnRole): Promise<void> {
  await tx.run(sql`
    insert into roles (workspace_id, ${columns})
    values (${workspaceId}, ${role.id}, ${role.name}, ${role.description}, ${role.permissions}, ${role.created_at})`);
}

export async function updateOwnRole(tx: Queryable, workspaceId: WorkspaceId, role: OwnRole): Promise<void> {
  await tx.run(sql`
    update roles set name = ${role.name}, description = ${role.description}, permissions = ${role.permissions}
    where workspace_id = ${workspaceId} and id = ${role.id}`);
}

export async function removeRole(tx: Queryable, workspaceId: WorkspaceId, id: string): Promise<void> {
  await tx.run(sql`delete from roles where workspace_id = ${workspaceId} and id = ${id}`);
}

/** How many members hold each role, by the id or the word of the role. */
export async function countHolders(
  db: Queryable,
  workspaceId: WorkspaceId,
): Promise<ReadonlyMap<string, number>> {
  const rows = await db.rows<{ role: string; holders: number }>(sql`
    select coalesce(built_in_role, role_id::text) as role, count(*) as holders from workspace_members
    where workspace_id = ${workspaceId} group by 1`);
  return new Map(rows.map(({ role, holders }) => [role, holders]));
}

/** Members and invitations with the role. Invitations that have expired count: they can be sent again. */
export async function usesOfRole(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<{ readonly members: number; readonly invitations: number }> {
  const counted = await tx.row<{ members: number; invitations: number }>(sql`
    select (select count(*) from workspace_members where workspace_id = ${workspaceId} and role_id = ${id}) as members,
      (select count(*) from invitations where workspace_id = ${workspaceId} and role_id = ${id}) as invitations`);
  return counted ?? { members: 0, invitations: 0 };
}
