/** Graphile Worker, imported at its first use because that takes some 50 ms. */
import type { RunnerOptions } from "graphile-worker";
import type { Database } from "#platform/database/pool.ts";
import type { Log } from "#platform/log/log.ts";

/** The functions of Graphile Worker, and the options for all of them: our pool and log, no signal handlers. */
export async function loadGraphile(database: Database, log: Log) {
  const { Logger, run, runMigrations } = await import("graphile-worker");
  // Messages about single tasks are logged at low levels; attempt.ts and schedule.ts log failures themselves.
  const levels = { error: "error", warning: "warn", info: "debug", debug: "trace" } as const;
  const logger = new Logger(() => (level, message, meta) => {
    const { error } = (meta ?? {}) as { error?: unknown };
    log[levels[level]]({ err: error }, `graphile-worker: ${message}`);
  });
  const options = { pgPool: database.pool, logger, noHandleSignals: true } satisfies RunnerOptions;
  return { run, runMigrations, options };
}

/** Migrates the schema graphile_worker. */
export async function migrateQueue(database: Database, log: Log): Promise<void> {
  const { runMigrations, options } = await loadGraphile(database, log);
  await runMigrations(options);
}
