/** SQL of sessions and memberships that every request of a person needs. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { PersonActor } from "#platform/http/auth/caller.ts";
import type { MembershipRecord } from "#platform/http/authenticate.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { builtInRoles } from "./built-in-roles.ts";

/** A session ends when it was not used for this long. */
const IDLE_DAYS = 14;
/** seen_at is written at most once in this time. */
const SEEN_SECONDS = 60;

/** Implements FindSession of platform/http/authenticate.ts, and notes that the session is used. */
export async function findSession(
  db: Queryable,
  tokenHash: Buffer,
  now: Date,
): Promise<PersonActor | undefined> {
  const found = await db.row<Omit<PersonActor, "kind"> & { seenAt: Date }>(
    sql`
    select u.id, u.name, u.email, u.is_operator as "isOperator", s.id as "sessionId", s.seen_at as "seenAt",
      s.confirmed_at as "confirmedAt", s.has_second_factor as "hasSecondFactor"
    from sessions s join users u on u.id = s.user_id
    where s.token_hash = ${tokenHash} and s.expires_at > ${now}
      and s.seen_at > ${now}::timestamptz - make_interval(days => ${IDLE_DAYS}) and u.disabled_at is null`,
    "find session",
  );
  if (found === undefined) return undefined;
  const { seenAt, ...person } = found;
  if (now.getTime() - seenAt.getTime() >= SEEN_SECONDS * 1_000) {
    await db.run(
      sql`update sessions set seen_at = ${now} where token_hash = ${tokenHash} and seen_at < ${now}`,
    );
  }
  return { kind: "person", ...person };
}

/** The role of a member: `key` of a built-in one, or permissions of one that the workspace has made. */
interface HeldRole {
  readonly builtInRole: string | null;
  readonly rolePermissions: readonly string[] | null;
}

/** A built-in role that this version does not know gives no permission. */
function permissionsOfRole({ builtInRole, rolePermissions }: HeldRole): readonly string[] {
  return builtInRole === null ? (rolePermissions ?? []) : (builtInRoles.get(builtInRole)?.permissions ?? []);
}

/** Implements FindMembership of platform/http/authenticate.ts. */
export async function findMembership(
  db: Queryable,
  userId: string,
  workspaceId: string,
): Promise<MembershipRecord | undefined> {
  const found = await db.row<Omit<MembershipRecord, "permissions"> & HeldRole>(
    sql`
    select m.workspace_id as "workspaceId", w.timezone, w.is_suspended as "isSuspended",
      w.default_sender as "defaultSender", w.retry_hours as "retryHours", w.tracks_transactional as "tracksTransactional",
      w.requires_second_factor as "requiresSecondFactor", m.built_in_role as "builtInRole",
      r.permissions as "rolePermissions"
    from workspace_members m join workspaces w on w.id = m.workspace_id
    left join roles r on r.workspace_id = m.workspace_id and r.id = m.role_id
    where m.workspace_id = ${workspaceId} and m.user_id = ${userId}`,
    "find membership",
  );
  if (found === undefined) return undefined;
  const { builtInRole, rolePermissions, ...workspace } = found;
  return { ...workspace, permissions: permissionsOfRole({ builtInRole, rolePermissions }) };
}

/**
 * The permissions that a member has now, undefined for others. Locks the membership and its role until the transaction
 * ends, so that they do not change between a check and the write.
 */
export async function lockMemberPermissions(
  tx: Queryable,
  workspaceId: WorkspaceId,
  userId: string,
): Promise<readonly string[] | undefined> {
  const member = await tx.row<{ builtInRole: string | null; roleId: string | null }>(sql`
    select built_in_role as "builtInRole", role_id as "roleId" from workspace_members
    where workspace_id = ${workspaceId} and user_id = ${userId} for share`);
  if (member === undefined) return undefined;
  const role = await tx.row<{ permissions: string[] }>(sql`
    select permissions from roles where workspace_id = ${workspaceId} and id = ${member.roleId} for share`);
  return permissionsOfRole({ builtInRole: member.builtInRole, rolePermissions: role?.permissions ?? null });
}
