/**
 * `posthaste serve`: runs the service from start to graceful stop. Starts in this order: database (embedded or
 * DATABASE_URL), schema, secret key, the ports of HTTP and SMTP, first workspace, delivery processes, background jobs.
 * Delivery processes are children of this process (delivery-workers.ts).
 */

import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { mergeLanes } from "#delivery/lanes/lanes-by-mx-host.ts";
import { firstKeyFault, requireUsableKeys, SecretKeyWatch } from "#identity/check-machine-secret-keys.ts";
import { ensurePartitions } from "#messages/partitions/create-partitions.ts";
import { type Config, findMisspelledSettings, readConfig } from "#platform/config/config.ts";
import { createProcessContext, type ProcessContext } from "#platform/context/process-context.ts";
import { startEmbedded } from "#platform/database/embedded/embedded.ts";
import { requireUsableSchema } from "#platform/database/migrate.ts";
import { createDatabase } from "#platform/database/pool.ts";
import { prepareSchema } from "#platform/jobs/migrate-schema.ts";
import { createLog, type Log } from "#platform/log/log.ts";
import { bindPort } from "#platform/network/bind-port.ts";
import { publicUrlFault } from "#platform/network/public-url-check.ts";
import { endWithParent } from "#platform/process/exit-with-parent.ts";
import { makeDataDirPrivate } from "#platform/process/private-data-dir.ts";
import { ProcessRegistration } from "#platform/process/process-registration.ts";
import { sweepTempFiles } from "#platform/process/temp-files.ts";
import { findSecretKeys } from "#platform/secrets/key-ring.ts";
import { createFirstWorkspace } from "#workspace/create-workspace.ts";
import { createApi } from "./api.ts";
import { DeliveryWorkers } from "./delivery-workers.ts";
import { createHealthServer } from "./health-pages.ts";
import { startInbound } from "./inbound.ts";
import { startJobs } from "./jobs.ts";
import { createProcessMetrics } from "./metrics.ts";
import { renewConsoleBuild } from "./renew-console-build.ts";
import type { Role } from "./roles.ts";
import { SendingHoldLog } from "./sending-hold-log.ts";
import { firstKeyNotice, startNotice } from "./start-notice.ts";

/**
 * A component that is still running after this time is ended by force. Work in flight is not lost, because leases and
 * journals survive.
 */
const STOP_MS = 30_000;
/** How long a killed process may take to exit, an observer to stop, and each database pool to close. */
const KILL_MS = 1_000;
const OBSERVER_MS = 1_000;
const CLOSE_MS = 10_000;

type Environment = Readonly<Record<string, string | undefined>>;

/** Runs until SIGTERM or SIGINT, then finishes work in flight and ends the process. */
export async function serve(environment: Environment, roles: readonly Role[]): Promise<never> {
  const config = readConfig(environment);
  mergeLanes(config.LANES_FILE);
  const log = createLog(config.LOG_LEVEL, { format: config.LOG_FORMAT });
  for (const warning of findMisspelledSettings(environment)) log.warn(warning);
  const stopping = new AbortController();
  // The signals can arrive more than once: a supervisor signals every process, and people press Ctrl-C again.
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => stopping.abort());
  endWithParent();

  makeDataDirPrivate(config.DATA_DIR, log);
  const embedded = config.DATABASE_URL ? null : await startEmbedded({ dataDir: config.DATA_DIR, log });
  const url = config.DATABASE_URL ?? embedded?.connection.url ?? "";
  let hasEnded = false;
  let fault: Error | null = null;
  let services: ProcessContext | undefined;
  try {
    await refuseFirstKey(config, url, log);
    services = createProcessContext(config, url, "posthaste");
    hasEnded = await run(services, environment, roles, stopping.signal);
  } catch (error) {
    fault = error instanceof Error ? error : new Error("the start failed", { cause: error });
  }
  const isClosed = await settlesWithin(
    CLOSE_MS,
    [services?.database.close(), services?.requests.close(), services?.reports?.close()],
    log,
  );
  const isDown = await settlesWithin(CLOSE_MS, [embedded?.stop()], log);
  if (fault !== null) {
    // Written last, so that it is the last line the operator sees.
    process.stderr.write(`error: ${fault.message}\n`);
    process.exit(1);
  }
  if (hasEnded && isClosed && isDown) process.exit();
  log.error("ended by force: not every component stopped in time");
  process.exit(1);
}

