/**
 * Forward-only migrations, in numerical order, each in one transaction, all under one advisory lock, so that machines that
 * start together wait for each other.
 *
 * Machines are upgraded one after another, so programs of the former release run on the schema of the next one for a while.
 * A migration that those cannot work with has the line `-- Needs program 0.3.0`: programs before that release refuse the
 * database afterwards, and the migration is not applied while one of them runs. `-- Not in a transaction` is the line of a
 * migration whose one statement PostgreSQL runs in no transaction, such as `create index concurrently`.
 *
 * Refused are also a database whose migrations have another content, one whose restore did not end, and a PostgreSQL that
 * is too old.
 */
import { setTimeout as delay } from "node:timers/promises";
import sql, { raw } from "sql-template-tag";
import {
  createMigrationsTable,
  listAppliedMigrations,
  listRunningVersions,
  listUnfinishedIndexes,
  lockMigrations,
  lockMigrationsInTransaction,
  type MigrationSession,
  recordMigration,
} from "./applied-migrations-store.ts";
import { type Migration, type Release, readMigrations, thisRelease } from "./migration-files.ts";
import type { Database, Queryable } from "./pool.ts";
import { refuseUnfinishedRestore } from "./unfinished-restore-store.ts";

const OLDEST_SERVER = 160_000;

/** SQLSTATE lock_not_available: the time for a lock has ended. */
const LOCK_NOT_AVAILABLE = "55P03";
const LOCK_MS = 2_000;
const MOST_TRIES = 150;

/**
 * Brings the schema up to date and returns the names of the migrations that were applied.
 * @throws an Error whose sentence says what to do
 */
export async function migrate(database: Database, release = thisRelease): Promise<string[]> {
  const client = await database.openSession();
  const session: MigrationSession = { rows: async (query) => (await client.query(query)).rows };
  try {
    await requireServer(session);
    await refuseUnfinishedRestore(session);
    await session.rows(sql`set statement_timeout = 0`);
    await lockMigrations(session);
    await refuseUnfinishedRestore(session);
    await createMigrationsTable(session);
    const missing = await missingMigrations(session, release);
    for (const migration of missing) {
      await requireStopped(session, migration);
      await apply(session, migration);
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
export async function findMissingMigrations(database: Queryable, release = thisRelease): Promise<string[]> {
  await requireServer(database);
  await refuseUnfinishedRestore(database);
  const [row] = await database.rows<{ isThere: boolean }>(
    sql`select to_regclass('schema_migrations') is not null as "isThere"`,
  );
  const missing = row?.isThere ? await missingMigrations(database, release) : await readMigrations(release);
  return missing.map(({ name }) => name);
}

/**
 * For the transaction in which a process registers itself as running: until its end no other process migrates, and afterwards
 * a migration that needs a newer program sees the process.
 * @throws Error if this program cannot work with the schema, which may be newer than at the last migration of this process
 */
export async function requireUsableSchema(tx: MigrationSession, release = thisRelease): Promise<void> {
  await lockMigrationsInTransaction(tx);
  await missingMigrations(tx, release);
}

async function requireServer(session: MigrationSession): Promise<void> {
  const [server] = await session.rows<{ number: number; version: string }>(
    sql`select current_setting('server_version_num')::int as number, current_setting('server_version') as version`,
  );
  if (server !== undefined && server.number < OLDEST_SERVER) {
    throw new Error(`the database is PostgreSQL ${server.version}: DATABASE_URL needs version 16 or newer`);
  }
}

/** The migrations of the release that the database lacks, in their order. @throws Error if the two contradict each other */
async function missingMigrations(session: MigrationSession, release: Release): Promise<Migration[]> {
  const known = new Map((await readMigrations(release)).map((one) => [one.name, one]));
  for (const { name, digest, needsProgram } of await listAppliedMigrations(session)) {
    const migration = known.get(name);
    known.delete(name);
    if (migration === undefined && needsProgram !== null && isOlder(release.version, needsProgram)) {
      throw new Error(
        `the database has migration ${name}, which needs version ${needsProgram} or newer, and this is ${release.version}: run the newer version`,
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

/** @throws an Error while a process runs that could not work with the schema after the migration */
async function requireStopped(session: MigrationSession, { name, needsProgram }: Migration): Promise<void> {
  if (needsProgram === null) return;
  const running = await listRunningVersions(session);
  const older = running.filter(({ version }) => isOlder(version, needsProgram));
  if (older.length > 0) {
    const names = older.map(({ host, pid }) => `${host} (process ${pid})`).join(", ");
    throw new Error(
      `migration ${name} needs every machine to run version ${needsProgram} or newer: stop ${names} first; a process that was killed is forgotten after 90 s`,
    );
  }
}

async function apply(session: MigrationSession, migration: Migration): Promise<void> {
  if (migration.isInTransaction) return applyInTransaction(session, migration);
  await session.rows(sql`set lock_timeout = 0`);
  for (const { name } of await listUnfinishedIndexes(session))
    await session.rows(raw(`drop index concurrently ${name}`));
  await session.rows(raw(migration.statements));
  await recordMigration(session, migration);
}

/**
 * A statement that waits for the lock of a table makes all later ones wait behind it. So it gives up soon, and tries again
 * when those have had their turn.
 */
async function applyInTransaction(session: MigrationSession, migration: Migration): Promise<void> {
  await session.rows(raw(`set lock_timeout = ${LOCK_MS}`));
  for (let tries = 1; ; tries++) {
    try {
      await session.rows(sql`begin`);
      await session.rows(raw(migration.statements));
      await recordMigration(session, migration);
      await session.rows(sql`commit`);
      return;
    } catch (fault) {
      await session.rows(sql`rollback`);
      if (!isLockTimeout(fault) || tries === MOST_TRIES) throw fault;
    }
    await delay(LOCK_MS);
  }
}

function isLockTimeout(fault: unknown): boolean {
  return fault instanceof Error && "code" in fault && fault.code === LOCK_NOT_AVAILABLE;
}

/** Compares versions such as "0.9.0" and "0.10.0" by their numbers. */
function isOlder(version: string, than: string): boolean {
  return version.localeCompare(than, "en", { numeric: true }) < 0;
}
