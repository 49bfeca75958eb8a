/** Migrates the whole schema: ours (db/migrations) and that of the job queue. */
import { migrate } from "#platform/database/migrate.ts";
import type { Database } from "#platform/database/pool.ts";
import type { Log } from "#platform/log/log.ts";
import { migrateQueue } from "./graphile.ts";

/** @returns the names of our migrations that were applied */
export async function prepareSchema(database: Database, log: Log): Promise<string[]> {
  const applied = await migrate(database);
  await migrateQueue(database, log);
  return applied;
}
