/** The SQL of the migrations that a database has (table schema_migrations). */
import sql from "sql-template-tag";
import { lockKey } from "./advisory-lock-key.ts";
import type { Migration } from "./migration-files.ts";
import type { Queryable } from "./pool.ts";

/** What migrations ask: one session, or a transaction. */
export type MigrationSession = Pick<Queryable, "rows">;

export type AppliedMigration = Pick<Migration, "name" | "digest" | "needsProgram">;

const LOCK = lockKey("migrations");

/** Waits until no other session migrates; the lock lasts until this one ends. */
export async function lockMigrations(session: MigrationSession): Promise<void> {
  await session.rows(sql`select pg_advisory_lock(${LOCK})`);
}

/** The same until the end of the transaction. */
export async function lockMigrationsInTransaction(tx: MigrationSession): Promise<void> {
  await tx.rows(sql`select pg_advisory_xact_lock(${LOCK})`);
}

export async function createMigrationsTable(db: MigrationSession): Promise<void> {
  await db.rows(sql`
    create table if not exists schema_migrations (
      name text primary key,
      applied_at timestamptz not null default now(),
      digest text not null,
      needs_program text
    )`);
}

/** In the order of application. The table must exist. */
export function listAppliedMigrations(db: MigrationSession): Promise<AppliedMigration[]> {
  return db.rows(
    sql`select name, digest, needs_program as "needsProgram" from schema_migrations order by name`,
  );
}

export async function recordMigration(
  db: MigrationSession,
  { name, digest, needsProgram }: AppliedMigration,
): Promise<void> {
  await db.rows(sql`
    insert into schema_migrations (name, digest, needs_program) values (${name}, ${digest}, ${needsProgram})`);
}

/** Processes that ran in the last 90 seconds, and may run still. */
export function listRunningVersions(
  db: MigrationSession,
): Promise<{ readonly host: string; readonly pid: number; readonly version: string }[]> {
  return db.rows(sql`
    select host, pid, version from running_processes
    where seen_at > now() - interval '90 seconds' order by host, pid`);
}

/** An index whose concurrent building was interrupted is never used, and keeps its name. */
export function listUnfinishedIndexes(db: MigrationSession): Promise<{ readonly name: string }[]> {
  return db.rows(sql`
    select indexrelid::regclass::text as name from pg_index i join pg_class c on c.oid = i.indexrelid
    where not i.indisvalid and c.relnamespace = 'public'::regnamespace and not c.relispartition`);
}
