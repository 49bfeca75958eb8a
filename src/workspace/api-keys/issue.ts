/** Creates keys. The caller has checked who may create which (escalation.ts); an operator may create any. */
import type { Queryable } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import type { IssuedKey, KeySettings } from "./api-key.ts";
import { newSecret, prefixOf } from "./secret.ts";
import { insertKey } from "./store.ts";

/** Stores a new active key. The returned value has the secret, which is stored nowhere. */
export async function issueKey(
  db: Queryable,
  workspaceId: WorkspaceId,
  settings: KeySettings,
  now: Date,
  secret = newSecret(),
): Promise<IssuedKey> {
  const key = {
    ...settings,
    id: newId(),
    key_prefix: prefixOf(secret),
    is_active: true,
    last_used_at: null,
    created_at: now,
  };
  await insertKey(db, workspaceId, key, secret);
  return { ...key, key: secret };
}
