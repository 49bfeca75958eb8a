/**
 * Writes a backup of a database that is in use. All rows come from one snapshot, which blocks neither readers nor writers; while
 * it is open, VACUUM keeps the rows that it may still need, and partitions are neither created nor dropped.
 */
import type { Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { listAppliedMigrations } from "#platform/database/applied-migrations-store.ts";
import type { Database, Queryable, Transaction } from "#platform/database/pool.ts";
import { inOneSnapshot } from "#platform/database/snapshot-store.ts";
import { listSecretKeys } from "#platform/secrets/key-fingerprints-store.ts";
import type { SealedText } from "#platform/secrets/passphrase-box.ts";
import { version } from "#platform/version.ts";
import { type BackupHeader, FORMAT } from "./backup-format.ts";
import { BackupWriter } from "./backup-writer.ts";
import {
  copyStatement,
  describeServer,
  listSequences,
  listTables,
  lockTables,
  type StoredTable,
  useFixedFormats,
} from "./catalogue-store.ts";
import { findUnknownMigration, type WantedMigration } from "./schema-of-backup.ts";

/** Tables whose rows are not in a backup, each with the reason. Every other table is in it. */
export const tablesLeftOut: Readonly<Record<string, string>> = {
  account_links:
    "they work once, and one that was used after the backup would work again; people ask for another",
  attempt_buckets: "limits of sign-in attempts, which fill again within minutes",
  content_previews: "not logged by PostgreSQL, and kept for minutes",
  delivery_addresses: "source addresses of running delivery processes",
  job_runners: "running processes",
  running_processes: "running processes, and what they wait for",
  schema_migrations: "a restore makes the schema by running the migrations",
  sending_hold: "a restore always holds the sending",
  sessions: "a session that was ended after the backup would be valid again; people sign in again",
  sign_in_challenges: "they last for minutes",
};

/** A table that is in the backup, or restored. */
export interface TableProgress {
  readonly table: string;
  readonly rows: number;
}

export interface DumpOptions {
  readonly keyRing: SealedText | null;
  /** Called after each table that has rows. @param bytes written so far, compressed */
  readonly onTable?: (progress: TableProgress, bytes: number) => void;
}

export interface Dump {
  readonly header: BackupHeader;
  readonly tables: number;
  readonly rows: number;
  /** Of the backup, compressed. */
  readonly bytes: number;
}

/**
 * A backup rests after this work, for REST_SHARE of the time that it took, so that the service on the same machine answers in
 * time. What it does not read stays in the socket, and PostgreSQL, whose process has no low priority, rests with it. Short
 * pieces of work delay a request less than long ones.
 */
const WORK_MS = 10;
const REST_SHARE = 1;
/**
 * The longest rest. Work that took longer has waited for the output (a network that stalls, a process that was stopped), while
 * PostgreSQL rested, too.
 */
const MOST_REST_MS = 250;

/** A partition may be created between the look at the catalogue and the lock. */
const MOST_TRIES = 5;

/**
 * @param db a database without time limits for statements and transactions
 * @param output stays open
 * @throws Error if the database is empty or of a newer version, or the output fails
 */
export async function dumpDatabase(db: Database, output: Writable, options: DumpOptions): Promise<Dump> {
  for (let tries = 1; ; tries++) {
    const before = await listBackedUp(db);
    if (before.length === 0) {
      throw new Error("the database is empty: check DATABASE_URL, or DATA_DIR, which must be the service's");
    }
    const dump = await inOneSnapshot(db, async (tx) => {
      // Before the first query, so that the snapshot has what the lock protects.
      await lockTables(
        tx,
        before.map(({ name }) => name),
      );
      const tables = await listBackedUp(tx);
      if (JSON.stringify(tables) !== JSON.stringify(before)) return undefined;
      return dumpTables(tx, tables, output, options);
    });
    if (dump !== undefined) return dump;
    if (tries === MOST_TRIES) throw new Error("the schema of the database changes: try again later");
  }
}

async function listBackedUp(db: Queryable): Promise<StoredTable[]> {
  return (await listTables(db)).filter(({ name }) => !(name in tablesLeftOut));
}

/** A restore refuses a backup whose schema its program does not have, and names the program that made the backup. */
async function requireKnown(migrations: readonly WantedMigration[]): Promise<void> {
  const unknown = await findUnknownMigration(migrations);
  if (unknown !== undefined) {
    throw new Error(
      `the database has migration ${unknown}, which this version does not have: make the backup with the newer version that applied it`,
    );
  }
}

async function dumpTables(
  tx: Transaction,
  tables: readonly StoredTable[],
  output: Writable,
  { keyRing, onTable }: DumpOptions,
): Promise<Dump> {
  await useFixedFormats(tx);
  const server = await describeServer(tx);
  const migrations = await listAppliedMigrations(tx);
  await requireKnown(migrations);
  const header: BackupHeader = {
    format: FORMAT,
    program: version,
    postgres: server.version,
    taken_at: server.time.toISOString(),
    migrations,
    tables,
    key_fingerprints: (await listSecretKeys(tx))
      .filter(({ retired_at }) => retired_at === null)
      .map(({ fingerprint }) => fingerprint.toString("hex")),
    key_ring: keyRing,
  };
  const writer = new BackupWriter(output, header);
  const pauses = new RestPauses();
  try {
    for (const table of tables) {
      const { name } = table;
      await writer.beginTable(name);
      await tx.copyOut(copyStatement(table, "to stdout"), async (pieces) => {
        for await (const piece of pieces) {
          await writer.addData(piece);
          await pauses.restIfDue();
        }
      });
      const rows = writer.rowsOf(name);
      if (rows > 0) onTable?.({ table: name, rows }, writer.bytes);
    }
    // Sequences are in no snapshot: read last, they are not behind any row.
    const { rows } = await writer.end(await listSequences(tx));
    const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
    return { header, tables: tables.length, rows: total, bytes: writer.bytes };
  } catch (fault) {
    writer.abandon();
    throw fault;
  }
}

/** The rests of one backup. */
export class RestPauses {
  #workingSince = performance.now();

  /** Waits, if the work since the last rest was long enough. */
  async restIfDue(): Promise<void> {
    const worked = performance.now() - this.#workingSince;
    if (worked < WORK_MS) return;
    await delay(Math.min(worked * REST_SHARE, MOST_REST_MS));
    this.#workingSince = performance.now();
  }
}
