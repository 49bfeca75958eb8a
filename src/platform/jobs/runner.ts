/**
 * Runs background jobs in turns (places.ts) and recurring tasks with Graphile Worker. Each of the two has places of its
 * own: what callers start keeps no recurring task waiting.
 *
 * Every runner says every few seconds that it lives (table job_runners), and each looks for what those hold that have been
 * silent for long: their jobs and tasks are taken up again within a minute. An advisory lock instead would be lost with a
 * broken connection while the run goes on, and kept for hours when a machine loses its power. A runner that was only frozen
 * finds its runs overtaken (attempt.ts). Graphile alone would give tasks of a killed worker back after four hours.
 */
import { EventEmitter } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { Task, WorkerEvents } from "graphile-worker";
import { createDatabase, type Database } from "#platform/database/pool.ts";
import { newId } from "#platform/ids.ts";
import type { Log } from "#platform/log/log.ts";
import type { JobHandler, OnJobEnded } from "./attempt.ts";
import { loadGraphile } from "./graphile.ts";
import { JobPlaces } from "./places.ts";
import { removeRunner, removeSilentRunners, updateRunnerSeen } from "./runners-store.ts";
import { type Recurring, runRecurring, scheduleAll, taskName } from "./schedule.ts";

/** Handlers by job type, as given to startJob. */
export type JobHandlers = Readonly<Record<string, JobHandler<never>>>;

export interface RunnerOptions {
  readonly database: Database;
  readonly dataDir: string;
  readonly log: Log;
  /** A type without a handler here waits for a runner that has one. */
  readonly handlers: JobHandlers;
  /** Types whose jobs run to their end, however many wait: they leave one place to the others. */
  readonly uninterrupted?: readonly string[];
  readonly recurring: readonly Recurring[];
  readonly onEnded?: OnJobEnded;
  /** Jobs at a time; each may hold a connection of the pool, and so may each recurring task. */
  readonly concurrency?: number;
  readonly pace?: Partial<Pace>;
}

export interface Pace {
  /** How often work that falls due later is looked for; new work is announced. */
  readonly pollMs: number;
  /** How often a runner says that it lives. */
  readonly heartbeatMs: number;
  /** A runner silent for so long counts as dead; well above any pause of a process that lives. */
  readonly silentMs: number;
  /** How long a job runs before it goes behind those that wait. */
  readonly turnMs: number;
}

export interface JobRunner {
  /** Takes nothing new, tells what runs to stop, and waits for it; what was not finished goes back to the queue. */
  stop(): Promise<void>;
}

const JOBS_AT_ONCE = 2;
const TASKS_AT_ONCE = 2;
/** One listens; the others ask for work and say that it is done. They are no part of the pool that the API waits for. */
const QUEUE_CONNECTIONS = 3;
const PACE: Pace = { pollMs: 2_000, heartbeatMs: 5_000, silentMs: 30_000, turnMs: 5_000 };
/** Before Graphile is started again after it gave up (the database was away for long). */
const RESTART_MS = 1_000;

/** Starts running; the queue's schema must be there (platform/jobs/schema.ts). */
export async function startRunner(options: RunnerOptions): Promise<JobRunner> {
  const { database, dataDir, log, handlers, uninterrupted = [], onEnded } = options;
  const pace = { ...PACE, ...options.pace };
  const stopping = new AbortController();
  const { signal } = stopping;
  await scheduleAll(database, options.recurring);
  const queue = createDatabase(database.url, {
    size: QUEUE_CONNECTIONS,
    name: "posthaste queue",
    onError: (err) => log.warn({ err }, "an idle connection of the job queue broke"),
  });
  const { run, options: graphileOptions } = await loadGraphile(queue, log);

  /** One life of Graphile's pool, whose id is what jobs are locked by. */
  const runOnce = async (taskList: Readonly<Record<string, Task>>, concurrency: number): Promise<void> => {
    const events: WorkerEvents = new EventEmitter();
    const over = new AbortController();
    let beating: Promise<void> | undefined;
    events.on("pool:create", ({ workerPool }) => {
      beating = beat(database, workerPool.id, pace, over.signal, log);
    });
    const runner = await run({
      ...graphileOptions,
      events,
      taskList,
      concurrency,
      pollInterval: pace.pollMs,
      parsedCronItems: [],
    });
    const stop = () =>
      void runner.stop().catch((err: unknown) => log.error({ err }, "job runner not stopped"));
    // Graphile drops some promises, such as that of writing down a failure while the database is away: that ends its
    // life, and not that of the process. The jobs it held are then given back with its name.
    const onDropped = (err: unknown) => {
      log.error({ err }, "a promise was dropped; the job runner starts again");
      stop();
    };
    process.on("unhandledRejection", onDropped);
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    await runner.promise.finally(() => {
      process.off("unhandledRejection", onDropped);
      signal.removeEventListener("abort", stop);
      over.abort();
    });
    await beating;
  };

  const keepRunning = async (taskList: Readonly<Record<string, Task>>, concurrency: number) => {
    while (!signal.aborted && Object.keys(taskList).length > 0) {
      await runOnce(taskList, concurrency).catch((err: unknown) =>
        log.error({ err }, "job runner ended; it starts again"),
      );
      await delay(RESTART_MS, undefined, { signal }).catch(() => {});
    }
  };
  const runnerId = newId();
  const places = new JobPlaces({
    workplace: { database, dataDir, log, stopping: signal, onEnded, turnMs: pace.turnMs },
    runnerId,
    handlers,
    uninterrupted,
    places: options.concurrency ?? JOBS_AT_ONCE,
    pollMs: pace.pollMs,
  });
  const runPlaces = async () => {
    const over = new AbortController();
    const beating = beat(database, runnerId, pace, over.signal, log, () => places.releaseLost());
    await places.run().finally(() => over.abort());
    await beating;
  };
  const running = Promise.all([runPlaces(), keepRunning(recurringOf(options, signal), TASKS_AT_ONCE)]);
  return {
    async stop() {
      stopping.abort();
      await running;
      await queue.close();
    },
  };
}

function recurringOf(
  { database, log, recurring }: RunnerOptions,
  stopping: AbortSignal,
): Record<string, Task> {
  return Object.fromEntries(
    recurring.map((task) => [taskName(task), () => runRecurring(database, task, stopping, log)]),
  );
}

/** Says that this runner lives and gives back what dead ones hold, until `over`; `andThen` follows each time. */
async function beat(
  database: Database,
  runnerId: string,
  { heartbeatMs, silentMs }: Pace,
  over: AbortSignal,
  log: Log,
  andThen?: () => Promise<void>,
): Promise<void> {
  while (!over.aborted) {
    try {
      await updateRunnerSeen(database, runnerId);
      await removeSilentRunners(database, silentMs);
      await andThen?.();
    } catch (err) {
      log.warn({ err }, "job runner's heartbeat failed");
    }
    await delay(heartbeatMs, undefined, { signal: over }).catch(() => {});
  }
  await removeRunner(database, runnerId).catch(() => {});
}
