/** SQL of API keys. Secrets are only hashed here. */
import sql, { empty } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceRowLimit } from "#platform/database/row-limit-store.ts";
import type { TimeOfUse } from "#platform/http/auth/last-uses.ts";
import type { KeyRecord } from "#platform/http/authenticate.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { ApiKey } from "./api-key.ts";
import { hashSecret, prefixOf } from "./secret.ts";

const columns = sql`id, name, permissions, key_prefix, is_active, last_used_at, expires_at, created_at`;

/** A page lists all keys at once, inactive ones included. The operator's command (cli/key.ts) ignores this limit. */
export const apiKeyRoom: WorkspaceRowLimit = {
  table: sql`api_keys`,
  what: "API keys",
  most: 1_000,
  way: "delete one for good first",
};

export async function insertKey(
  db: Queryable,
  workspaceId: WorkspaceId,
  key: ApiKey,
  secret: string,
): Promise<void> {
  await db.run(sql`
    insert into api_keys (workspace_id, key_hash, ${columns})
    values (${workspaceId}, ${hashSecret(secret)}, ${key.id}, ${key.name}, ${key.permissions}, ${key.key_prefix},
      ${key.is_active}, ${key.last_used_at}, ${key.expires_at}, ${key.created_at})`);
}

/** Newest first. */
export function listKeys(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: { readonly showInactive: boolean },
): Promise<ApiKey[]> {
  return db.rows(sql`
    select ${columns} from api_keys
    where workspace_id = ${workspaceId} ${filter.showInactive ? empty : sql`and is_active`}
    order by created_at desc, id desc`);
}

export function findKey(db: Queryable, workspaceId: WorkspaceId, id: string): Promise<ApiKey | undefined> {
  return db.row(sql`select ${columns} from api_keys where workspace_id = ${workspaceId} and id = ${id}`);
}

/** Locks the keys that exist until the transaction ends, in the order of ids, so that transactions do not deadlock. */
export function lockKeys(tx: Queryable, workspaceId: WorkspaceId, ids: readonly string[]): Promise<ApiKey[]> {
  return tx.rows(sql`
    select ${columns} from api_keys where workspace_id = ${workspaceId} and id = any(${ids}::uuid[])
    order by id for update`);
}

/** As lockKeys, together with the active keys that hold exactly `permission`. */
export function lockKeysAndHolders(
  tx: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly string[],
  permission: string,
): Promise<ApiKey[]> {
  return tx.rows(sql`
    select ${columns} from api_keys
    where workspace_id = ${workspaceId}
      and (id = any(${ids}::uuid[]) or (is_active and ${permission} = any(permissions)))
    order by id for update`);
}

/** Writes name, permissions, expiry and whether the key is active. */
export async function updateKey(tx: Queryable, workspaceId: WorkspaceId, key: ApiKey): Promise<void> {
  await tx.run(sql`
    update api_keys
    set name = ${key.name}, permissions = ${key.permissions}, expires_at = ${key.expires_at},
        is_active = ${key.is_active}
    where workspace_id = ${workspaceId} and id = ${key.id}`);
}

/** Replaces the secret; the old one stops working at the commit. */
export async function updateSecret(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  secret: string,
): Promise<void> {
  await tx.run(sql`
    update api_keys set key_hash = ${hashSecret(secret)}, key_prefix = ${prefixOf(secret)}
    where workspace_id = ${workspaceId} and id = ${id}`);
}

export async function removeKey(tx: Queryable, workspaceId: WorkspaceId, id: string): Promise<void> {
  await tx.run(sql`delete from api_keys where workspace_id = ${workspaceId} and id = ${id}`);
}

/** Implements FindKey of platform/http/authenticate.ts: the one query without a workspace. */
export async function findKeyByHash(db: Queryable, keyHash: Buffer): Promise<KeyRecord | undefined> {
  const [record] = await db.rows<KeyRecord>(
    sql`
    select k.workspace_id as "workspaceId", w.timezone, w.is_suspended as "isSuspended",
      w.default_sender as "defaultSender", w.retry_hours as "retryHours", w.tracks_transactional as "tracksTransactional",
      jsonb_build_object('kind', 'key', 'id', k.id, 'name', k.name) as actor, k.permissions, k.is_active as "isActive", k.expires_at as "expiresAt"
    from api_keys k join workspaces w on w.id = k.workspace_id
    where k.key_hash = ${keyHash}`,
    "find key",
  );
  return record;
}

/** The permissions of keys in their order; undefined for keys that do not work at the time. */
export async function listKeyPermissions(
  db: Queryable,
  keys: readonly { readonly workspaceId: WorkspaceId; readonly id: string }[],
  now: Date,
): Promise<(readonly string[] | undefined)[]> {
  const rows = await db.rows<{ readonly permissions: string[] | null }>(
    sql`
    select k.permissions
    from unnest(${keys.map(({ workspaceId }) => workspaceId)}::uuid[], ${keys.map(({ id }) => id)}::uuid[])
      with ordinality as w (workspace_id, id, place)
    left join api_keys k on k.workspace_id = w.workspace_id and k.id = w.id and k.is_active
      and (k.expires_at is null or k.expires_at > ${now})
    order by w.place`,
    "key permissions",
  );
  return rows.map(({ permissions }) => permissions ?? undefined);
}

/**
 * Writes the last use of many keys, at most once in `minimumSeconds` for each, whichever machine reports it. A row that
 * another transaction has locked is skipped.
 */
export function updateLastUsed(
  db: Queryable,
  uses: readonly TimeOfUse[],
  minimumSeconds: number,
): Promise<number> {
  const column = <Value>(read: (use: TimeOfUse) => Value) => uses.map(read);
  return db.run(sql`
    with due as (
      select k.workspace_id, k.id, used.at
      from unnest(${column((use) => use.workspaceId)}::uuid[], ${column((use) => use.id)}::uuid[],
        ${column((use) => use.at)}::timestamptz[]) as used (workspace_id, id, at)
      join api_keys k on k.workspace_id = used.workspace_id and k.id = used.id
      where k.last_used_at is null or k.last_used_at <= used.at - make_interval(secs => ${minimumSeconds})
      for no key update of k skip locked
    )
    update api_keys k set last_used_at = due.at from due
    where k.workspace_id = due.workspace_id and k.id = due.id`);
}
