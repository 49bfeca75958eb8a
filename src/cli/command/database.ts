/** Opens the database for a command, whether the service runs or not. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { readConfig } from "#platform/config/config.ts";
import { startEmbedded } from "#platform/database/embedded/embedded.ts";
import { createDatabase, type Database, type Deadlines } from "#platform/database/pool.ts";
import { refuseUnfinishedRestore } from "#platform/database/unfinished-restore-store.ts";
import { prepareSchema } from "#platform/jobs/migrate-schema.ts";
import { createLog } from "#platform/log/log.ts";
import { hasWorkspaces } from "#workspace/workspaces/store.ts";
import { auditCommand } from "./audit-command.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Runs `work` on DATABASE_URL or on the embedded database of DATA_DIR: the running service's, or one that this command
 * starts and stops. Migrates the schema first, as every start of the service does; `applied` names the migrations
 * that were applied. A change that the command makes is in the audit log. `deadlines` replace the usual statement deadlines.
 */
export function withDatabase<Result>(
  environment: Environment,
  work: (db: Database, applied: readonly string[]) => Promise<Result>,
  deadlines: Partial<Deadlines> = {},
): Promise<Result> {
  return withDatabaseAsItIs(environment, (db) => migrated(db, work), deadlines);
}

/**
 * Like `withDatabase`, for a command that would have no effect on an installation that is only made by it: one with another
 * DATA_DIR than the service's would report success, for example.
 * @throws Error if there is no installation; nothing is created then
 */
export function withInstallation<Result>(
  environment: Environment,
  work: (db: Database) => Promise<Result>,
  deadlines: Partial<Deadlines> = {},
): Promise<Result> {
  requireDatabase(environment);
  const ofInstallation = async (db: Database) => {
    await refuseUnfinishedRestore(db);
    if (!(await hasWorkspaces(db)))
      throw new Error(
        "the database has no workspace: check DATABASE_URL, or DATA_DIR, which must be the service's",
      );
    return migrated(db, work);
  };
  return withDatabaseAsItIs(environment, ofInstallation, deadlines);
}

async function migrated<Result>(
  db: Database,
  work: (db: Database, applied: readonly string[]) => Promise<Result>,
): Promise<Result> {
  const applied = await prepareSchema(db, createLog("silent"));
  return auditCommand(db, (audited) => work(audited, applied));
}

/** @throws Error if neither DATABASE_URL is set nor DATA_DIR has a database */
export function requireDatabase(environment: Environment): void {
  const { DATABASE_URL, DATA_DIR } = readConfig(environment);
  if (!DATABASE_URL && !existsSync(join(DATA_DIR, "postgres")))
    throw new Error(
      `${DATA_DIR} has no database: set the DATA_DIR or the DATABASE_URL of the service, or start it first`,
    );
}

/** Like `withDatabase`, without migrating: the schema may be older, newer or missing. */
export async function withDatabaseAsItIs<Result>(
  environment: Environment,
  work: (db: Database) => Promise<Result>,
  deadlines: Partial<Deadlines> = {},
): Promise<Result> {
  const { DATABASE_URL, DATA_DIR } = readConfig(environment);
  const embedded = DATABASE_URL
    ? undefined
    : await startEmbedded({ dataDir: DATA_DIR, log: createLog("silent") });
  const url = DATABASE_URL ?? embedded?.connection.url ?? "";
  const db = createDatabase(url, { size: 2, name: "posthaste command", onError: () => {}, deadlines });
  try {
    return await work(db);
  } finally {
    await db.close();
    await embedded?.stop();
  }
}
