/**
 * Forward-only migrations: the files of db/migrations in the order of their numbers, each in one transaction, all
 * under one advisory lock, so that machines that start together wait for each other. A database that knows a
 * migration which this version does not is refused: an old program must not write into a newer schema. So is one whose
 * migrations are others by content, and a PostgreSQL that is too old for them.
 */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import sql from "sql-template-tag";
import { lockKey } from "./advisory-lock.ts";
import type { Database } from "./pool.ts";

type Session = Awaited<ReturnType<Database["openSession"]>>;

const folder = new URL("../../../db/migrations/", import.meta.url);

const LOCK = lockKey("migrations");

const OLDEST_SERVER = 160_000;

/**
 * Brings the schema up to date and returns the names of the migrations that were applied.
 * @throws an Error whose sentence says what to do
 */
export async function migrate(database: Database): Promise<string[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort();
  const client = await database.openSession();
  try {
    await requireServer(client);
    await client.query("set statement_timeout = 0");
    await client.query("select pg_advisory_lock($1)", [LOCK]);
    await client.query(
      "create table if not exists schema_migrations (name text primary key, applied_at timestamptz not null default now())",
    );
    await client.query("alter table schema_migrations add column if not exists digest text");
    const { rows } = await client.query<{ name: string; digest: string | null }>(
      "select name, digest from schema_migrations order by name",
    );
    const applied = new Set(rows.map((row) => row.name));
    const unknown = [...applied].find((name) => !files.includes(name));
    if (unknown !== undefined) {
      throw new Error(
        `the database has migration ${unknown}, which this version does not know: run a newer version`,
      );
    }
    for (const { name, digest } of rows) await requireSame(client, name, digest);
    const missing = files.filter((name) => !applied.has(name));
    for (const name of missing) {
      const statements = await readMigration(name);
      await client.query("begin");
      await client.query(statements);
      await client.query(
        sql`insert into schema_migrations (name, digest) values (${name}, ${digestOf(statements)})`,
      );
      await client.query("commit");
    }
    return missing;
  } finally {
    // Closing the connection also ends the lock and whatever transaction a failed migration left open.
    await client.end();
  }
}

async function requireServer(client: Session): Promise<void> {
  const { rows } = await client.query<{ number: number; version: string }>(
    "select current_setting('server_version_num')::int as number, current_setting('server_version') as version",
  );
  const [server] = rows;
  if (server !== undefined && server.number < OLDEST_SERVER) {
    throw new Error(`the database is PostgreSQL ${server.version}: DATABASE_URL needs version 16 or newer`);
  }
}

/** Databases from before digests were kept take those of the files that they meet. */
async function requireSame(client: Session, name: string, digest: string | null): Promise<void> {
  const ours = digestOf(await readMigration(name));
  if (digest === null) {
    await client.query(sql`update schema_migrations set digest = ${ours} where name = ${name}`);
  } else if (digest !== ours) {
    throw new Error(
      `the database was made by another state of migration ${name}, by a version between releases: run that version, or begin with an empty database`,
    );
  }
}

function readMigration(name: string): Promise<string> {
  return readFile(new URL(name, folder), "utf8");
}

function digestOf(statements: string): string {
  return createHash("sha256").update(statements).digest("hex");
}
