/** The worker lock, which a living delivery worker holds: finds its holder, and takes it in a test. */
import sql from "sql-template-tag";
import type { Database } from "#platform/database/pool.ts";
import { eventually } from "./eventually.ts";

interface Lock {
  readonly pid: number;
  readonly key: number;
}

const locks = (isGranted: boolean) => sql`
  select pid, (classid::bigint << 32) | objid::bigint as key from pg_locks
  where locktype = 'advisory' and granted = ${isGranted}
    and database = (select oid from pg_database where datname = current_database())`;

/** The lock that the only running worker holds. */
export async function workerLockHolder(db: Database): Promise<Lock> {
  const held = await db.row<Lock>(locks(true));
  if (held === undefined) throw new Error("no worker holds its lock");
  return held;
}

/** Takes the lock from the only running worker, as a recovering worker does; resolves when the worker waits for it. */
export async function takeWorkerLock(db: Database): Promise<() => Promise<void>> {
  const isAwaited = async () => (await db.rows(locks(false))).length > 0;
  const { pid, key } = await workerLockHolder(db);
  const taker = await db.openSession();
  const taken = taker.query(sql`select pg_advisory_lock(${key})`);
  await eventually("the lock to be requested by the test", isAwaited);
  await db.run(sql`select pg_terminate_backend(${pid})`);
  await taken;
  await eventually("the worker to wait for its lock", isAwaited);
  return () => taker.end();
}
