/** Starts the delivery processes of this machine as children, restarts those that exit, and stops them. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { Config } from "#platform/config/config.ts";
import type { Log } from "#platform/log/log.ts";
import { formatRing, loadSecretKeys } from "#platform/secrets/key-ring.ts";
import type { Count } from "./counters.ts";
import type { WorkerReport } from "./delivery.ts";

const RESTART_MS = 1_000;
/** A delivery process looks at the queue twice a second, and under the heaviest load every few seconds. */
const SILENT_MS = 30_000;

/**
 * Node.js options of a delivery process. The young generation has its full size from the start, because most messages
 * outlive a collection in a smaller one (the launcher or the operator sets its maximum). One thread collects garbage:
 * with every core busy, parallel collection costs more than it saves.
 */
const DELIVERY_OPTIONS = ["--min-semi-space-size=16", "--no-parallel-scavenge"];

type Environment = Readonly<Record<string, string | undefined>>;

export class DeliveryWorkers {
  readonly #environment: NodeJS.ProcessEnv;
  readonly #log: Log;
  readonly #silentMs: number;
  readonly #processes = new Map<number, { process: ChildProcess; isReady: boolean; lookedAt: number }>();
  #isStopping = false;
  readonly #count: Count;

  /**
   * @param count counts what the delivery processes report
   * @param silentMs the longest time between two looks at the queue that is no fault
   */
  constructor(
    environment: Environment,
    config: Config,
    databaseUrl: string,
    log: Log,
    count: Count = () => {},
    silentMs: number = SILENT_MS,
  ) {
    const secretKeys = loadSecretKeys(config.SECRET_KEY, config.DATA_DIR);
    this.#environment = { ...environment, DATABASE_URL: databaseUrl, SECRET_KEY: formatRing(secretKeys) };
    this.#log = log;
    this.#count = count;
    this.#silentMs = silentMs;
  }

  start(count: number): void {
    for (let slot = 0; slot < count; slot++) this.#spawn(slot);
  }

  /** Why a delivery process does not work. Null if all work, or if this machine has none. */
  get fault(): string | null {
    const workers = [...this.#processes.values()];
    if (workers.some(({ isReady }) => !isReady)) return "a delivery process is starting";
    const oldest = performance.now() - this.#silentMs;
    if (workers.every(({ lookedAt }) => lookedAt >= oldest)) return null;
    return `a delivery process has not looked at the queue for ${this.#silentMs / 1000} s`;
  }

  /**
   * Sends SIGTERM to each process and waits until all have exited. A process that still runs after `patienceMs` is
   * killed; the next start reads its delivery results from its journal.
   */
  async stop(patienceMs: number): Promise<void> {
    this.#isStopping = true;
    await Promise.all(
      [...this.#processes.values()].map(async ({ process: child }) => {
        if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
        const gone = once(child, "exit");
        child.kill("SIGTERM");
        const force = setTimeout(() => {
          this.#log.error({ child: child.pid }, "delivery process does not stop: killing it");
          child.kill("SIGKILL");
        }, patienceMs);
        await gone;
        clearTimeout(force);
      }),
    );
  }

  #spawn(slot: number): void {
    // These replace the Node.js options of this process, which the launcher chose for the API.
    const options = { env: this.#environment, execArgv: DELIVERY_OPTIONS };
    const child = fork(new URL("../main.ts", import.meta.url), ["deliver"], options);
    const worker = { process: child, isReady: false, lookedAt: 0 };
    this.#processes.set(slot, worker);
    child.on("message", (report: WorkerReport) => {
      if (report.kind === "ready" || report.hasLooked) worker.lookedAt = performance.now();
      if (report.kind === "ready") worker.isReady = true;
      else for (const counted of report.counts) this.#count(counted);
    });
    child.on("error", (err) => {
      this.#log.error({ err }, "delivery process could not be started, signalled or sent a message");
      if (child.pid === undefined) void this.#spawnAgain(slot);
    });
    child.on("exit", (code, signal) => {
      worker.isReady = false;
      if (this.#isStopping) return;
      this.#log.error({ code, signal }, "delivery process exited, restarting it");
      void this.#spawnAgain(slot);
    });
  }

  async #spawnAgain(slot: number): Promise<void> {
    await delay(RESTART_MS);
    if (!this.#isStopping) this.#spawn(slot);
  }
}
