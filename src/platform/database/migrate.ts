/**
 * Forward-only migrations: the files of db/migrations in the order of their numbers, each in one transaction, all
 * under one advisory lock, so that machines that start together wait for each other. A database that knows a
 * migration which this version does not is refused: an old program must not write into a newer schema.
 */
import { readdir, readFile } from "node:fs/promises";
import sql from "sql-template-tag";
import { lockKey } from "./advisory-lock.ts";
import type { Database } from "./pool.ts";

const folder = new URL("../../../db/migrations/", import.meta.url);

const LOCK = lockKey("migrations");

/** Brings the schema up to date and returns the names of the migrations that were applied. */
export async function migrate(database: Database): Promise<string[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort();
  const client = await database.openSession();
  try {
    await client.query("set statement_timeout = 0");
    await client.query("select pg_advisory_lock($1)", [LOCK]);
    await client.query(
      "create table if not exists schema_migrations (name text primary key, applied_at timestamptz not null default now())",
    );
    const { rows } = await client.query<{ name: string }>("select name from schema_migrations order by name");
    const applied = new Set(rows.map((row) => row.name));
    const unknown = [...applied].find((name) => !files.includes(name));
    if (unknown !== undefined) {
      throw new Error(
        `the database has migration ${unknown}, which this version does not know: run a newer version`,
      );
    }
    const missing = files.filter((name) => !applied.has(name));
    for (const name of missing) {
      const statements = await readFile(new URL(name, folder), "utf8");
      await client.query("begin");
      await client.query(statements);
      await client.query(sql`insert into schema_migrations (name) values (${name})`);
      await client.query("commit");
    }
    return missing;
  } finally {
    // Closing the connection also ends the lock and whatever transaction a failed migration left open.
    await client.end();
  }
}
