/** The SQL of the fingerprints of secret keys. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";

export interface KnownKey {
  readonly fingerprint: Buffer;
  readonly added_at: Date;
  /** When it was last the first key of a running process. */
  readonly last_used_at: Date | null;
  readonly retired_at: Date | null;
}

/** Until the end of the transaction, no other process is admitted and no key is added or retired. Reads are not blocked. */
export async function lockSecretKeys(tx: Queryable): Promise<void> {
  await tx.run(sql`lock table secret_keys in share row exclusive mode`);
}

/** Oldest first. */
export function listSecretKeys(db: Queryable): Promise<KnownKey[]> {
  return db.rows(sql`
    select fingerprint, added_at, last_used_at, retired_at from secret_keys order by added_at, fingerprint`);
}

/** Adds a key, or activates a retired one. */
export async function saveSecretKey(tx: Queryable, fingerprint: Buffer): Promise<void> {
  await tx.run(sql`
    insert into secret_keys (fingerprint, last_used_at) values (${fingerprint}, now())
    on conflict (fingerprint) do update set retired_at = null`);
}

export async function retireSecretKey(tx: Queryable, fingerprint: Buffer): Promise<void> {
  await tx.run(sql`update secret_keys set retired_at = now() where fingerprint = ${fingerprint}`);
}

/** Retires all keys except these. */
export async function retireOtherKeys(tx: Queryable, kept: readonly Buffer[]): Promise<void> {
  await tx.run(sql`
    update secret_keys set retired_at = now()
    where retired_at is null and fingerprint <> all(${kept}::bytea[])`);
}
