/** Reads version and clock of the database server. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";

export interface DatabaseServer {
  /** Such as "18.4". */
  readonly version: string;
  /** Its clock, in milliseconds since 1970. */
  readonly now: number;
}

export async function findServer(db: Queryable): Promise<DatabaseServer | undefined> {
  return db.row(sql`
    select current_setting('server_version') as version,
      (extract(epoch from clock_timestamp()) * 1000)::float8 as now`);
}
