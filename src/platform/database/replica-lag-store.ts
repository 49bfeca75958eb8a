/** Reads how old the data of a replica is. */
import sql from "sql-template-tag";
import type { Queryable } from "./pool.ts";

/**
 * Seconds since the last commit that it has applied; the service commits every few seconds. Zero on a primary. Null if it has
 * applied none since its start.
 */
export async function findReplicaLag(db: Queryable): Promise<number | null> {
  const row = await db.row<{ seconds: number | null }>(sql`
    select case when pg_is_in_recovery()
      then extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())::float8 else 0 end as seconds`);
  return row?.seconds ?? null;
}
