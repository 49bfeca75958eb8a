/** Reads what tells whether two servers are copies of one database, and how far their clocks are apart. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";

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
