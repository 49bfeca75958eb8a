/** `posthaste backup`: writes everything that the database holds to a file or a pipe, while the service runs. */

import type { Writable } from "node:stream";
import type { Command } from "commander";
import { recordCommand } from "#cli/command/audit-command.ts";
import type { CliOptions } from "#cli/command/command-dependencies.ts";
import { requireDatabase, withDatabaseAsItIs } from "#cli/command/database.ts";
import { json } from "#cli/command/output.ts";
import { machineKeys } from "#cli/secret-key/machine-keys.ts";
import { readConfig } from "#platform/config/config.ts";
import { counted } from "#platform/count-phrase.ts";
import { type Dump, dumpDatabase } from "#platform/database/backup/dump-database.ts";
import { findMissingMigrations } from "#platform/database/migrate.ts";
import type { Database } from "#platform/database/pool.ts";
import { sentence } from "#platform/error-sentence.ts";
import { bytesText } from "#platform/limits/limit-errors.ts";
import { formatRing } from "#platform/secrets/key-ring.ts";
import { type SealedText, sealWithPassphrase } from "#platform/secrets/passphrase-box.ts";
import { requireNew, streamOf, writeNewFile, writeTo } from "./backup-file.ts";
import { keyNames, NO_DEADLINES, TableLines } from "./progress.ts";
import { readPassphrase } from "./read-passphrase.ts";

interface BackupOptions {
  readonly withSecretKey?: true;
  readonly passphraseFile?: string;
  readonly json?: true;
}

export function addBackupCommand(program: Command, options: CliOptions): void {
  const { stdout, stderr, environment } = options;
  program
    .command("backup")
    .description("write a backup of the database, also while the service runs")
    .argument("<file>", "a new file, or - for standard output")
    .option("--with-secret-key", "also the secret keys, encrypted with a passphrase")
    .option("--passphrase-file <file>", "a file whose first line is the passphrase")
    .option("--json", "print JSON")
    .action(async (file: string, given: BackupOptions) => {
      const startedAt = performance.now();
      // Before a person types a passphrase.
      const toPipe = file === "-" ? streamOf(stdout) : undefined;
      if (toPipe === undefined) await requireNew(file);
      requireDatabase(environment);
      const keyRing = await sealedKeys(options, given);
      const lines = new TableLines(stderr);
      const dump = await withDatabaseAsItIs(
        environment,
        async (db) => {
          const missing = await findMissingMigrations(db);
          const write = (output: Writable) => backUp(db, output, keyRing, lines);
          const written = await (toPipe === undefined
            ? writeNewFile(file, write)
            : writeTo(toPipe, "standard output", write));
          // Before an upgrade the schema may be older than this program, which then cannot write into it.
          if (missing.length === 0) await tryToRecord(db, stderr);
          return written;
        },
        NO_DEADLINES,
      );
      const seconds = (performance.now() - startedAt) / 1000;
      // With `-`, standard output is the backup.
      const report = file === "-" ? stderr : stdout;
      report.write(given.json ? json(answerOf(dump, file, seconds)) : describe(dump, file, seconds));
    });
}

/** Null without --with-secret-key. */
async function sealedKeys(
  options: CliOptions,
  { withSecretKey, passphraseFile }: BackupOptions,
): Promise<SealedText | null> {
  if (!withSecretKey) {
    if (passphraseFile === undefined) return null;
    throw new Error("--passphrase-file is for the secret keys: add --with-secret-key, or leave it out");
  }
  const { ring } = machineKeys(readConfig(options.environment));
  const passphrase = await readPassphrase(options, { file: passphraseFile, isNew: true });
  return sealWithPassphrase(formatRing(ring, "\n"), passphrase);
}

function backUp(
  db: Database,
  output: Writable,
  keyRing: SealedText | null,
  lines: TableLines,
): Promise<Dump> {
  return dumpDatabase(db, output, {
    keyRing,
    onTable: (progress, bytes) => lines.write(progress, bytes),
  });
}

/** The backup is complete, also if the audit log cannot be written, as on a standby. */
async function tryToRecord(db: Database, stderr: CliOptions["stderr"]): Promise<void> {
  try {
    await recordCommand(db);
  } catch (fault) {
    stderr.write(`warning: the backup is complete, but not in the audit log: ${sentence(fault)}\n`);
  }
}

function answerOf({ header, tables, rows, bytes }: Dump, file: string, seconds: number) {
  return {
    file: file === "-" ? null : file,
    taken_at: header.taken_at,
    program: header.program,
    tables,
    rows,
    bytes,
    seconds: Math.round(seconds * 1000) / 1000,
    has_secret_key: header.key_ring !== null,
    key_fingerprints: header.key_fingerprints,
  };
}

function describe({ header, tables, rows, bytes }: Dump, file: string, seconds: number): string {
  const place = file === "-" ? "Written" : `Written to ${file}`;
  const figures = `${counted(rows, "row")} of ${counted(tables, "table")}, ${bytesText(bytes)}, in ${Math.ceil(seconds)} s`;
  const keys = keyNames(header.key_fingerprints);
  const ring =
    header.key_ring !== null
      ? "It has the secret keys, encrypted with your passphrase."
      : keys === ""
        ? ""
        : `It is without the secret key (${keys}): keep that in another place.`;
  return `${place}: ${figures}.\nIt has the state of ${header.taken_at}. ${ring}\n`;
}
