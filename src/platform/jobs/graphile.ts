/** Graphile Worker, loaded when it is first needed: importing it costs a start some 50 ms. */
import type { RunnerOptions } from "graphile-worker";
import type { Database } from "#platform/database/pool.ts";
import type { Log } from "#platform/log/log.ts";

/** Its module, and the options of every use of it: this pool, our log, no signal handlers. */
export async function loadGraphile(database: Database, log: Log) {
  const { Logger, run, runMigrations } = await import("graphile-worker");
  // What Graphile says of single tasks is of interest only when something is sought; attempt.ts logs failures.
  const levels = { error: "error", warning: "warn", info: "debug", debug: "trace" } as const;
  const logger = new Logger(() => (level, message, meta) => {
    const { error } = (meta ?? {}) as { error?: unknown };
    log[levels[level]]({ err: error }, `graphile-worker: ${message}`);
  });
  const options = { pgPool: database.pool, logger, noHandleSignals: true } satisfies RunnerOptions;
  return { run, runMigrations, options };
}

/** Brings the queue's own schema (graphile_worker) up to date, along with db/migrations. */
export async function migrateQueue(database: Database, log: Log): Promise<void> {
  const { runMigrations, options } = await loadGraphile(database, log);
  await runMigrations(options);
}
