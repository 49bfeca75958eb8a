/**
 * Limits the changes that a caller, an API key or a member, may make to keys. Without these rules, `api_keys:write` alone would be worth
 * `*:*`, or would suffice to lock out the owner of the workspace:
 *
 * - No caller makes a key stronger than itself: what a call leaves usable (a new key, changed permissions, a new secret, a
 *   reactivated key, a later expiry) must be covered by the permissions of the caller.
 * - No caller changes a key that is stronger than itself: it may not deactivate, delete, narrow or rename it either.
 * - The last active key with every permission stays: it cannot be deactivated, deleted, narrowed or made to expire
 *   sooner unless another such key remains.
 *
 * A wildcard is covered only by the same or a wider wildcard, never by a list of the permissions that it grants now.
 *
 * The check and the write are one transaction that locks both rows, the caller's and the changed key's. The
 * caller's permissions are read again under that lock: the authenticator's cache is some seconds old, and two
 * concurrent calls must not raise each other's permissions.
 */

import type { Queryable } from "#platform/database/pool.ts";
import { ApiError, notFound } from "#platform/errors.ts";
import type { Caller } from "#platform/http/auth/caller.ts";
import { requirePermissions } from "#platform/http/authenticate.ts";
import { lockMemberPermissions } from "#workspace/people/store.ts";
import type { ApiKey } from "./api-key.ts";
import { lockKeys, lockKeysAndHolders } from "./store.ts";

const EVERYTHING = "*:*";

export interface ChangeOfKey {
  /** The caller with the permissions it has now. */
  readonly own: Caller;
  readonly key: ApiKey;
  /** Other keys of the workspace that hold every permission and can be used now. */
  readonly otherOwners: readonly ApiKey[];
}

/**
 * @param after the key as the change leaves it; null: deleted
 * @throws ApiError INSUFFICIENT_SCOPE when the key, before or after, has permissions that the caller lacks; CONFLICT
 * when it is the last active key with every permission and would lose them, or sooner
 */
export function requireChangeable(
  { own, key, otherOwners }: ChangeOfKey,
  after: ApiKey | null,
  now: Date,
): void {
  requirePermissions(own, [...new Set([...key.permissions, ...(after?.permissions ?? [])])]);
  if (otherOwners.length > 0 || usableUntil(key, now) <= usableUntil(after, now)) return;
  throw new ApiError(
    "CONFLICT",
    `This is the last active API key with every permission (${EVERYTHING}): make another one first, so that the workspace can still be managed`,
  );
}

/** Until when a key holds every permission, in milliseconds; 0 when it does not. */
function usableUntil(key: ApiKey | null, now: Date): number {
  if (key === null || !key.is_active || !key.permissions.includes(EVERYTHING)) return 0;
  if (key.expires_at === null) return Number.POSITIVE_INFINITY;
  return key.expires_at > now ? key.expires_at.getTime() : 0;
}

/**
 * The caller with the permissions it has now, locked until the transaction ends.
 * @throws ApiError UNAUTHORIZED when the calling key has been deactivated or has expired; FORBIDDEN when the person is no
 * member any more
 */
export async function lockCaller(tx: Queryable, caller: Caller, now: Date): Promise<Caller> {
  const { workspaceId, actor } = caller;
  if (actor.kind === "person") {
    const permissions = await lockMemberPermissions(tx, workspaceId, actor.id);
    if (permissions === undefined)
      throw new ApiError("FORBIDDEN", "You are no longer a member of this workspace");
    return { ...caller, permissions };
  }
  const [calling] = await lockKeys(tx, workspaceId, [actor.id]);
  return { ...caller, permissions: permissionsOfUsable(calling, now) };
}

/** @throws ApiError UNAUTHORIZED */
function permissionsOfUsable(key: ApiKey | undefined, now: Date): readonly string[] {
  if (!key?.is_active || (key.expires_at !== null && key.expires_at <= now))
    throw new ApiError("UNAUTHORIZED");
  return key.permissions;
}

/**
 * Locks the caller, the key to change and all keys with every permission, so that the second of two concurrent calls sees
 * what the first has left. Keys are locked together, in the order of their ids.
 * @throws ApiError NOT_FOUND for the key to change; as lockCaller
 */
export async function lockForChange(
  tx: Queryable,
  caller: Caller,
  now: Date,
  id: string,
): Promise<ChangeOfKey> {
  const { workspaceId, actor } = caller;
  const own = actor.kind === "person" ? await lockCaller(tx, caller, now) : undefined;
  const ids = actor.kind === "person" ? [id] : [actor.id, id];
  const keys = await lockKeysAndHolders(tx, workspaceId, ids, EVERYTHING);
  const calling = keys.find((key) => key.id === actor.id);
  const permissions = own?.permissions ?? permissionsOfUsable(calling, now);
  const key = keys.find((candidate) => candidate.id === id.toLowerCase());
  if (!key) throw notFound("API key");
  return {
    own: { ...caller, permissions },
    key,
    otherOwners: keys.filter((other) => other.id !== key.id && usableUntil(other, now) > 0),
  };
}
