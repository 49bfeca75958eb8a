/**
 * Forward-only migrations: the files of db/migrations in numerical order, each in one transaction, all under one advisory
 * lock, so that machines that start together wait for each other. Refused are a database with a migration that this version
 * does not know (an old program must not write into a newer schema), one whose migrations have another content, and a
 * PostgreSQL that is too old.
 */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import sql, { raw } from "sql-template-tag";
import { lockKey } from "./advisory-lock-key.ts";
import type { Database, Queryable } from "./pool.ts";

type Session = Pick<Awaited<ReturnType<Database["openSession"]>>, "query">;

const folder = new URL("../../../db/migrations/", import.meta.url);

const LOCK = lockKey("migrations");

const MIGRATIONS_TABLE = [
  "create table if not exists schema_migrations (name text primary key, applied_at timestamptz not null default now())",
  "alter table schema_migrations add column if not exists digest text",
];

const OLDEST_SERVER = 160_000;

/**
 * Brings the schema up to date and returns the names of the migrations that were applied.
 * @throws an Error whose sentence says what to do
 */
export async function migrate(database: Database): Promise<string[]> {
  const client = await database.openSession();
  try {
    await requireServer(client);
    await refuseUnfinishedRestore(client);
    await client.query("set statement_timeout = 0");
    await client.query("select pg_advisory_lock($1)", [LOCK]);
    await refuseUnfinishedRestore(client);
    for (const statement of MIGRATIONS_TABLE) await client.query(statement);
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
    await refuseUnfinishedRestore(client);
    const { rows } = await client.query<{ isThere: boolean }>(
      `select to_regclass('schema_migrations') is not null as "isThere"`,
    );
    return rows[0]?.isThere ? (await compareSchema(client)).missing : await migrationFiles();
  } finally {
    client.release();
  }
}

/** A migration that was applied to a database. */
export interface AppliedMigration {
  readonly name: string;
  /** SHA-256 of its text, in hexadecimal. */
  readonly digest: string;
}

/** The migrations of a database that has some, in the order of application. */
export function listAppliedMigrations(db: Queryable): Promise<AppliedMigration[]> {
  return db.rows(sql`select name, digest from schema_migrations order by name`);
}

/** The first of these migrations that this version does not have with the same content. */
export async function findUnknownMigration(wanted: readonly AppliedMigration[]): Promise<string | undefined> {
  const files = await migrationFiles();
  for (const { name, digest } of wanted) {
    if (!files.includes(name) || digest !== digestOf(await readMigration(name))) return name;
  }
  return undefined;
}

/**
 * Applies exactly these migrations, which this version has, in a transaction under the lock of `migrate`: for a restore.
 * @throws Error if the database has others
 */
export async function migrateAs(tx: Queryable, wanted: readonly AppliedMigration[]): Promise<void> {
  await tx.run(sql`select pg_advisory_xact_lock(${LOCK})`);
  for (const statement of MIGRATIONS_TABLE) await tx.run(raw(statement));
  const applied = new Set((await listAppliedMigrations(tx)).map(({ name }) => name));
  const other = [...applied].find((one) => !wanted.some(({ name }) => name === one));
  if (other !== undefined) {
    throw new Error(
      `the schema of this database is newer than the backup (it has migration ${other}): restore into an empty database`,
    );
  }
  for (const { name, digest } of wanted.filter((one) => !applied.has(one.name))) {
    await tx.run(raw(await readMigration(name)));
    await tx.run(sql`insert into schema_migrations (name, digest) values (${name}, ${digest})`);
  }
}

/** The table that is in a database while a restore into it runs, and after one that failed. */
const UNFINISHED_RESTORE = "unfinished_restore";

/** Begins a restore: until its end, only another restore may use the database. */
export async function markUnfinishedRestore(db: Queryable): Promise<void> {
  await db.run(raw(`create table if not exists ${UNFINISHED_RESTORE} ()`));
}

/** Ends a restore, in its transaction or after one that failed and changed nothing: the database may be used. */
export async function endUnfinishedRestore(tx: Queryable): Promise<void> {
  await tx.run(raw(`drop table if exists ${UNFINISHED_RESTORE}`));
}

/** @throws Error with what to do */
async function refuseUnfinishedRestore(client: Session): Promise<void> {
  const { rows } = await client.query<{ isThere: boolean }>(
    `select to_regclass('${UNFINISHED_RESTORE}') is not null as "isThere"`,
  );
  if (rows[0]?.isThere) {
    throw new Error(
      "a restore into this database runs or has failed: wait for it, or run `npm run -s posthaste -- restore` again; or begin with an empty database",
    );
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
