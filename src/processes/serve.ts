/**
 * `posthaste serve`: the service from first start to graceful stop. In this order: database (embedded or
 * DATABASE_URL), schema, secret key, first workspace, the ports of HTTP and SMTP, delivery processes, background jobs.
 * Each delivery process is a child, started again when it dies.
 */

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { mergeLanes } from "#delivery/lanes/lanes.ts";
import { firstKeyFault, KeyHolding } from "#identity/own-key.ts";
import { ensurePartitions } from "#messages/partitions.ts";
import { type Config, readConfig } from "#platform/config/config.ts";
import { startEmbedded } from "#platform/database/embedded/embedded.ts";
import { createDatabase } from "#platform/database/pool.ts";
import { prepareSchema } from "#platform/jobs/schema.ts";
import { createLog, type Log } from "#platform/log/log.ts";
import { bindPort } from "#platform/network/bind-port.ts";
import { publicUrlFault } from "#platform/network/public-url-check.ts";
import { endWithParent } from "#platform/process/exit-with-parent.ts";
import { makeDataDirPrivate } from "#platform/process/private-data-dir.ts";
import { sweepTempFiles } from "#platform/process/temp-files.ts";
import { findSecretKeys, formatRing, loadSecretKeys } from "#platform/secrets/key-ring.ts";
import { createFirstWorkspace } from "#workspace/first-workspace.ts";
import { createApi } from "./api.ts";
import { createServices, type Services } from "./context.ts";
import type { DeliveryReport } from "./delivery.ts";
import { startInbound } from "./inbound.ts";
import { startJobs } from "./jobs.ts";
import type { Role } from "./roles.ts";
import { firstKeyNotice, startNotice } from "./start-notice.ts";

/** What is still running after this is ended by force; in-flight work is safe either way. */
const STOP_MS = 30_000;
/** How long whoever was killed may take to be gone, and each part of the database to close. */
const KILL_MS = 1_000;
const CLOSE_MS = 10_000;
const RESTART_MS = 1_000;
/** A delivery process looks at the queue twice a second, and under the heaviest load every few seconds. */
const SILENT_MS = 30_000;

/**
 * Of Node.js, for a delivery process: its young objects have all their room from the start (the maximum is the launcher's
 * or the operator's, and V8 takes no more than that), because most messages outlive a collection in a smaller one; and
 * one thread collects them, where several take more than they save as long as every core is busy.
 */
const DELIVERY_OPTIONS = ["--min-semi-space-size=16", "--no-parallel-scavenge"];

type Environment = Readonly<Record<string, string | undefined>>;

/** Runs until SIGTERM or SIGINT, then finishes what is in flight and ends the process. */
export async function serve(environment: Environment, roles: readonly Role[]): Promise<never> {
  const config = readConfig(environment);
  mergeLanes(config.LANES_FILE);
  const log = createLog(config.LOG_LEVEL);
  const stopping = new AbortController();
  // They come more than once: supervisors tell every process, and people are impatient.
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => stopping.abort());
  endWithParent();

  makeDataDirPrivate(config.DATA_DIR, log);
  const embedded = config.DATABASE_URL ? null : await startEmbedded({ dataDir: config.DATA_DIR, log });
  const url = config.DATABASE_URL?.href ?? embedded?.connection.url ?? "";
  let isOver = false;
  let fault: Error | null = null;
  let services: Services | undefined;
  try {
    await refuseFirstKey(config, url, log);
    services = createServices(config, url, "posthaste");
    isOver = await run(services, environment, roles, stopping.signal);
  } catch (error) {
    fault = error instanceof Error ? error : new Error("the start failed", { cause: error });
  }
  const isClosed = await settlesWithin(
    CLOSE_MS,
    [services?.database.close(), services?.requests.close()],
    log,
  );
  const isDown = await settlesWithin(CLOSE_MS, [embedded?.stop()], log);
  if (fault !== null) {
    // Last, so that it is what the operator sees.
    process.stderr.write(`error: ${fault.message}\n`);
    process.exit(1);
  }
  if (isOver && isClosed && isDown) process.exit();
  log.error("ended by force: not everything stopped in time");
  process.exit(1);
}

