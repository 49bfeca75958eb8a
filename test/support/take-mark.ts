/** The mark by which a delivery worker is known alive: who has it, and having it oneself. */
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

/** The session of the one worker there is. */
export async function markHolder(db: Database): Promise<Lock> {
  const held = await db.row<Lock>(locks(true));
  if (held === undefined) throw new Error("nobody has a mark");
  return held;
}

/** Takes the mark of the one worker there is, as one that recovers it does; resolves once it waits to have it again. */
export async function takeMark(db: Database): Promise<() => Promise<void>> {
  const isAwaited = async () => (await db.rows(locks(false))).length > 0;
  const { pid, key } = await markHolder(db);
  const taker = await db.openSession();
  const taken = taker.query(sql`select pg_advisory_lock(${key})`);
  await eventually("the mark to be asked for", isAwaited);
  await db.run(sql`select pg_terminate_backend(${pid})`);
  await taken;
  await eventually("the worker to miss it", isAwaited);
  return () => taker.end();
}
