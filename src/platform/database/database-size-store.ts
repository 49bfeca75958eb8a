/** Reads the size of the database. */
import sql from "sql-template-tag";
import type { Queryable } from "./pool.ts";

export async function findDatabaseBytes(db: Queryable): Promise<number> {
  const row = await db.row<{ bytes: number }>(
    sql`select pg_database_size(current_database())::float8 as bytes`,
  );
  return row?.bytes ?? 0;
}
