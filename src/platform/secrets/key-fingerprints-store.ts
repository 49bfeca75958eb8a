/** The SQL of the fingerprints of secret keys (table secret_keys), and of the rings of running processes. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";

/** Running processes renew their rows every five seconds. A row this old belongs to a process that was killed. */
const GONE_SECONDS = 90;
/** How exact the time of last use is. */
const USE_SECONDS = 20;

export interface KnownKey {
  readonly fingerprint: Buffer;
  readonly added_at: Date;
  /** When it was last the first key of a running process. */
  readonly last_used_at: Date | null;
  readonly retired_at: Date | null;
}

export interface RunningRing {
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
    select host, pid, key_fingerprints as fingerprints from running_processes
    where key_fingerprints is not null and seen_at > now() - make_interval(secs => ${GONE_SECONDS})
    order by host, pid, id`);
}

/** Records that the first key of a running process is in use. */
export async function noteKeyUse(db: Queryable, fingerprint: Buffer): Promise<void> {
  await db.run(sql`
    update secret_keys set last_used_at = now()
    where fingerprint = ${fingerprint} and retired_at is null
      and (last_used_at is null or last_used_at < now() - make_interval(secs => ${USE_SECONDS}))`);
}
