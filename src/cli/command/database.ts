/** The database as a command reaches it, whether the service runs or not. */
import { readConfig } from "#platform/config/config.ts";
import { startEmbedded } from "#platform/database/embedded/embedded.ts";
import { createDatabase, type Database, type Deadlines } from "#platform/database/pool.ts";
import { prepareSchema } from "#platform/jobs/schema.ts";
import { createLog } from "#platform/log/log.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Runs `work` against DATABASE_URL or the embedded database of DATA_DIR: the running service's, or one that lives
 * as long as the command. The schema is brought up to date first, as at every start of the service; `applied` names
 * the migrations that this took. `deadlines` are for work that reads everything there is.
 */
export function withDatabase<Result>(
  environment: Environment,
  work: (db: Database, applied: readonly string[]) => Promise<Result>,
  deadlines: Partial<Deadlines> = {},
): Promise<Result> {
  return withDatabaseAsItIs(
    environment,
    async (db) => work(db, await prepareSchema(db, createLog("silent"))),
    deadlines,
  );
}

/** The same, but for the schema, which may be an older one, a newer one or none. */
export async function withDatabaseAsItIs<Result>(
  environment: Environment,
  work: (db: Database) => Promise<Result>,
  deadlines: Partial<Deadlines> = {},
): Promise<Result> {
  const { DATABASE_URL, DATA_DIR } = readConfig(environment);
  const embedded = DATABASE_URL
    ? undefined
    : await startEmbedded({ dataDir: DATA_DIR, log: createLog("silent") });
  const url = DATABASE_URL?.href ?? embedded?.connection.url ?? "";
  const db = createDatabase(url, { size: 2, name: "posthaste command", onError: () => {}, deadlines });
  try {
    return await work(db);
  } finally {
    await db.close();
    await embedded?.stop();
  }
}
