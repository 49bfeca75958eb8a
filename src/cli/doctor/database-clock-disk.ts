/** Checks the database server, its schema, its archive, the clocks and the disk. */
import { existsSync } from "node:fs";
import { hasTablespace } from "#messages/partitions/archive-store.ts";
import { CLOCK_DIFFERENCE_SECONDS } from "#platform/clock.ts";
import type { Config } from "#platform/config/config.ts";
import { findMissingMigrations } from "#platform/database/migrate.ts";
import type { Database } from "#platform/database/pool.ts";
import { sentence } from "#platform/error-sentence.ts";
import { diskFault } from "#platform/http/health.ts";
import { typedCommand } from "#platform/typed-command.ts";
import { type DatabaseServer, findServer } from "./database-server-store.ts";
import { type Finding, of } from "./finding.ts";

/** Checks the server, its clock and the schema. */
export async function checkDatabase(db: Database): Promise<Finding[]> {
  const before = Date.now();
  const server = await findServer(db);
  const after = Date.now();
  if (server === undefined) return [of("database")("fault", "The database does not report its version.")];
  return [checkServer(server), checkClock(server.now - (before + after) / 2), await checkSchema(db)];
}

/** Some statements may read the whole message log at the same time. */
const READERS_OF_LOG = 4;

export function checkServer({ version, locks, locks_of_log: needed }: DatabaseServer): Finding {
  const found = `PostgreSQL ${version} answers`;
  return locks < READERS_OF_LOG * needed
    ? of("database")(
        "warning",
        `${found}, but has room for ${locks} locks, and a statement that reads the whole message log takes some ${needed}. Set max_locks_per_transaction = 1024 in PostgreSQL and restart it.`,
      )
    : of("database")("ok", `${found}.`);
}

async function checkSchema(db: Database): Promise<Finding> {
  const say = of("schema");
  try {
    const [first, ...others] = await findMissingMigrations(db);
    if (first === undefined) return say("ok", "All migrations are applied.");
    const rest = others.length === 0 ? "" : ` and ${others.length} more`;
    return say(
      "warning",
      `Not applied yet: ${first}${rest}. The next start of the service applies them, or \`${typedCommand("migrate")}\`.`,
    );
  } catch (fault) {
    return say("fault", `${sentence(fault)}.`);
  }
}

/** @param difference between the clocks of the machine and the database, in milliseconds */
export function checkClock(difference: number): Finding {
  const seconds = Math.abs(difference) / 1000;
  const found = `The clocks of this machine and of the database are ${seconds.toFixed(1)} s apart`;
  return seconds > CLOCK_DIFFERENCE_SECONDS
    ? of("clock")(
        "fault",
        `${found}: leases, schedules and limits are wrong by as much. Synchronize both with one time server (NTP).`,
      )
    : of("clock")("ok", `${found}.`);
}

export async function checkDisk(dataDir: string): Promise<Finding> {
  const say = of("disk");
  if (!existsSync(dataDir))
    return say("not_checked", `${dataDir} does not exist yet: the first start creates it.`);
  const fault = await diskFault(dataDir);
  return fault === null
    ? say("ok", `${dataDir} is writable and has free space.`)
    : say(
        "fault",
        `${dataDir}: ${fault}. /readyz answers 503, so that load balancers leave this machine. Without free space nothing is delivered, and the embedded database takes no mail: free some (docs/troubleshooting.md#the-disk-fills).`,
      );
}

/** Whether old days of the message log can be moved. Nothing when MESSAGE_ARCHIVE_TABLESPACE is empty. */
export async function checkArchive(
  db: Database,
  { MESSAGE_ARCHIVE_TABLESPACE: name, MESSAGE_ARCHIVE_DAYS: days }: Config,
): Promise<Finding[]> {
  if (name === null) return [];
  const say = of("archive");
  return (await hasTablespace(db, name))
    ? [say("ok", `Days of the message log that are ${days} days old go to the tablespace ${name}.`)]
    : [
        say(
          "fault",
          `MESSAGE_ARCHIVE_TABLESPACE is ${name}, and there is no such tablespace that the database user may create tables in. Create it (docs/operations.md#move-old-days-to-cheaper-storage), or empty the setting.`,
        ),
      ];
}
