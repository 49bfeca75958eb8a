/** Reads version, clock and room for locks of the database server, and of which database it is a copy. */
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

export interface DatabaseCopy {
  readonly is_standby: boolean;
  /** The identifier of the PostgreSQL system, and the database in it: the same on a primary and its standbys. */
  readonly identity: string;
  /** Its clock, in milliseconds since 1970. */
  readonly now: number;
}

/** Needs no privilege. */
export async function findDatabaseCopy(db: Queryable): Promise<DatabaseCopy | undefined> {
  return db.row(sql`
    select pg_is_in_recovery() as is_standby,
      (select system_identifier from pg_control_system()) || ' '
        || (select oid from pg_database where datname = current_database()) as identity,
      (extract(epoch from clock_timestamp()) * 1000)::float8 as now`);
}