/**
 * Refuses a database that was used with another secret key, before this machine creates its first one. In that case no
 * key file is created.
 */
async function refuseFirstKey({ SECRET_KEY, DATA_DIR }: Config, url: string, log: Log): Promise<void> {
  const isMissing = () => findSecretKeys(SECRET_KEY, DATA_DIR) === undefined;
  if (!isMissing()) return;
  const onError = (err: Error) => log.warn({ err }, "idle database connection failed");
  const database = createDatabase(url, { size: 1, name: "posthaste", onError });
  try {
    await prepareSchema(database, log);
    const fault = await firstKeyFault(database);
    // Another process with the same DATA_DIR may have created the key meanwhile.
    if (fault !== null && isMissing()) throw fault;
  } finally {
    await database.close();
  }
}

/** Runs from the schema check to the stop. Returns whether every component ended in time. Throws if it cannot start. */
async function run(
  services: ProcessContext,
  environment: Environment,
  roles: readonly Role[],
  signal: AbortSignal,
): Promise<boolean> {
  const registration = await prepareDatabase(services, roles);
  const parts = new RunningParts(services.log);
  let hasEnded = false;
  try {
    await startParts(services, environment, roles, parts, signal);
    parts.areComplete = true;
    if (!signal.aborted) await once(signal, "abort");
    services.log.info("stopping: finishing work in flight");
  } finally {
    // After a failed start (a port is in use, for example) nothing is left running.
    hasEnded = await parts.stop();
    await settlesWithin(CLOSE_MS, [registration.stop()], services.log);
  }
  return hasEnded;
}

/** The components that have been started, with how each is stopped. */
class RunningParts {
  readonly #log: Log;
  readonly #stops: (() => Promise<unknown>)[] = [];
  readonly #lastStops: (() => Promise<unknown>)[] = [];
  /** Whether all have been started. */
  areComplete = false;

  constructor(log: Log) {
    this.#log = log;
  }

  add(stop: () => Promise<unknown>): void {
    this.#stops.push(stop);
  }

  /** Adds a component that only tells about the others: it is stopped when they have ended. */
  addObserver(stop: () => Promise<unknown>): void {
    this.#lastStops.push(stop);
  }

