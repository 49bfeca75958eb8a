/** Reads version, clock and room for locks of the database server. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";

export interface DatabaseServer {
  /** Such as "18.4". */
  readonly version: string;
  /** Its clock, in milliseconds since 1970. */
  readonly now: number;
  /** Locks that all its transactions together may hold. */
  readonly locks: number;
  /** Locks of a statement that reads the whole message log: all of its partitions and their indexes. */
  readonly locks_of_log: number;
}

export async function findServer(db: Queryable): Promise<DatabaseServer | undefined> {
  return db.row(sql`
    select current_setting('server_version') as version,
      (extract(epoch from clock_timestamp()) * 1000)::float8 as now,
      current_setting('max_locks_per_transaction')::int
        * (current_setting('max_connections')::int + current_setting('max_prepared_transactions')::int) as locks,
      (select count(*)::int from pg_inherits i join pg_class c on c.oid = i.inhparent
        where c.relnamespace = to_regnamespace('public')) as locks_of_log`);
}
