/** The whole schema: ours (db/migrations) and that of the job queue. */
import { migrate } from "./database/migrate.ts";
import type { Database } from "./database/pool.ts";
import { migrateQueue } from "./jobs/graphile.ts";
import type { Log } from "./log.ts";

/** Brings both up to date; returns the names of our migrations that this took. */
export async function prepareSchema(database: Database, log: Log): Promise<string[]> {
  const applied = await migrate(database);
  await migrateQueue(database, log);
  return applied;
}