  /**
   * Stops all components at the same time, then the observers. Returns whether all components ended in time; an observer that is
   * cut off loses nothing.
   */
  async stop(): Promise<boolean> {
    const stopped = this.#stops.map((stop) => stop());
    const hasEnded = await settlesWithin(STOP_MS + KILL_MS, stopped, this.#log);
    const last = this.#lastStops.map((stop) => stop());
    await settlesWithin(OBSERVER_MS, last, this.#log);
    return hasEnded;
  }
}

/** Binds every port first, then prepares the first workspace and announces the address, then starts delivery and jobs. */
async function startParts(
  services: ProcessContext,
  environment: Environment,
  roles: readonly Role[],
  parts: RunningParts,
  signal: AbortSignal,
): Promise<void> {
  const { config, log } = services;
  const fault = publicUrlFault(config);
  if (fault !== null) log.warn(fault);
  const metrics = createProcessMetrics(services);
  const workers = new DeliveryWorkers(environment, config, services.database.url, log, metrics.count);
  parts.add(() => workers.stop(STOP_MS));
  let address: string | null = null;
  // Ports are bound before the first API key works and before delivery runs.
  const checks = { delivery: async () => (parts.areComplete ? workers.fault : "the service is starting") };
  if (roles.includes("api")) {
    const api = createApi(services, checks, metrics);
    parts.add(() => api.stop());
    const ending = new AbortController();
    const renewed = renewConsoleBuild(log, ending.signal);
    parts.add(() => {
      ending.abort();
      return renewed;
    });
    address = await bindPort(config, "PORT", api.server.listen({ host: config.HOST, port: config.PORT }));
  }
  if (roles.includes("inbound")) {
    const inbound = await startInbound(services, metrics.count);
    parts.add(() => inbound.stop(STOP_MS));
  }
  if (!roles.includes("api") && config.HEALTH_PORT !== null) {
    const health = createHealthServer(services, {
      metrics,
      checks,
      isStopping: () => signal.aborted,
    });
    parts.addObserver(() => health.close());
    const listening = health.listen({ host: config.HOST, port: config.HEALTH_PORT });
    log.info({ address: await bindPort(config, "HEALTH_PORT", listening) }, "health and metrics listen");
  }
  await prepareFirstWorkspace(services);
  if (address !== null) {
    log.info({ address, mode: config.MAIL_MODE }, "Posthaste listens");
    process.stdout.write(await startNotice(services, Number(new URL(address).port)));
  }
  if (roles.includes("delivery")) workers.start(config.DELIVERY_WORKERS);
  if (roles.includes("jobs")) {
    const jobs = await startJobs(services, metrics.count);
    parts.add(() => jobs.stop());
  }
  if (roles.includes("api") || roles.includes("jobs")) {
    const tempFiles = sweepTempFiles(config.DATA_DIR, log);
    parts.add(async () => tempFiles.stop());
  }
}

/** Waits at most `milliseconds` for all `parts`. Returns whether all have ended; a failed one is logged and counts as ended. */
export async function settlesWithin(
  milliseconds: number,
  parts: readonly (Promise<unknown> | undefined)[],
  log: Log,
): Promise<boolean> {
  const ended = Promise.all(
    parts.map(async (part) => {
      await part?.catch((err: unknown) => log.error({ err }, "component failed while stopping"));
    }),
  );
  const late = new AbortController();
  const hasEnded = await Promise.race([
    ended.then(() => true),
    delay(milliseconds, false, { signal: late.signal }),
  ]);
  late.abort();
  return hasEnded;
}

/** Prepares the schema, registers the process, and prepares the partitions. */
async function prepareDatabase(
  { database, clock, log, secrets }: ProcessContext,
  roles: readonly Role[],
): Promise<ProcessRegistration> {
  await prepareSchema(database, log);
  const keys = new SecretKeyWatch(database, secrets, log);
  const holds = new SendingHoldLog(database, log, clock);
  const registration = await ProcessRegistration.begin(
    {
      db: database,
      log,
      // Delivery processes register themselves.
      roles: roles.filter((role) => role !== "delivery"),
      keyFingerprints: secrets.fingerprints,
      onRenewed: async () => {
        await keys.look();
        await holds.look();
      },
    },
    async (tx) => {
      await requireUsableSchema(tx);
      await requireUsableKeys(tx, secrets);
    },
  );
  await ensurePartitions(database, clock.now()).catch((err: unknown) => {
    log.error(
      { err },
      "message partitions could not be created: mail is stored in the default partition, retrying daily",
    );
  });
  return registration;
}

/**
 * Creates the first workspace in an empty database, and prints its API key. Called when all ports are bound: the key is
 * printed once, and an operator overlooks it in the output of a start that fails.
 */
async function prepareFirstWorkspace({ database, config, clock }: ProcessContext): Promise<void> {
  const bootstrap = { secret: config.BOOTSTRAP_API_KEY, plan: config.BOOTSTRAP_PLAN };
  const first = await createFirstWorkspace(database, bootstrap, clock);
  if (first?.generatedSecret) process.stdout.write(firstKeyNotice(first.generatedSecret));
}
