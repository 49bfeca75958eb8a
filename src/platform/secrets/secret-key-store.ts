/** What the database knows of the installation's secret keys: their fingerprints, and which running process has which. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";

/** Running processes renew their rows every 20 s: a row this old is of one that was killed. */
const GONE_SECONDS = 90;

export interface KnownKey {
  readonly fingerprint: Buffer;
  readonly added_at: Date;
  /** When a process last ran whose first key it was. */
  readonly last_used_at: Date | null;
  readonly retired_at: Date | null;
}

export interface RunningRing {
  readonly process_id: string;
  readonly host: string;
  readonly pid: number;
  /** In the order of the ring: the first seals and signs. */
  readonly fingerprints: readonly Buffer[];
}

/** Until the transaction ends no process is admitted and no key is added or retired by others. Reading goes on. */
export async function lockSecretKeys(tx: Queryable): Promise<void> {
  await tx.run(sql`lock table secret_keys in share row exclusive mode`);
}

/** Oldest first. */
export function listSecretKeys(db: Queryable): Promise<KnownKey[]> {
  return db.rows(sql`
    select fingerprint, added_at, last_used_at, retired_at from secret_keys order by added_at, fingerprint`);
}

/** Takes the key into use, a retired one again. */
export async function saveSecretKey(tx: Queryable, fingerprint: Buffer): Promise<void> {
  await tx.run(sql`
    insert into secret_keys (fingerprint, last_used_at) values (${fingerprint}, now())
    on conflict (fingerprint) do update set retired_at = null`);
}

export async function retireSecretKey(tx: Queryable, fingerprint: Buffer): Promise<void> {
  await tx.run(sql`update secret_keys set retired_at = now() where fingerprint = ${fingerprint}`);
}

/** Retires every key but these. */
export async function retireOtherKeys(tx: Queryable, kept: readonly Buffer[]): Promise<void> {
  await tx.run(sql`
    update secret_keys set retired_at = now()
    where retired_at is null and fingerprint <> all(${kept}::bytea[])`);
}

/** Those of the processes that run, but for ones that were killed some time ago. */
export function listRunningRings(db: Queryable): Promise<RunningRing[]> {
  return db.rows(sql`
    select process_id, host, pid, fingerprints from secret_key_rings
    where seen_at > now() - make_interval(secs => ${GONE_SECONDS}) order by host, pid, process_id`);
}

/** Notes that the process runs, and that its first key is in use; forgets processes that were killed. */
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
