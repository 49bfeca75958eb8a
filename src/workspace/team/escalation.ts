/**
 * Limits the changes that a caller, a member or an API key, may make to the team and to roles:
 *
 * - No caller grants, changes or removes what it does not have: the permissions of a role, before and after the change, must be
 *   covered by the permissions that the caller has now.
 * - Only people who are owners make and remove owners. An API key never does, because an admin can create one with `*:*`.
 * - The last owner who can sign in stays.
 *
 * The check and the write are one transaction. Changes of one team wait for each other (lockTeam), and rows are locked in the
 * order membership, role, key, as api-keys/escalation.ts locks them.
 */
import type { Queryable } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import type { Caller } from "#platform/http/auth/caller.ts";
import { requirePermissions } from "#platform/http/authenticate.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { lockCaller } from "#workspace/api-keys/escalation.ts";
import { type GrantedRole, isOwnerRole } from "#workspace/people/granted-role.ts";
import { findTeammate, hasOtherOwner } from "./teammate-store.ts";

/** The caller with the rights it has now, locked until the transaction ends. */
export interface TeamAuthority {
  readonly own: Caller;
  readonly isOwner: boolean;
}

/**
 * Called under lockTeam, after the rows to change are locked.
 * @throws ApiError as lockCaller
 */
export async function lockAuthority(tx: Queryable, caller: Caller, now: Date): Promise<TeamAuthority> {
  const own = await lockCaller(tx, caller, now);
  if (own.actor.kind === "key") return { own, isOwner: false };
  const self = await findTeammate(tx, own.workspaceId, own.actor.id);
  return { own, isOwner: self !== undefined && isOwnerRole(self.role) };
}

/**
 * @param roles those that a person, an invitation or a role has before and after the change
 * @throws ApiError INSUFFICIENT_SCOPE with the permissions that the caller lacks; FORBIDDEN when an owner is made or removed
 * by another caller
 */
export function requireMayGrant({ own, isOwner }: TeamAuthority, ...roles: readonly GrantedRole[]): void {
  requirePermissions(
    own,
    roles.flatMap(({ permissions }) => permissions),
  );
  if (isOwner || !roles.some(isOwnerRole)) return;
  throw new ApiError(
    "FORBIDDEN",
    "Only owners make and remove owners, signed in as themselves: API keys cannot",
  );
}

/** @throws ApiError CONFLICT when the person is the last owner who can sign in */
export async function requireOtherOwner(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { id, role }: { readonly id: string; readonly role: GrantedRole },
): Promise<void> {
  if (!isOwnerRole(role) || (await hasOtherOwner(tx, workspaceId, id))) return;
  throw new ApiError(
    "CONFLICT",
    "This is the last owner of the workspace: make another teammate an owner first",
  );
}
