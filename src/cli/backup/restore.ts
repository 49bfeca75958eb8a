/** `posthaste restore`: makes a new installation from a backup. Its sending is held until the operator releases it. */

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { Readable } from "node:stream";
import type { Command } from "commander";
import { recordCommand } from "#cli/command/audit-command.ts";
import type { CliOptions } from "#cli/command/command-dependencies.ts";
import { withDatabaseAsItIs } from "#cli/command/database.ts";
import { fileFault } from "#cli/command/file-fault.ts";
import { json } from "#cli/command/output.ts";
import { describeHalted, describeWaitingWork } from "#cli/sending/describe-waiting-work.ts";
import { countWaitingWork, type WaitingWork } from "#cli/sending/waiting-work-store.ts";
import { insertHold } from "#delivery/hold/store.ts";
import { releaseAllLeases } from "#delivery/queue/queue-store.ts";
import { counted } from "#platform/count-phrase.ts";
import { BackupReader, UnusableBackup } from "#platform/database/backup/backup-reader.ts";
import { analyzeAll } from "#platform/database/backup/catalogue-store.ts";
import { type Load, loadDatabase } from "#platform/database/backup/load-database.ts";
import { requireKnownSchema } from "#platform/database/backup/schema-of-backup.ts";
import type { Database } from "#platform/database/pool.ts";
import { sentence } from "#platform/error-sentence.ts";
import { prepareSchema } from "#platform/jobs/migrate-schema.ts";
import { createLog } from "#platform/log/log.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "#platform/time-units.ts";
import { typedCommand } from "#platform/typed-command.ts";
import { requireName } from "./backup-file.ts";
import { keyNames, NO_DEADLINES, TableLines } from "./progress.ts";
import { planKeys, type RestoredKeys } from "./restore-keys.ts";

interface RestoreOptions {
  readonly passphraseFile?: string;
  readonly json?: true;
}

interface Restored extends Load {
  readonly program: string;
  readonly takenAt: Date;
  readonly keys: RestoredKeys;
  readonly work: WaitingWork;
}

export function addRestoreCommand(program: Command, options: CliOptions): void {
  const { stdout, stderr, stdin, environment } = options;
  program
    .command("restore")
    .description("restore a backup into a new installation, whose sending is held then")
    .argument("<file>", "the backup, or - for standard input")
    .option("--passphrase-file <file>", "a file whose first line is the passphrase of the secret keys")
    .option("--json", "print JSON")
    .action(async (file: string, given: RestoreOptions) => {
      const startedAt = performance.now();
      const lines = new TableLines(stderr);
      const backup = await (file === "-" ? BackupReader.open(stdin ?? Readable.from([])) : openFile(file));
      await requireKnownSchema(backup.header);
      const keys = await planKeys(options, backup.header, given.passphraseFile);
      // A pipe, which a path can name as well, can be read only once. A file is read twice, so that a damaged one fails soon, and
      // leaves no new DATA_DIR behind.
      if (file !== "-" && (await stat(file)).isFile()) {
        lines.note("Checking the backup.");
        await (await openFile(file)).readThrough();
      }
      const restored = await withDatabaseAsItIs(
        environment,
        (db) => restore(db, backup, keys, lines),
        NO_DEADLINES,
      );
      const seconds = (performance.now() - startedAt) / 1000;
      stdout.write(given.json ? json(answerOf(restored, seconds)) : describe(restored, seconds));
    });
}

async function openFile(file: string): Promise<BackupReader> {
  const advice = "name the file that `backup` has written";
  requireName(file, advice);
  try {
    return await BackupReader.open(createReadStream(file));
  } catch (fault) {
    if (fault instanceof UnusableBackup) throw fault;
    throw fileFault(`the backup ${file}`, fault, advice);
  }
}

async function restore(
  db: Database,
  backup: BackupReader,
  keys: RestoredKeys,
  lines: TableLines,
): Promise<Restored> {
  const { program, taken_at } = backup.header;
  const takenAt = new Date(taken_at);
  const load = await loadDatabase(db, backup, {
    dataTables: ["workspaces", "users"],
    async finish(tx) {
      await releaseAllLeases(tx);
      await insertHold(tx, takenAt);
      // Before the commit: a database without its key would be refused at the start, and the key only be in the backup.
      keys.write();
    },
    onRolledBack: () => keys.undo(),
    onTable: (progress) => lines.write(progress),
    onLoaded: () => lines.note("Making indexes and foreign keys."),
  });
  return { ...load, program, takenAt, keys, work: await completeRestore(db) };
}

/**
 * What follows the transaction of the restore.
 * @throws Error that says that the data is there
 */
async function completeRestore(db: Database): Promise<WaitingWork> {
  try {
    await prepareSchema(db, createLog("silent"));
    await analyzeAll(db);
    await recordCommand(db);
    return await countWaitingWork(db);
  } catch (fault) {
    throw new Error(
      `${sentence(fault)}. The backup is restored, and its sending is held; only what follows has failed: run \`${typedCommand("migrate")}\`, then \`${typedCommand("sending status")}\``,
      { cause: fault },
    );
  }
}

function answerOf({ keys, work, takenAt, ...restored }: Restored, seconds: number) {
  const { program, tables, rows, skipped } = restored;
  return {
    taken_at: takenAt,
    age_seconds: Math.round((Date.now() - takenAt.getTime()) / 1000),
    program,
    tables,
    rows,
    skipped_tables: skipped,
    seconds: Math.round(seconds * 1000) / 1000,
    key_file: keys.file,
    missing_keys: keys.missing,
    sending: { is_held: true, ...work },
  };
}

function describe({ keys, work, takenAt, ...restored }: Restored, seconds: number): string {
  const { program, tables, rows, skipped } = restored;
  const figures = `${counted(rows, "row")} of ${counted(tables, "table")} in ${Math.ceil(seconds)} s`;
  const paragraphs = [
    `Restored: ${figures}, from a backup by Posthaste ${program}.\nIt has the state of ${takenAt.toISOString()}, ${ageOf(takenAt)} ago.`,
    skipped.length > 0 && `Not restored, because they are no tables of Posthaste: ${skipped.join(", ")}.`,
    keys.file !== null && `The secret keys are in ${keys.file}.`,
    keys.missing.length > 0 &&
      `The secret key ${keyNames(keys.missing)} is missing here: set SECRET_KEY, or put it into secret.key in DATA_DIR, before you start the service.`,
    `Sending is held. ${waiting(work)}`,
    `Start the service, look at campaigns and autoresponders, and then let it send:\n\n    ${typedCommand("sending release")}\n\nWith --discard-waiting the waiting messages are cancelled instead.`,
  ];
  return `${paragraphs.filter((text) => text !== false).join("\n\n")}\n`;
}

function waiting(work: WaitingWork): string {
  const [lines, halted] = [describeWaitingWork(work), describeHalted(work)];
  if (lines === "") return halted.trimEnd() || "Nothing was waiting.";
  return `This was waiting then. What has been sent since is sent again after a release:\n${lines}${halted}`.trimEnd();
}

function ageOf(time: Date): string {
  const ms = Math.max(0, Date.now() - time.getTime());
  if (ms >= 2 * DAY_MS) return counted(Math.floor(ms / DAY_MS), "day");
  if (ms >= 2 * HOUR_MS) return counted(Math.floor(ms / HOUR_MS), "hour");
  return counted(Math.max(1, Math.round(ms / MINUTE_MS)), "minute");
}
