/**
 * Forward-only migrations: the files of db/migrations in numerical order, each in one transaction, all under one advisory
 * lock, so that machines that start together wait for each other. Refused are a database with a migration that this version
 * does not know (an old program must not write into a newer schema), one whose migrations have another content, and a
 * PostgreSQL that is too old.
 */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import sql from "sql-template-tag";
import { lockKey } from "./advisory-lock-key.ts";
import type { Database } from "./pool.ts";

type Session = Pick<Awaited<ReturnType<Database["openSession"]>>, "query">;

const folder = new URL("../../../db/migrations/", import.meta.url);

const LOCK = lockKey("migrations");

const OLDEST_SERVER = 160_000;

/**
 * Brings the schema up to date and returns the names of the migrations that were applied.
 * @throws an Error whose sentence says what to do
 */
export async function migrate(database: Database): Promise<string[]> {
  const client = await database.openSession();
  try {
    await requireServer(client);
    await client.query("set statement_timeout = 0");
    await client.query("select pg_advisory_lock($1)", [LOCK]);
    await client.query(
      "create table if not exists schema_migrations (name text primary key, applied_at timestamptz not null default now())",
    );
    await client.query("alter table schema_migrations add column if not exists digest text");
    const { missing, undigested } = await compareSchema(client);
    // Databases from before digests were stored get those of the present files.
    for (const name of undigested) {
      const digest = digestOf(await readMigration(name));
      await client.query(sql`update schema_migrations set digest = ${digest} where name = ${name}`);
    }
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
    // Closing the connection also releases the lock and rolls back a failed migration.
    await client.end();
  }
}

/**
 * The migrations that `migrate` would apply. Changes nothing, and does not wait for the lock.
 * @throws what `migrate` would throw before it applies any
 */
export async function findMissingMigrations(database: Database): Promise<string[]> {
  const client = await database.connect();
  try {
    await requireServer(client);
    const { rows } = await client.query<{ isThere: boolean }>(
      `select to_regclass('schema_migrations') is not null as "isThere"`,
    );
    return rows[0]?.isThere ? (await compareSchema(client)).missing : await migrationFiles();
  } finally {
    client.release();
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

interface SchemaDifference {
  /** In the order of application. */
  readonly missing: string[];
  /** Applied before digests were stored. */
  readonly undigested: string[];
}

/** Compares the migration files with those applied to the database. @throws Error if they contradict each other */
async function compareSchema(client: Session): Promise<SchemaDifference> {
  const files = await migrationFiles();
  // Through JSON, because an old table may not have the column `digest`.
  const { rows } = await client.query<{ name: string; digest: string | null }>(
    "select name, to_jsonb(m) ->> 'digest' as digest from schema_migrations m order by name",
  );
  const applied = new Set(rows.map((row) => row.name));
  const unknown = [...applied].find((name) => !files.includes(name));
  if (unknown !== undefined) {
    throw new Error(
      `the database has migration ${unknown}, which this version does not know: run a newer version`,
    );
  }
  for (const { name, digest } of rows) {
    if (digest !== null && digest !== digestOf(await readMigration(name))) {
      throw new Error(
        `migration ${name} was applied to the database with another content, by a version between releases: run that version, or start with an empty database`,
      );
    }
  }
  return {
    missing: files.filter((name) => !applied.has(name)),
    undigested: rows.filter(({ digest }) => digest === null).map(({ name }) => name),
  };
}

async function migrationFiles(): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort();
}

function readMigration(name: string): Promise<string> {
  return readFile(new URL(name, folder), "utf8");
}

function digestOf(statements: string): string {
  return createHash("sha256").update(statements).digest("hex");
}
