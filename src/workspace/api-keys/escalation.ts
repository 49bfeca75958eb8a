/**
 * Limits the changes that an API key may make to other keys. Without these rules, `api_keys:write` alone would be worth
 * `*:*`, or would suffice to lock out the owner of the workspace:
 *
 * - No key makes a key stronger than itself: what a call leaves usable (a new key, changed permissions, a new secret, a
 *   reactivated key, a later expiry) must be covered by the permissions of the calling key.
 * - No key changes one that is stronger than itself: it may not deactivate, delete, narrow or rename it either.
 * - The last active key with every permission stays: it cannot be deactivated, deleted, narrowed or made to expire
 *   sooner unless another such key remains.
 *
 * A wildcard is covered only by the same or a wider wildcard, never by a list of the permissions that it grants now.
 *
 * The check and the write are one transaction that locks both rows, the calling key's and the changed key's. The
 * caller's permissions are read again under that lock: the authenticator's cache is some seconds old, and two
 * concurrent calls must not raise each other's permissions.
 */

import type { Queryable } from "#platform/database/pool.ts";
import { ApiError, notFound } from "#platform/errors.ts";
import type { Caller } from "#platform/http/auth/caller.ts";
import { requirePermissions } from "#platform/http/authenticate.ts";
import type { ApiKey } from "./api-key.ts";
import { lockKeysAndHolders } from "./store.ts";

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
 * Locks the calling key, the key to change (by default the calling key) and all keys with every permission, so that the
 * second of two concurrent calls sees what the first has left.
 * @throws ApiError NOT_FOUND for the key to change, UNAUTHORIZED when the calling key has been deactivated or has
 * expired
 */
export async function lockForChange(
  tx: Queryable,
  caller: Caller,
  now: Date,
  id = caller.keyId,
): Promise<ChangeOfKey> {
  const keys = await lockKeysAndHolders(tx, caller.workspaceId, [caller.keyId, id], EVERYTHING);
  const calling = keys.find((key) => key.id === caller.keyId);
  if (!calling?.is_active || (calling.expires_at !== null && calling.expires_at <= now)) {
    throw new ApiError("UNAUTHORIZED");
  }
  const key = keys.find((candidate) => candidate.id === id.toLowerCase());
  if (!key) throw notFound("API key");
  return {
    own: { ...caller, permissions: calling.permissions },
    key,
    otherOwners: keys.filter((other) => other.id !== key.id && usableUntil(other, now) > 0),
  };
}
