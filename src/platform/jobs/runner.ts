/**
 * Runs background jobs (job-slots.ts), and recurring tasks with Graphile Worker. Both have their own slots, so that jobs of
 * callers do not delay recurring tasks.
 *
 * Every runner writes a heartbeat every few seconds (table job_runners), and releases what runners without a recent
 * heartbeat hold, so that jobs and tasks of a dead runner are run again within a minute. An advisory lock is not used
 * for this: it would be lost with a broken connection while the run continues, and kept for hours after a power
 * failure. A runner that was only frozen finds its runs overtaken (attempt.ts). Graphile alone would release tasks of a
 * killed worker after four hours.
 */
import { EventEmitter } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { Task, WorkerEvents } from "graphile-worker";
import { createDatabase, type Database } from "#platform/database/pool.ts";
import { newId } from "#platform/ids.ts";
import type { Log } from "#platform/log/log.ts";
import type { JobHandler, OnJobEnded } from "./attempt.ts";
import { loadGraphile } from "./graphile.ts";
import { JobSlots } from "./job-slots.ts";
import { removeRunner, removeSilentRunners, updateRunnerSeen } from "./runners-store.ts";
import { type Recurring, runRecurring, scheduleAll, taskName } from "./schedule.ts";

/** Handlers by job type, as given to startJob. */
export type JobHandlers = Readonly<Record<string, JobHandler<never>>>;

export interface RunnerOptions {
  readonly database: Database;
  readonly dataDir: string;
  readonly log: Log;
  /** Jobs of other types wait for a runner that has a handler for them. */
  readonly handlers: JobHandlers;
  /** Types whose jobs do not yield to others; they leave one slot free. */
  readonly uninterrupted?: readonly string[];
  readonly recurring: readonly Recurring[];
  readonly onEnded?: OnJobEnded;
  /** Called with the name of a recurring task whose run failed, for the metrics. */
  readonly onTaskFailed?: (name: string) => void;
  /** Jobs at a time. Each job and each recurring task may hold a connection of the pool. */
  readonly concurrency?: number;
  readonly timing?: Partial<RunnerTiming>;
}

export interface RunnerTiming {
  /** Polling interval for work that becomes due later; new work is announced. */
  readonly pollMs: number;
  readonly heartbeatMs: number;
  /** A runner without a heartbeat for this long counts as dead; well above any pause of a living process. */
  readonly silentMs: number;
  /** The time slice of a job while others wait. */
  readonly turnMs: number;
}

export interface JobRunner {
  /** Starts no new work, asks running jobs and tasks to stop, and waits for them; unfinished ones are queued again. */
  stop(): Promise<void>;
}

const JOBS_AT_ONCE = 2;
const TASKS_AT_ONCE = 2;
/** For LISTEN, for fetching tasks and for completing them; separate from the pool of the API. */
const QUEUE_CONNECTIONS = 3;
const TIMING: RunnerTiming = { pollMs: 2_000, heartbeatMs: 5_000, silentMs: 30_000, turnMs: 5_000 };
/** Pause before Graphile is restarted after it has ended, such as after a long outage of the database. */
const RESTART_MS = 1_000;

/** Starts a runner. The schema of the queue must exist (migrate-schema.ts). */
export async function startRunner(options: RunnerOptions): Promise<JobRunner> {
  const { database, dataDir, log, handlers, uninterrupted = [], onEnded } = options;
  const timing = { ...TIMING, ...options.timing };
  const stopping = new AbortController();
  const { signal } = stopping;
  await scheduleAll(database, options.recurring);
  const queue = createDatabase(database.url, {
    size: QUEUE_CONNECTIONS,
    name: "posthaste queue",
    onError: (err) => log.warn({ err }, "idle connection of the job queue broke"),
  });
  const { run, options: graphileOptions } = await loadGraphile(queue, log);

  /** Runs Graphile until it ends. Its tasks are locked by the id of its worker pool. */
  const runOnce = async (taskList: Readonly<Record<string, Task>>, concurrency: number): Promise<void> => {
    const events: WorkerEvents = new EventEmitter();
    const over = new AbortController();
    let beating: Promise<void> | undefined;
    events.on("pool:create", ({ workerPool }) => {
      beating = beat(database, workerPool.id, timing, over.signal, log);
    });
    const runner = await run({
      ...graphileOptions,
      events,
      taskList,
      concurrency,
      pollInterval: timing.pollMs,
      parsedCronItems: [],
    });
    const stop = () =>
      void runner.stop().catch((err: unknown) => log.error({ err }, "job runner could not be stopped"));
    // Graphile does not handle some rejections, for example when it cannot write a failure while the database is
    // unreachable. Graphile is then restarted, instead of ending the process, and its tasks are released.
    const onDropped = (err: unknown) => {
      log.error({ err }, "unhandled rejection in the job runner, restarting it");
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
        log.error({ err }, "job runner ended, restarting it"),
      );
      await delay(RESTART_MS, undefined, { signal }).catch(() => {});
    }
  };
  const runnerId = newId();
  const slots = new JobSlots({
    workplace: { database, dataDir, log, stopping: signal, onEnded, turnMs: timing.turnMs },
    runnerId,
    handlers,
    uninterrupted,
    slots: options.concurrency ?? JOBS_AT_ONCE,
    pollMs: timing.pollMs,
  });
  const runSlots = async () => {
    const over = new AbortController();
    const beating = beat(database, runnerId, timing, over.signal, log, () => slots.releaseLost());
    await slots.run().finally(() => over.abort());
    await beating;
  };
  const running = Promise.all([runSlots(), keepRunning(recurringOf(options, signal), TASKS_AT_ONCE)]);
  return {
    async stop() {
      stopping.abort();
      await running;
      await queue.close();
    },
  };
}

function recurringOf(
  { database, log, recurring, onTaskFailed }: RunnerOptions,
  stopping: AbortSignal,
): Record<string, Task> {
  return Object.fromEntries(
    recurring.map((task) => [
      taskName(task),
      () => runRecurring(database, task, stopping, log, onTaskFailed),
    ]),
  );
}

/** Writes the heartbeat and releases what dead runners hold, until `over` is aborted; calls `andThen` each time. */
async function beat(
  database: Database,
  runnerId: string,
  { heartbeatMs, silentMs }: RunnerTiming,
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
