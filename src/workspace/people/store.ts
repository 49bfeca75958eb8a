/** SQL of sessions and memberships that every request of a person needs. */
import sql from "sql-template-tag";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import type { PersonActor } from "#platform/http/auth/caller.ts";
import { LastUses, type TimeOfUse } from "#platform/http/auth/last-uses.ts";
import type { MembershipRecord } from "#platform/http/authenticate.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Log } from "#platform/log/log.ts";
import { permissionsOfRole, type RoleColumns } from "./granted-role.ts";

/** A session ends when it was not used for this long. */
export const IDLE_DAYS = 14;
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

/** The columns of a member's role from which its permissions follow. */
type HeldRole = Pick<RoleColumns, "builtInRole" | "ownRolePermissions">;

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
      r.permissions as "ownRolePermissions"
    from workspace_members m join workspaces w on w.id = m.workspace_id
    left join roles r on r.workspace_id = m.workspace_id and r.id = m.role_id
    where m.workspace_id = ${workspaceId} and m.user_id = ${userId}`,
    "find membership",
  );
  if (found === undefined) return undefined;
  const { builtInRole, ownRolePermissions, ...workspace } = found;
  return { ...workspace, permissions: permissionsOfRole({ builtInRole, ownRolePermissions }) };
}

/** Collects when members last worked in a workspace, and writes last_seen_at to the hour. */
export function createLastSeen(options: { db: Database; clock: Clock; log: Pick<Log, "warn"> }): LastUses {
  const { db, clock, log } = options;
  return new LastUses({
    column: "last_seen_at of members",
    seconds: 3_600,
    write: (uses, minimumSeconds) => updateLastSeen(db, uses, minimumSeconds),
    clock,
    log,
  });
}

/**
 * Writes when many members last worked in a workspace, at most once in `minimumSeconds` for each, whichever machine reports
 * it. A row that a change of the team has locked is skipped.
 */
function updateLastSeen(db: Queryable, uses: readonly TimeOfUse[], minimumSeconds: number): Promise<number> {
  return db.run(sql`
    with due as (
      select m.workspace_id, m.user_id, used.at
      from unnest(${uses.map(({ workspaceId }) => workspaceId)}::uuid[], ${uses.map(({ id }) => id)}::uuid[],
        ${uses.map(({ at }) => at)}::timestamptz[]) as used (workspace_id, user_id, at)
      join workspace_members m on m.workspace_id = used.workspace_id and m.user_id = used.user_id
      where m.last_seen_at is null or m.last_seen_at <= used.at - make_interval(secs => ${minimumSeconds})
      for no key update of m skip locked
    )
    update workspace_members m set last_seen_at = due.at from due
    where m.workspace_id = due.workspace_id and m.user_id = due.user_id`);
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
  return permissionsOfRole({
    builtInRole: member.builtInRole,
    ownRolePermissions: role?.permissions ?? null,
  });
}

/** The permissions of members in their order; undefined where the session has ended or the person is no member any more. */
export async function listMemberPermissions(
  db: Queryable,
  members: readonly {
    readonly workspaceId: WorkspaceId;
    readonly userId: string;
    readonly sessionId: string;
  }[],
  now: Date,
): Promise<(readonly string[] | undefined)[]> {
  const rows = await db.rows<HeldRole & { readonly isMember: boolean }>(
    sql`
    select m.user_id is not null as "isMember", m.built_in_role as "builtInRole", r.permissions as "ownRolePermissions"
    from unnest(${members.map(({ workspaceId }) => workspaceId)}::uuid[], ${members.map(({ userId }) => userId)}::uuid[],
      ${members.map(({ sessionId }) => sessionId)}::uuid[])
      with ordinality as x (workspace_id, user_id, session_id, place)
    left join sessions s on s.user_id = x.user_id and s.id = x.session_id and s.expires_at > ${now}
      and s.seen_at > ${now}::timestamptz - make_interval(days => ${IDLE_DAYS})
    left join users u on u.id = s.user_id and u.disabled_at is null
    left join workspaces w on w.id = x.workspace_id and (not w.requires_second_factor or s.has_second_factor)
    left join workspace_members m on m.workspace_id = w.id and m.user_id = u.id
    left join roles r on r.workspace_id = m.workspace_id and r.id = m.role_id
    order by x.place`,
    "member permissions",
  );
  return rows.map(({ isMember, ...role }) => (isMember ? permissionsOfRole(role) : undefined));
}
