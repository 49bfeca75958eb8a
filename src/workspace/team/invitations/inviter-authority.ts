/** An invitation is worth what its inviter may still give: a right that they lose meanwhile cannot be handed on by it. */
import type { Queryable } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import type { PersonActor } from "#platform/http/auth/caller.ts";
import { missingPermissions } from "#platform/http/authenticate.ts";
import { need, permissionOf } from "#platform/http/endpoint.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { listKeyPermissions } from "#workspace/api-keys/store.ts";
import { type GrantedRole, isOwnerRole } from "#workspace/people/granted-role.ts";
import { team } from "#workspace/team/permission.ts";
import { findTeammate } from "#workspace/team/teammate-store.ts";
import type { Inviter, OpenInvitation } from "./store.ts";

export function inviterOf({
  kind,
  id,
  name,
}: Pick<PersonActor, "id" | "name"> & { readonly kind: string }): Inviter {
  return { userId: kind === "person" ? id : null, keyId: kind === "key" ? id : null, name };
}

/**
 * Called under lockTeam where a person joins.
 * @throws ApiError CONFLICT when the inviter could not send the invitation now: the person is disabled or no member, the key
 * is deactivated, expired or deleted, or their permissions do not cover the role any more
 */
export async function requireInviterMayGrant(
  tx: Queryable,
  { workspaceId, role, inviter }: OpenInvitation,
  now: Date,
): Promise<void> {
  if (await mayGrant(tx, workspaceId, inviter, role, now)) return;
  throw new ApiError(
    "CONFLICT",
    `${inviter.name}, who invited you, may not give this role any more: ask a teammate to send the invitation again`,
  );
}

async function mayGrant(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { userId, keyId }: Inviter,
  role: GrantedRole,
  now: Date,
): Promise<boolean> {
  const wanted = [permissionOf(need(team, "write")), ...role.permissions];
  const covers = (held: readonly string[]) => missingPermissions(held, wanted).length === 0;
  if (userId !== null) {
    const person = await findTeammate(tx, workspaceId, userId);
    if (person === undefined || person.is_disabled || !covers(person.role.permissions)) return false;
    return isOwnerRole(person.role) || !isOwnerRole(role);
  }
  if (keyId === null) return true;
  const [held] = await listKeyPermissions(tx, [{ workspaceId, id: keyId }], now);
  return held !== undefined && covers(held) && !isOwnerRole(role);
}
