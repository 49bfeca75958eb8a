/** The schema that a backup was made of: that of its migrations, whichever later ones this version has. */
import { raw } from "sql-template-tag";
import {
  type AppliedMigration,
  createMigrationsTable,
  listAppliedMigrations,
  lockMigrationsInTransaction,
  recordMigration,
} from "#platform/database/applied-migrations-store.ts";
import { readMigrations, thisRelease } from "#platform/database/migration-files.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { BackupHeader } from "./backup-format.ts";
import { UnusableBackup } from "./backup-reader.ts";

/** A migration as the header of a backup names it. */
export type WantedMigration = Pick<AppliedMigration, "name" | "digest">;

/** The first of these migrations that this version does not have with the same content. */
export async function findUnknownMigration(wanted: readonly WantedMigration[]): Promise<string | undefined> {
  const own = new Map((await readMigrations(thisRelease)).map(({ name, digest }) => [name, digest]));
  return wanted.find(({ name, digest }) => own.get(name) !== digest)?.name;
}

/** @throws UnusableBackup if this version does not have the schema of the backup */
export async function requireKnownSchema({ migrations, program }: BackupHeader): Promise<void> {
  const unknown = await findUnknownMigration(migrations);
  if (unknown === undefined) return;
  throw new UnusableBackup(
    `the backup was made by Posthaste ${program}, whose schema this version does not have (${unknown}): restore it with that version, or with a newer one`,
  );
}

/**
 * Applies exactly these migrations, which this version has, in a transaction and under the lock of `migrate`.
 * @throws Error if the database has others
 */
export async function migrateAs(tx: Queryable, wanted: readonly WantedMigration[]): Promise<void> {
  await lockMigrationsInTransaction(tx);
  await createMigrationsTable(tx);
  const applied = new Set((await listAppliedMigrations(tx)).map(({ name }) => name));
  const names = new Set(wanted.map(({ name }) => name));
  const other = [...applied].find((name) => !names.has(name));
  if (other !== undefined) {
    throw new Error(
      `the schema of this database is newer than the backup (it has migration ${other}): restore into an empty database`,
    );
  }
  for (const migration of await readMigrations(thisRelease)) {
    const { name, statements, isInTransaction } = migration;
    if (!names.has(name) || applied.has(name)) continue;
    // The tables are empty, so that nothing waits for an index that is built in the transaction.
    await tx.run(raw(isInTransaction ? statements : statements.replaceAll(/ concurrently/gi, "")));
    await recordMigration(tx, migration);
  }
}
