/** Whether a database may take a restore. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";

/** @throws Error that says what to do, if the database has a workspace or a user */
export async function requireNoData(tx: Queryable): Promise<void> {
  const there = await tx.row<{ has_schema: boolean }>(
    sql`select to_regclass('workspaces') is not null and to_regclass('users') is not null as has_schema`,
  );
  if (!there?.has_schema) return;
  const found = await tx.row<{ what: string }>(sql`
    (select 'the workspace "' || name || '"' as what from workspaces order by created_at limit 1)
    union all (select 'the user ' || email from users limit 1) limit 1`);
  if (found === undefined) return;
  throw new Error(
    `the database has ${found.what}: a restore needs a new database (another DATA_DIR, or a DATABASE_URL that names an empty one). Nothing was changed`,
  );
}
