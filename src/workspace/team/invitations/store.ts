/** SQL of invitations. Tokens are only hashed here. */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceRowLimit } from "#platform/database/row-limit-store.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { type GrantedRole, grantedRoleOf, type RoleColumns } from "#workspace/people/granted-role.ts";
import { hashToken } from "#workspace/people/open-session.ts";

/** A page lists all invitations at once. */
export const invitationRoom: WorkspaceRowLimit = {
  table: sql`invitations`,
  what: "invitations",
  most: 200,
  way: "revoke one first",
};

/** A person or an API key: one of the ids is null. */
export interface Inviter {
  readonly userId: string | null;
  readonly keyId: string | null;
  readonly name: string;
}

export interface Invitation {
  readonly id: string;
  /** Normalised. */
  readonly email: string;
  readonly role: GrantedRole;
  /** Who invited, or has sent the invitation again last. */
  readonly inviter: Inviter;
  readonly created_at: Date;
  readonly sent_at: Date;
  readonly expires_at: Date;
}

/** An invitation that was found by its token. */
export interface OpenInvitation extends Invitation {
  readonly workspaceId: WorkspaceId;
  readonly workspaceName: string;
}

type Selected = Omit<OpenInvitation, "role" | "inviter"> & RoleColumns & InviterColumns;

interface InviterColumns {
  readonly invitedBy: string | null;
  readonly invitedByKey: string | null;
  readonly invitedByName: string;
}

const selected = sql`
  select i.workspace_id as "workspaceId", w.name as "workspaceName", i.id, i.email, i.invited_by as "invitedBy",
    i.invited_by_key as "invitedByKey", i.invited_by_name as "invitedByName", i.created_at, i.sent_at, i.expires_at, i.built_in_role as "builtInRole",
    i.role_id as "roleId", r.name as "ownRoleName", r.permissions as "ownRolePermissions"
  from invitations i join workspaces w on w.id = i.workspace_id
  left join roles r on r.workspace_id = i.workspace_id and r.id = i.role_id`;

const invitationOf = ({
  ownRoleName,
  ownRolePermissions,
  builtInRole,
  roleId,
  invitedBy,
  invitedByKey,
  invitedByName,
  ...row
}: Selected): OpenInvitation => ({
  ...row,
  role: grantedRoleOf({ ownRoleName, ownRolePermissions, builtInRole, roleId }),
  inviter: { userId: invitedBy, keyId: invitedByKey, name: invitedByName },
});

/** Newest first. */
export async function listInvitations(db: Queryable, workspaceId: WorkspaceId): Promise<Invitation[]> {
  const rows = await db.rows<Selected>(sql`
    ${selected} where i.workspace_id = ${workspaceId} order by i.id desc limit ${invitationRoom.most}`);
  return rows.map(invitationOf);
}

/** Locks the invitation until the transaction ends. */
export async function lockInvitation(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<OpenInvitation | undefined> {
  return first(tx, sql`i.workspace_id = ${workspaceId} and i.id = ${id} for update of i`);
}

/** The one statement without a workspace: the token names it. Undefined when the invitation has ended. */
export async function findInvitationByToken(
  db: Queryable,
  token: string,
  now: Date,
): Promise<OpenInvitation | undefined> {
  return first(db, sql`i.token_hash = ${hashToken(token)} and i.expires_at > ${now}`);
}

/** Locks the invitation of a token until the transaction ends. Undefined when it has ended. */
export async function lockInvitationByToken(
  tx: Queryable,
  workspaceId: WorkspaceId,
  token: string,
  now: Date,
): Promise<OpenInvitation | undefined> {
  return first(
    tx,
    sql`i.workspace_id = ${workspaceId} and i.token_hash = ${hashToken(token)} and i.expires_at > ${now}
      for update of i`,
  );
}

async function first(db: Queryable, condition: Sql): Promise<OpenInvitation | undefined> {
  const row = await db.row<Selected>(sql`${selected} where ${condition}`);
  return row && invitationOf(row);
}

/** Replaces an invitation of the address that has ended. @returns false when an open one exists */
export async function insertInvitation(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { id, email, role, inviter, created_at, sent_at, expires_at }: Invitation,
  token: string,
): Promise<boolean> {
  await tx.run(sql`
    delete from invitations
    where workspace_id = ${workspaceId} and email = ${email} and expires_at <= ${created_at}`);
  const made = await tx.run(sql`
    insert into invitations (workspace_id, id, email, built_in_role, role_id, token_hash, invited_by, invited_by_key,
      invited_by_name, created_at, sent_at, expires_at)
    values (${workspaceId}, ${id}, ${email}, ${role.builtInRole}, ${role.roleId}, ${hashToken(token)}, ${inviter.userId},
      ${inviter.keyId}, ${inviter.name}, ${created_at}, ${sent_at}, ${expires_at})
    on conflict (workspace_id, email) do nothing`);
  return made === 1;
}

/** The old token stops working. The sender answers for the role from now on. */
export async function updateInvitationToken(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { id, inviter, sent_at, expires_at }: Pick<Invitation, "id" | "inviter" | "sent_at" | "expires_at">,
  token: string,
): Promise<void> {
  await tx.run(sql`
    update invitations set token_hash = ${hashToken(token)}, sent_at = ${sent_at}, expires_at = ${expires_at},
      invited_by = ${inviter.userId}, invited_by_key = ${inviter.keyId}, invited_by_name = ${inviter.name}
    where workspace_id = ${workspaceId} and id = ${id}`);
}

export async function removeInvitation(tx: Queryable, workspaceId: WorkspaceId, id: string): Promise<void> {
  await tx.run(sql`delete from invitations where workspace_id = ${workspaceId} and id = ${id}`);
}

/** Removes what a teammate has offered and that is not accepted yet. */
export async function removeInvitationsBy(
  tx: Queryable,
  workspaceId: WorkspaceId,
  userId: string,
): Promise<void> {
  await tx.run(sql`delete from invitations where workspace_id = ${workspaceId} and invited_by = ${userId}`);
}

/** Invitations that were not accepted are kept so long after their end: until then they can be sent again. */
export const ENDED_INVITATION_DAYS = 30;

/** Of all workspaces. */
export function removeEndedInvitations(db: Queryable, before: Date, most: number): Promise<number> {
  return db.run(sql`
    delete from invitations where (workspace_id, id) in (
      select workspace_id, id from invitations where expires_at < ${before} limit ${most})`);
}
