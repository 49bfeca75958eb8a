/**
 * `posthaste serve`: the service from first start to graceful stop. In this order: database (embedded or
 * DATABASE_URL), schema, first workspace, HTTP, delivery processes, background jobs, SMTP ports. Each delivery process is
 * a child, started again when it dies.
 */

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { mergeLanes } from "#delivery/lanes/lanes.ts";
import { KeyHolding } from "#identity/own-key.ts";
import { ensurePartitions } from "#messages/partitions.ts";
import { type Config, readConfig } from "#platform/config/config.ts";
import { startEmbedded } from "#platform/database/embedded/embedded.ts";
import { prepareSchema } from "#platform/jobs/schema.ts";
import { createLog, type Log } from "#platform/log/log.ts";
import { publicUrlFault } from "#platform/network/public-url-check.ts";
import { endWithParent } from "#platform/process/exit-with-parent.ts";
import { makePrivate } from "#platform/process/private-folder.ts";
import { sweepScratch } from "#platform/process/temp-files.ts";
import { formatRing, loadSecretKeys } from "#platform/secrets/key-ring.ts";
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

  makePrivate(config.DATA_DIR, log);
  const embedded = config.DATABASE_URL ? null : await startEmbedded({ dataDir: config.DATA_DIR, log });
  const services = createServices(
    config,
    config.DATABASE_URL?.href ?? embedded?.connection.url ?? "",
    "posthaste",
  );
  let isOver = false;
  let fault: unknown;
  try {
    isOver = await run(services, environment, roles, stopping.signal);
  } catch (error) {
    // A start that failed (the port is taken, say) leaves nothing running.
    fault = error;
    process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
  }
  const isClosed = await settlesWithin(CLOSE_MS, [services.database.close(), services.requests.close()], log);
  const isDown = await settlesWithin(CLOSE_MS, [embedded?.stop()], log);
  if (fault !== undefined) process.exit(1);
  if (isOver && isClosed && isDown) process.exit();
  log.error("ended by force: not everything stopped in time");
  process.exit(1);
}

/** From the schema to the stop; says whether everything that ran is over. Throws when it cannot start. */
async function run(
  services: Services,
  environment: Environment,
  roles: readonly Role[],
  signal: AbortSignal,
): Promise<boolean> {
  const keys = await prepareDatabase(services);
  try {
    return await runParts(services, environment, roles, signal);
  } finally {
    await settlesWithin(CLOSE_MS, [keys.stop()], services.log);
  }
}

async function runParts(
  services: Services,
  environment: Environment,
  roles: readonly Role[],
  signal: AbortSignal,
): Promise<boolean> {
  const { config, log } = services;
  const fault = publicUrlFault(config);
  if (fault !== null) log.warn(fault);
  const workers = new DeliveryWorkers(environment, config, services.database.url, log);
  const delivery = async () => workers.fault;
  const api = roles.includes("api") ? createApi(services, { delivery }) : null;
  if (api) {
    workers.onOutcome = api.countOutcome;
    const address = await api.server.listen({ host: config.HOST, port: config.PORT });
    log.info({ address, mode: config.MAIL_MODE }, "Posthaste listens");
    process.stdout.write(await startNotice(services, Number(new URL(address).port)));
  }
  if (roles.includes("delivery")) workers.start(config.DELIVERY_WORKERS);
  const jobs = roles.includes("jobs") ? await startJobs(services) : null;
  const takesFiles = roles.includes("api") || roles.includes("jobs");
  const scratch = takesFiles ? sweepScratch(config.DATA_DIR, log) : null;
  const inbound = roles.includes("inbound") ? await startInbound(services) : null;

  if (!signal.aborted) await once(signal, "abort");
  log.info("stopping: finishing what is in flight");
  scratch?.stop();
  const parts = [api?.stop(), inbound?.stop(STOP_MS), jobs?.stop(), workers.stop(STOP_MS)];
  return settlesWithin(STOP_MS + KILL_MS, parts, log);
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
