/** The SQL of the fingerprints of secret keys, and of the rings of running processes. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";

/** Running processes renew their rows every 20 s. A row this old belongs to a process that was killed. */
const GONE_SECONDS = 90;

export interface KnownKey {
  readonly fingerprint: Buffer;
  readonly added_at: Date;
  /** When it was last the first key of a running process. */
  readonly last_used_at: Date | null;
  readonly retired_at: Date | null;
}

export interface RunningRing {
  readonly process_id: string;
  readonly host: string;
  readonly pid: number;
  /** In the order of the ring; the first key encrypts and signs. */
  readonly fingerprints: readonly Buffer[];
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

/** The rings of running processes, and of those that were killed in the last GONE_SECONDS. */
export function listRunningRings(db: Queryable): Promise<RunningRing[]> {
  return db.rows(sql`
    select process_id, host, pid, fingerprints from secret_key_rings
    where seen_at > now() - make_interval(secs => ${GONE_SECONDS}) order by host, pid, process_id`);
}

/** Records that the process runs and uses its first key. Deletes processes that were killed. */
export async function saveRing(db: Queryable, ring: RunningRing): Promise<void> {
  await db.run(sql`
    with used as (
      update secret_keys set last_used_at = now()
      where fingerprint = ${ring.fingerprints[0]} and retired_at is null
    ), gone as (
      delete from secret_key_rings where seen_at < now() - make_interval(secs => ${GONE_SECONDS})
        and process_id <> ${ring.process_id}
    )
    insert into secret_key_rings (process_id, host, pid, fingerprints)
    values (${ring.process_id}, ${ring.host}, ${ring.pid}, ${[...ring.fingerprints]}::bytea[])
    on conflict (process_id) do update set seen_at = now(), fingerprints = excluded.fingerprints`);
}

export async function removeRing(db: Queryable, processId: string): Promise<void> {
  await db.run(sql`delete from secret_key_rings where process_id = ${processId}`);
}
