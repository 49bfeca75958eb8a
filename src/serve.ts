/**
 * `posthaste serve`: the service from first start to graceful stop. In this order: database (embedded or
 * DATABASE_URL), schema, first workspace, HTTP, background jobs, delivery processes. Each delivery process is a child,
 * started again when it dies.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { createApi } from "./app.ts";
import { startJobs } from "./background.ts";
import type { Role } from "./cli/serve.ts";
import type { DeliveryReport } from "./deliver.ts";
import { mergeLanes } from "./delivery/lanes.ts";
import { ensurePartitions } from "./messages/partitions.ts";
import { type Config, readConfig } from "./platform/config.ts";
import { startEmbedded } from "./platform/database/embedded.ts";
import { createLog, type Log } from "./platform/log.ts";
import { endWithParent } from "./platform/parent.ts";
import { prepareSchema } from "./platform/schema.ts";
import { loadSecretKey } from "./platform/secrets.ts";
import { createServices, type Services } from "./services.ts";
import { createFirstWorkspace } from "./workspace/first-workspace.ts";

/** What is still running after this is ended by force; in-flight work is safe either way. */
const STOP_MS = 30_000;
const RESTART_MS = 1_000;

type Environment = Readonly<Record<string, string | undefined>>;

/** Runs until SIGTERM or SIGINT, then finishes what is in flight. */
export async function serve(environment: Environment, roles: readonly Role[]): Promise<void> {
  const config = readConfig(environment);
  mergeLanes(config.LANES_FILE);
  const log = createLog(config.LOG_LEVEL);
  const stopping = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => stopping.abort());
  endWithParent();

  const embedded = config.DATABASE_URL ? null : await startEmbedded({ dataDir: config.DATA_DIR, log });
  const databaseUrl = config.DATABASE_URL?.href ?? embedded?.connection.url ?? "";
  const services = createServices(config, databaseUrl, "posthaste");
  await prepareDatabase(services);

  const workers = new DeliveryWorkers(environment, config, databaseUrl, log);
  const delivery = async () => (workers.areReady ? null : "a delivery process is starting");
  const api = roles.includes("api") ? createApi(services, { delivery }) : null;
  if (api) {
    workers.onOutcome = api.countOutcome;
    const address = await api.server.listen({ host: config.HOST, port: config.PORT });
    log.info({ address, mode: config.MAIL_MODE }, "Posthaste listens");
  }
  if (roles.includes("delivery")) workers.start(config.DELIVERY_WORKERS);
  const jobs = roles.includes("jobs") ? await startJobs(services) : null;

  if (!stopping.signal.aborted) await once(stopping.signal, "abort");
  log.info("stopping: finishing what is in flight");
  const finished = Promise.all([api?.stop(), jobs?.stop(), workers.stop()]);
  await Promise.race([finished, delay(STOP_MS, undefined, { ref: false })]);
  workers.end();
  await services.database.close();
  await embedded?.stop();
}

/** Schema, partitions and, on an empty database, the first workspace with its key. */
async function prepareDatabase({ database, config, clock, log }: Services): Promise<void> {
  await prepareSchema(database, log);
  await ensurePartitions(database, clock.now());
  const bootstrap = { secret: config.BOOTSTRAP_API_KEY, plan: config.BOOTSTRAP_PLAN };
  const first = await createFirstWorkspace(database, bootstrap, clock);
  if (first?.generatedSecret) {
    process.stdout.write(
      `\n  Your first API key, shown this once:\n\n      ${first.generatedSecret}\n\n  Send it in the header X-API-Key. Another: npm run -s posthaste -- key create\n\n`,
    );
  }
}

/** The delivery processes of this machine. */
export class DeliveryWorkers {
  readonly #environment: NodeJS.ProcessEnv;
  readonly #log: Log;
  readonly #processes = new Map<number, { process: ChildProcess; isReady: boolean }>();
  #isStopping = false;
  /** Told how many messages came to which end. */
  onOutcome: (status: string, amount: number) => void = () => {};

  constructor(environment: Environment, config: Config, databaseUrl: string, log: Log) {
    const secretKey = loadSecretKey(config.SECRET_KEY, config.DATA_DIR);
    this.#environment = { ...environment, DATABASE_URL: databaseUrl, SECRET_KEY: secretKey };
    this.#log = log;
  }

  start(count: number): void {
    for (let slot = 0; slot < count; slot++) this.#spawn(slot);
  }

  /** Are all of them there and at work? True when this machine has none. */
  get areReady(): boolean {
    return [...this.#processes.values()].every((worker) => worker.isReady);
  }

  /** SIGTERM to each, and waits until they are gone. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(
      [...this.#processes.values()].map(async ({ process: child }) => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const gone = once(child, "exit");
        child.kill("SIGTERM");
        await gone;
      }),
    );
  }

  /** Ends at once what did not stop. Its journal, which the next start reads, says what it had learned. */
  end(): void {
    for (const { process: child } of this.#processes.values()) child.kill("SIGKILL");
  }

  #spawn(slot: number): void {
    const child = fork(new URL("./main.ts", import.meta.url), ["deliver"], { env: this.#environment });
    const worker = { process: child, isReady: false };
    this.#processes.set(slot, worker);
    child.on("message", (report: DeliveryReport) => {
      if (report.kind === "ready") worker.isReady = true;
      else for (const [status, amount] of Object.entries(report.counts)) this.onOutcome(status, amount);
    });
    child.on("exit", async (code, signal) => {
      worker.isReady = false;
      if (this.#isStopping) return;
      this.#log.error({ code, signal }, "a delivery process ended and is started again");
      await delay(RESTART_MS);
      if (!this.#isStopping) this.#spawn(slot);
    });
  }
}
