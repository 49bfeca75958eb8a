/**
 * What one key may do to others. Otherwise `api_keys:write` alone would be worth `*:*`, or would suffice to lock the
 * owner of the workspace out:
 *
 * - No key makes a key stronger than itself: whatever a call leaves usable (a new key, changed permissions, a new secret,
 *   a key switched on again, a longer life) must be covered by the permissions of the key that calls.
 * - No key changes one that is stronger than itself: it may not deactivate, delete, narrow or rename it either.
 * - The last active key with every permission stays: it is not deactivated, deleted, narrowed or made to expire sooner
 *   unless another such key remains.
 *
 * A wildcard is covered by the same or a wider wildcard only, never by the list of what it grants today.
 *
 * The judgement and the write are one transaction that holds both rows, the caller's and the changed one's. The
 * caller's permissions are read again under that lock: the authenticator knows them as of some seconds ago, and
 * two concurrent calls must not lift each other.
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
 * @throws ApiError INSUFFICIENT_SCOPE when it holds what the caller lacks, before or after; CONFLICT when it is the last
 *   active key with every permission and would no longer be one, or only for a shorter time
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

/** Until when a key holds every permission, in milliseconds; 0: it does not. */
function usableUntil(key: ApiKey | null, now: Date): number {
  if (key === null || !key.is_active || !key.permissions.includes(EVERYTHING)) return 0;
  if (key.expires_at === null) return Number.POSITIVE_INFINITY;
  return key.expires_at > now ? key.expires_at.getTime() : 0;
}

/**
 * Locks the calling key, the one to change (the calling key itself for a call that makes a new one), and those that hold
 * every permission, so that of two calls the second judges what the first has left.
 * @throws ApiError NOT_FOUND for the key to change, UNAUTHORIZED when the calling key has just died.
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
