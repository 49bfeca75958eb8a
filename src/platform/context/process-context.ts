/** The values that every part of one process shares. They are made once, from the configuration. */
import { type Clock, systemClock } from "#platform/clock.ts";
import type { Config } from "#platform/config/config.ts";
import { type ConnectionSettings, createDatabase, type Database } from "#platform/database/pool.ts";
import { ReplicaReads } from "#platform/database/replica-reads.ts";
import { createRequestDatabase } from "#platform/database/request-database.ts";
import { createLog, type Log } from "#platform/log/log.ts";
import { loadSecretKeys } from "#platform/secrets/key-ring.ts";
import { createSecrets, type Secrets } from "#platform/secrets/secrets.ts";

export interface ProcessContext {
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
  /** For background work. */
  readonly database: Database;
  /** For work that a caller waits for: the API, pages, SMTP sessions. */
  readonly requests: Database;
  /** For reports, whose figures may be some seconds old. Without a replica they come from the database of the caller. */
  readonly reports?: ReplicaReads;
  /** The longest time a request to the API waits for `requests` in total, in ms; PATIENCE_MS by default. */
  readonly requestMs?: number;
  readonly secrets: Secrets;
}

/**
 * Creates the secret key if it is missing. Connects to nothing yet.
 *
 * @param name the application_name of the database connections
 * @param settings PostgreSQL settings of these connections
 */
export function createProcessContext(
  config: Config,
  databaseUrl: string,
  name: string,
  settings: ConnectionSettings = {},
): ProcessContext {
  const log = createLog(config.LOG_LEVEL, { format: config.LOG_FORMAT });
  const connections = {
    size: config.DATABASE_POOL,
    name,
    settings,
    onError: (error: Error) => log.warn({ err: error }, "idle database connection failed"),
  };
  const requests = createRequestDatabase(databaseUrl, connections);
  const { DATABASE_READ_URL: replicaUrl } = config;
  const ofReports = { ...connections, size: Math.ceil(config.DATABASE_POOL / 2) };
  return {
    config,
    log,
    clock: systemClock,
    database: createDatabase(databaseUrl, connections),
    requests,
    ...(replicaUrl !== null && { reports: new ReplicaReads(replicaUrl, requests, ofReports) }),
    secrets: createSecrets(...loadSecretKeys(config.SECRET_KEY, config.DATA_DIR)),
  };
}