/** Before this machine makes its first secret key: a database that was used with another key is refused, and no key is left behind. */
async function refuseFirstKey({ SECRET_KEY, DATA_DIR }: Config, url: string, log: Log): Promise<void> {
  const isMissing = () => findSecretKeys(SECRET_KEY, DATA_DIR) === undefined;
  if (!isMissing()) return;
  const onError = (err: Error) => log.warn({ err }, "an idle database connection broke");
  const database = createDatabase(url, { size: 1, name: "posthaste", onError });
  try {
    await prepareSchema(database, log);
    const fault = await firstKeyFault(database);
    // Another process with the same DATA_DIR may have made the key since.
    if (fault !== null && isMissing()) throw fault;
  } finally {
    await database.close();
  }
}

/** From the schema to the stop; says whether everything that ran is over. Throws when it cannot start. */
async function run(
  services: Services,
  environment: Environment,
  roles: readonly Role[],
  signal: AbortSignal,
): Promise<boolean> {
  const keys = await prepareDatabase(services);
  const parts = new RunningParts(services.log);
  let isOver = false;
  try {
    await startParts(services, environment, roles, parts);
    if (!signal.aborted) await once(signal, "abort");
    services.log.info("stopping: finishing what is in flight");
  } finally {
    // A start that failed (a port is taken, say) leaves nothing running.
    isOver = await parts.stop();
    await settlesWithin(CLOSE_MS, [keys.stop()], services.log);
  }
  return isOver;
}

/** What runs so far, and how each part is stopped. */
class RunningParts {
  readonly #log: Log;
  readonly #stops: (() => Promise<unknown>)[] = [];

  constructor(log: Log) {
    this.#log = log;
  }

  add(stop: () => Promise<unknown>): void {
    this.#stops.push(stop);
  }

  /** Stops all at once, and says whether all ended in time. */
  stop(): Promise<boolean> {
    const stopped = this.#stops.map((stop) => stop());
    return settlesWithin(STOP_MS + KILL_MS, stopped, this.#log);
  }
}

/** Every port is bound before anything is announced, and before anything else begins. */
async function startParts(
  services: Services,
  environment: Environment,
  roles: readonly Role[],
  parts: RunningParts,
): Promise<void> {
  const { config, log } = services;
  const fault = publicUrlFault(config);
  if (fault !== null) log.warn(fault);
  const workers = new DeliveryWorkers(environment, config, services.database.url, log);
  parts.add(() => workers.stop(STOP_MS));
  let address: string | null = null;
  if (roles.includes("api")) {
    const api = createApi(services, { delivery: async () => workers.fault });
    parts.add(() => api.stop());
    workers.onOutcome = api.countOutcome;
    address = await bindPort(config, "PORT", api.server.listen({ host: config.HOST, port: config.PORT }));
  }
  if (roles.includes("inbound")) {
    const inbound = await startInbound(services);
    parts.add(() => inbound.stop(STOP_MS));
  }
  if (address !== null) {
    log.info({ address, mode: config.MAIL_MODE }, "Posthaste listens");
    process.stdout.write(await startNotice(services, Number(new URL(address).port)));
  }
  if (roles.includes("delivery")) workers.start(config.DELIVERY_WORKERS);
  if (roles.includes("jobs")) {
    const jobs = await startJobs(services);
    parts.add(() => jobs.stop());
  }
  if (roles.includes("api") || roles.includes("jobs")) {
    const scratch = sweepTempFiles(config.DATA_DIR, log);
    parts.add(async () => scratch.stop());
  }
}

/** Waits for all of it, at most so long, and says whether all is over; what fails is logged, and is over as well. */
export async function settlesWithin(
  milliseconds: number,
  parts: readonly (Promise<unknown> | undefined)[],
  log: Log,
): Promise<boolean> {
  const over = Promise.all(
    parts.map(async (part) => {
      await part?.catch((err: unknown) => log.error({ err }, "a part of the service stopped badly"));
    }),
  );
  const late = new AbortController();
  const isOver = await Promise.race([
    over.then(() => true),
    delay(milliseconds, false, { signal: late.signal }),
  ]);
  late.abort();
  return isOver;
}

/** Schema, the right key, partitions and, on an empty database, the first workspace with its key. */
async function prepareDatabase({ database, config, clock, log, secrets }: Services): Promise<KeyHolding> {
  await prepareSchema(database, log);
  const keys = await KeyHolding.begin(database, secrets, log);
  await ensurePartitions(database, clock.now()).catch((err: unknown) => {
    log.error(
      { err },
      "message partitions could not be made: mail is accepted without, and it is tried again",
    );
  });
  const bootstrap = { secret: config.BOOTSTRAP_API_KEY, plan: config.BOOTSTRAP_PLAN };
  const first = await createFirstWorkspace(database, bootstrap, clock);
  if (first?.generatedSecret) {
    process.stdout.write(firstKeyNotice(first.generatedSecret));
  }
  return keys;
}

/** The delivery processes of this machine. */
export class DeliveryWorkers {
  readonly #environment: NodeJS.ProcessEnv;
  readonly #log: Log;
  readonly #silentMs: number;
  readonly #processes = new Map<number, { process: ChildProcess; isReady: boolean; lookedAt: number }>();
  #isStopping = false;
  /** Told how many messages came to which end. */
  onOutcome: (status: string, amount: number) => void = () => {};

