/**
 * No key makes a key stronger than itself. Whatever a call leaves usable (a new key, changed permissions, a new
 * secret, a key switched on again, a longer life) must be covered by the permissions of the key that calls;
 * otherwise `api_keys:write` alone would be worth `*:*`. Two things follow:
 *
 * - A wildcard is covered by the same or a wider wildcard only, never by the list of what it grants today.
 * - Taking away is no escalation: a key may deactivate or delete one that is stronger, so that a leaked key can be
 *   stopped by whoever sees it first, or narrow it into permissions that it holds itself. Whatever leaves the other one
 *   stronger, be it a new name, is refused: it would pass under a name that its maker did not give it.
 *
 * The judgement and the write are one transaction that holds both rows, the caller's and the changed one's. The
 * caller's permissions are read again under that lock: the authenticator knows them as of some seconds ago, and
 * two concurrent calls must not lift each other.
 */
import type { Queryable } from "../../platform/database/pool.ts";
import { ApiError, notFound } from "../../platform/errors.ts";
import type { Caller } from "../../platform/http/endpoint.ts";
import type { ApiKey } from "./api-key.ts";
import { lockKeys } from "./store.ts";

/**
 * Locks the calling key and the one to change (the calling key itself for a call that makes a new one). `own` is
 * the caller with the permissions it has now: what the call leaves usable is held against them.
 * @throws ApiError NOT_FOUND for the key to change, UNAUTHORIZED when the calling key has just died.
 */
export async function lockForChange(
  tx: Queryable,
  caller: Caller,
  now: Date,
  id = caller.keyId,
): Promise<{ own: Caller; key: ApiKey }> {
  const keys = await lockKeys(tx, caller.workspaceId, [caller.keyId, id]);
  const calling = keys.find((key) => key.id === caller.keyId);
  if (!calling?.is_active || (calling.expires_at !== null && calling.expires_at <= now)) {
    throw new ApiError("UNAUTHORIZED");
  }
  const key = keys.find((candidate) => candidate.id === id.toLowerCase());
  if (!key) throw notFound("API key");
  return { own: { ...caller, permissions: calling.permissions }, key };
}
