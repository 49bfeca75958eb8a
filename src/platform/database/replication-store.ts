/** Reads which server answers, which standbys follow it and how late, and whether commits wait for them. */
import sql from "sql-template-tag";
import type { Queryable } from "./pool.ts";

export interface Standby {
  /** Its `application_name`. */
  readonly name: string;
  /** `streaming`: it follows. `startup`, `catchup`: not yet, and it confirms no commit. Null if the role may not see it. */
  readonly state: string | null;
  /** `sync` or `quorum`: commits wait for it; `potential`, `async`: they do not. Null if the role may not see it. */
  readonly sync_state: string | null;
  /** How late it applies commits; null if it is idle or the role may not see it. */
  readonly lag_seconds: number | null;
}

export interface Replication {
  /** Such as `10.0.0.5:5432`; null over a Unix socket. */
  readonly address: string | null;
  /** False: it answers reads only. */
  readonly is_primary: boolean;
  /** For this role and database; a value other than `off` and `local` waits for synchronous standbys. */
  readonly synchronous_commit: string;
  readonly synchronous_standby_names: string;
  readonly standbys: readonly Standby[];
}

/** Needs no privilege. A role without `pg_read_all_stats` sees the names of connected standbys, but not how far they are. */
export async function findReplication(db: Queryable): Promise<Replication | undefined> {
  return db.row<Replication>(sql`
    select host(inet_server_addr()) || ':' || inet_server_port() as address,
      not pg_is_in_recovery() as is_primary,
      current_setting('synchronous_commit') as synchronous_commit,
      current_setting('synchronous_standby_names') as synchronous_standby_names,
      coalesce(
        (
          select json_agg(
            json_build_object(
              'name', application_name,
              'state', state,
              'sync_state', sync_state,
              'lag_seconds', round(extract(epoch from replay_lag), 1)
            )
            order by application_name
          )
          from pg_stat_replication
          where state is distinct from 'backup'
        ),
        '[]'
      ) as standbys`);
}

/**
 * How old the data of a replica is: seconds since the last commit that it has applied. The service commits every few
 * seconds. Null if the replica has applied none since its start, and for a server that follows no other: it may be a former
 * primary, whose data grow old without a sign.
 */
export async function findReplicaLag(db: Queryable): Promise<number | null> {
  const row = await db.row<{ seconds: number | null }>(sql`
    select case when pg_is_in_recovery()
      then extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())::float8 end as seconds`);
  return row?.seconds ?? null;
}
