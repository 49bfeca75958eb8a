/**
 * Forward-only migrations: the files of db/migrations in numerical order, each in one transaction, all under one advisory
 * lock, so that machines that start together wait for each other.
 *
 * Machines are upgraded one after another, so programs of the former release run on the schema of the next one for a while.
 * A migration that those cannot work with has the line `-- Needs program 0.3.0`: programs before that release refuse the
 * database afterwards, and the migration is not applied while one of them runs. `-- Not in a transaction` is the line of a
 * migration whose one statement PostgreSQL runs in no transaction, such as `create index concurrently`.
 *
 * Refused are also a database whose migrations have another content, and a PostgreSQL that is too old.
 */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import sql from "sql-template-tag";
import { version } from "#platform/version.ts";
import { lockKey } from "./advisory-lock-key.ts";
import type { Database } from "./pool.ts";

type Session = Pick<Awaited<ReturnType<Database["openSession"]>>, "query">;

/** A version of the program with its migrations. */
export interface Release {
  /** Such as "0.2.0". */
  readonly version: string;
  /** The folder of its migrations. */
  readonly migrations: URL;
}

const thisRelease: Release = {
  version,
  migrations: new URL("../../../db/migrations/", import.meta.url),
};

const LOCK = lockKey("migrations");

const OLDEST_SERVER = 160_000;

/** SQLSTATE lock_not_available: the time for a lock has ended. */
const LOCK_NOT_AVAILABLE = "55P03";
const LOCK_MS = 2_000;
const MOST_TRIES = 150;

const NO_TRANSACTION = /^-- Not in a transaction$/m;
const NEEDS = /^-- Needs program (\d+\.\d+\.\d+)$/m;

/**
 * Brings the schema up to date and returns the names of the migrations that were applied.
 * @throws an Error whose sentence says what to do
 */
export async function migrate(database: Database, release = thisRelease): Promise<string[]> {
  const client = await database.openSession();
  try {
    await requireServer(client);
    await client.query("set statement_timeout = 0");
    await client.query("select pg_advisory_lock($1)", [LOCK]);
    await client.query(`
      create table if not exists schema_migrations (
        name text primary key, applied_at timestamptz not null default now(), digest text not null, needs_program text)`);
    const missing = await missingMigrations(client, release);
    for (const migration of missing) {
      await requireStopped(client, migration);
      await apply(client, migration);
    }
    return missing.map(({ name }) => name);
  } finally {
    // Closing the connection also releases the lock and rolls back a failed migration.
    await client.end();
  }
}

/**
 * The names of the migrations that `migrate` would apply. Changes nothing, and does not wait for the lock.
 * @throws what `migrate` would throw before it applies any
 */
export async function findMissingMigrations(database: Database, release = thisRelease): Promise<string[]> {
  const client = await database.connect();
  try {
    await requireServer(client);
    const { rows } = await client.query<{ isThere: boolean }>(
      `select to_regclass('schema_migrations') is not null as "isThere"`,
    );
    const missing = rows[0]?.isThere
      ? await missingMigrations(client, release)
      : await readMigrations(release.migrations);
    return missing.map(({ name }) => name);
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

async function apply(client: Session, migration: Migration): Promise<void> {
  if (migration.isInTransaction) return applyWithoutQueue(client, migration);
  await client.query("set lock_timeout = 0");
  await dropUnfinishedIndexes(client);
  await client.query(migration.statements);
  await record(client, migration);
}

/**
 * A statement that waits for the lock of a table makes all later ones wait behind it. So it gives up soon, and tries again
 * when those have had their turn.
 */
async function applyWithoutQueue(client: Session, migration: Migration): Promise<void> {
  await client.query(`set lock_timeout = ${LOCK_MS}`);
  for (let tries = 1; ; tries++) {
    try {
      await client.query("begin");
      await client.query(migration.statements);
      await record(client, migration);
      await client.query("commit");
      return;
    } catch (fault) {
      await client.query("rollback");
      if (!isLockTimeout(fault) || tries === MOST_TRIES) throw fault;
    }
    await delay(LOCK_MS);
  }
}

async function record(client: Session, { name, digest, needsProgram }: Migration): Promise<void> {
  await client.query(sql`
    insert into schema_migrations (name, digest, needs_program) values (${name}, ${digest}, ${needsProgram})`);
}

/** An index whose concurrent building was interrupted is never used, and keeps its name. */
async function dropUnfinishedIndexes(client: Session): Promise<void> {
  const { rows } = await client.query<{ name: string }>(`
    select indexrelid::regclass::text as name from pg_index i join pg_class c on c.oid = i.indexrelid
    where not i.indisvalid and c.relnamespace = 'public'::regnamespace and not c.relispartition`);
  for (const { name } of rows) await client.query(`drop index concurrently ${name}`);
}

function isLockTimeout(fault: unknown): boolean {
  return fault instanceof Error && "code" in fault && fault.code === LOCK_NOT_AVAILABLE;
}

/** @throws an Error while a process runs that could not work with the schema after the migration */
async function requireStopped(client: Session, { name, needsProgram }: Migration): Promise<void> {
  if (needsProgram === null) return;
  const { rows: running } = await client.query<{ host: string; pid: number; version: string }>(
    "select host, pid, version from running_processes where seen_at > now() - interval '90 seconds' order by host, pid",
  );
  const older = running.filter(({ version }) => isOlder(version, needsProgram));
  if (older.length > 0) {
    const names = older.map(({ host, pid }) => `${host} (process ${pid})`).join(", ");
    throw new Error(
      `migration ${name} needs every machine to run version ${needsProgram} or newer: stop ${names} first; a process that was killed is forgotten after 90 s`,
    );
  }
}

interface Migration {
  readonly name: string;
  readonly statements: string;
  readonly digest: string;
  /** The oldest version of the program that can work with the schema afterwards; null: any. */
  readonly needsProgram: string | null;
  readonly isInTransaction: boolean;
}

/** The migrations of the release that the database lacks, in their order. @throws Error if the two contradict each other */
async function missingMigrations(client: Session, { version, migrations }: Release): Promise<Migration[]> {
  const known = new Map((await readMigrations(migrations)).map((one) => [one.name, one]));
  const { rows: applied } = await client.query<{
    name: string;
    digest: string;
    needs_program: string | null;
  }>("select name, digest, needs_program from schema_migrations order by name");
  for (const { name, digest, needs_program } of applied) {
    const migration = known.get(name);
    known.delete(name);
    if (migration === undefined && needs_program !== null && isOlder(version, needs_program)) {
      throw new Error(
        `the database has migration ${name}, which needs version ${needs_program} or newer, and this is ${version}: run the newer version`,
      );
    }
    if (migration !== undefined && migration.digest !== digest) {
      throw new Error(
        `migration ${name} was applied to the database with another content, by a version between releases: run that version, or start with an empty database`,
      );
    }
  }
  return [...known.values()];
}

async function readMigrations(folder: URL): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort();
  return Promise.all(
    names.map(async (name) => {
      const statements = await readFile(new URL(name, folder), "utf8");
      const digest = createHash("sha256").update(statements).digest("hex");
      return {
        name,
        statements,
        digest,
        needsProgram: NEEDS.exec(statements)?.[1] ?? null,
        isInTransaction: !NO_TRANSACTION.test(statements),
      };
    }),
  );
}

/** Compares versions such as "0.9.0" and "0.10.0" by their numbers. */
function isOlder(version: string, than: string): boolean {
  return version.localeCompare(than, "en", { numeric: true }) < 0;
}