  /** @param silentMs how long ago the last look at the queue may be */
  constructor(
    environment: Environment,
    config: Config,
    databaseUrl: string,
    log: Log,
    silentMs: number = SILENT_MS,
  ) {
    const secretKeys = loadSecretKeys(config.SECRET_KEY, config.DATA_DIR);
    this.#environment = { ...environment, DATABASE_URL: databaseUrl, SECRET_KEY: formatRing(secretKeys) };
    this.#log = log;
    this.#silentMs = silentMs;
  }

  start(count: number): void {
    for (let slot = 0; slot < count; slot++) this.#spawn(slot);
  }

  /** What keeps one of them from its work; null when all do it, or this machine has none. */
  get fault(): string | null {
    const workers = [...this.#processes.values()];
    if (workers.some(({ isReady }) => !isReady)) return "a delivery process is starting";
    const oldest = performance.now() - this.#silentMs;
    if (workers.every(({ lookedAt }) => lookedAt >= oldest)) return null;
    return `a delivery process has not looked at the queue for ${this.#silentMs / 1000} s`;
  }

  /**
   * SIGTERM to each, and waits until they are gone. Who is still there after `patienceMs` is killed: its journal, which
   * the next start reads, says what it had learned.
   */
  async stop(patienceMs: number): Promise<void> {
    this.#isStopping = true;
    await Promise.all(
      [...this.#processes.values()].map(async ({ process: child }) => {
        if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
        const gone = once(child, "exit");
        child.kill("SIGTERM");
        const force = setTimeout(() => {
          this.#log.error({ child: child.pid }, "a delivery process does not stop and is ended by force");
          child.kill("SIGKILL");
        }, patienceMs);
        await gone;
        clearTimeout(force);
      }),
    );
  }

  #spawn(slot: number): void {
    // In place of the options of this process: the launcher chose them for the API.
    const options = { env: this.#environment, execArgv: DELIVERY_OPTIONS };
    const child = fork(new URL("../main.ts", import.meta.url), ["deliver"], options);
    const worker = { process: child, isReady: false, lookedAt: 0 };
    this.#processes.set(slot, worker);
    child.on("message", (report: DeliveryReport) => {
      if (report.kind === "ready" || report.hasLooked) worker.lookedAt = performance.now();
      if (report.kind === "ready") worker.isReady = true;
      else for (const [status, amount] of Object.entries(report.counts)) this.onOutcome(status, amount);
    });
    child.on("error", (err) => {
      this.#log.error({ err }, "a delivery process could not be started, told or ended");
      if (child.pid === undefined) void this.#spawnAgain(slot);
    });
    child.on("exit", (code, signal) => {
      worker.isReady = false;
      if (this.#isStopping) return;
      this.#log.error({ code, signal }, "a delivery process ended and is started again");
      void this.#spawnAgain(slot);
    });
  }

  async #spawnAgain(slot: number): Promise<void> {
    await delay(RESTART_MS);
    if (!this.#isStopping) this.#spawn(slot);
  }
}
