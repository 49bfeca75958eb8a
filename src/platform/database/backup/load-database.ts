/**
 * Restores a backup into a database without data, in one transaction: it is there completely, or not at all. From before this
 * transaction until its commit a marker (unfinished-restore-store.ts) keeps everything but another restore away from the database.
 */

import { lockMigrationsInTransaction } from "#platform/database/applied-migrations-store.ts";
import type { Database, Transaction } from "#platform/database/pool.ts";
import {
  endUnfinishedRestore,
  isRestoreUnfinished,
  markUnfinishedRestore,
} from "#platform/database/unfinished-restore-store.ts";
import { type BackupReader, UnusableBackup } from "./backup-reader.ts";
import {
  copyStatement,
  createPartition,
  dropIndexesAndForeignKeys,
  emptyTable,
  findTableWithRows,
  listTables,
  makeAgain,
  type StoredTable,
  setSequence,
  useFixedFormats,
} from "./catalogue-store.ts";
import type { TableProgress } from "./dump-database.ts";
import { migrateAs } from "./schema-of-backup.ts";

export interface LoadOptions {
  /** A database with a row in one of these tables is in use. */
  readonly dataTables: readonly string[];
  /** The last part of the transaction, when all rows are checked. */
  readonly finish: (tx: Transaction) => Promise<void>;
  /** Called when the database says that the transaction was rolled back: undoes what `finish` did elsewhere. */
  readonly onRolledBack: () => void;
  readonly onTable?: (progress: TableProgress) => void;
  /** Called before indexes and foreign keys are made, which may take as long as the rows. */
  readonly onLoaded?: () => void;
}

export interface Load {
  readonly tables: number;
  readonly rows: number;
  /** Tables of the database that are none of this service, and were not restored. */
  readonly skipped: readonly string[];
}

/**
 * @param db a database without time limits for statements and transactions
 * @param backup one whose schema this version has (`requireKnownSchema`)
 * @throws UnusableBackup, or an Error that says what to do; the database has no data then
 */
export async function loadDatabase(db: Database, backup: BackupReader, options: LoadOptions): Promise<Load> {
  const isOwnMark = await db.transaction(async (tx) => {
    // No service that starts meanwhile is between its look at the marker and its first tables.
    await lockMigrationsInTransaction(tx);
    await requireNoData(tx, options);
    return markUnfinishedRestore(tx);
  });
  try {
    return await db.transaction((tx) => loadIn(tx, backup, options));
  } catch (fault) {
    // The commit removes the marker. Without an answer of the database it is unknown whether that was made.
    if (await isRestoreUnfinished(db).catch(() => false)) options.onRolledBack();
    // The transaction has changed nothing. Without an answer the marker stays, and so does another restore's.
    if (isOwnMark) await endUnfinishedRestore(db).catch(() => {});
    throw fault;
  }
}

async function requireNoData(tx: Transaction, { dataTables }: LoadOptions): Promise<void> {
  const table = await findTableWithRows(tx, dataTables);
  if (table === undefined) return;
  throw new Error(
    `the database is in use (it has ${table}): a restore needs a new one, another DATA_DIR or a DATABASE_URL that names an empty database. Nothing was changed`,
  );
}

async function loadIn(tx: Transaction, backup: BackupReader, options: LoadOptions): Promise<Load> {
  const { finish, onTable, onLoaded } = options;
  await migrateAs(tx, backup.header.migrations);
  await requireNoData(tx, options);
  await useFixedFormats(tx);
  const remakes = await dropIndexesAndForeignKeys(tx);
  const tables = await makePartitions(tx, backup.header.tables);
  const { rows, skipped } = await loadTables(tx, backup, tables, onTable);
  onLoaded?.();
  await makeAgain(tx, remakes);
  for (const sequence of backup.trailer.sequences) await setSequence(tx, sequence);
  await finish(tx);
  await endUnfinishedRestore(tx);
  return { tables: tables.size, rows, skipped };
}

/** Creates the missing partitions. @returns the tables of the backup that the schema has, by name */
async function makePartitions(
  tx: Transaction,
  wanted: readonly StoredTable[],
): Promise<ReadonlyMap<string, StoredTable>> {
  const present = await listTables(tx);
  const known = new Set(present.map(({ name }) => name));
  const partitioned = new Set(present.map((table) => table.partition_of).filter((name) => name !== null));
  for (const table of wanted) {
    const { name, partition_of, lowest, above } = table;
    if (known.has(name) || partition_of === null || lowest === null || above === null) continue;
    if (!partitioned.has(partition_of)) continue;
    await createPartition(tx, name, { table: partition_of, lowest, above });
    known.add(name);
  }
  return new Map(wanted.flatMap((table) => (known.has(table.name) ? [[table.name, table]] : [])));
}

/** Loads all rows and compares them with the trailer. */
async function loadTables(
  tx: Transaction,
  backup: BackupReader,
  tables: ReadonlyMap<string, StoredTable>,
  onTable: LoadOptions["onTable"],
): Promise<Pick<Load, "rows" | "skipped">> {
  const loaded = new Map<string, number>();
  const skipped: string[] = [];
  for await (const { name, pieces } of backup.tables()) {
    const table = tables.get(name);
    if (table === undefined) {
      for await (const _ of pieces);
      skipped.push(name);
      continue;
    }
    await emptyTable(tx, name);
    const rows = await tx.copy(copyStatement(table, "from stdin"), pieces);
    loaded.set(name, rows);
    if (rows > 0) onTable?.({ table: name, rows });
  }
  for (const name of tables.keys()) {
    const [expected, found] = [backup.trailer.rows[name], loaded.get(name)];
    if (expected !== found) {
      throw new UnusableBackup(`the backup says ${expected} rows of ${name}, but has ${found}`);
    }
  }
  return { rows: [...loaded.values()].reduce((sum, count) => sum + count, 0), skipped };
}
