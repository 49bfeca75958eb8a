/**
 * Recurring tasks, without an external cron. A task is a job in Graphile's queue that queues itself again after every
 * run. Its name is its key and its queue, so at most one is queued and one runs on all machines, on any free one. A
 * task that becomes due while no runner runs is run once when one does.
 */
import type { Database, Queryable } from "#platform/database/pool.ts";
import type { Log } from "#platform/log/log.ts";
import { PutBack } from "./attempt.ts";
import { insertRecurring, listIdleTasks } from "./runners-store.ts";

export interface Recurring {
  /** Unique and stable: running installations identify the task by it. */
  readonly name: string;
  /** From the end of one run to the start of the next. */
  readonly seconds: number;
  /**
   * May be killed at any point and is then run again, so it must be repeatable. Long runs should throw PutBack regularly, to
   * yield to other tasks.
   */
  run(context: { readonly signal: AbortSignal; readonly log: Log }): Promise<void>;
}

/** Longest pause after a failure, for tasks that run rarely. */
const RETRY_SECONDS = 300;

/** The key and queue name. */
export function taskName(recurring: Pick<Recurring, "name">): string {
  return `every:${recurring.name}`;
}

/** Makes a task due at once, or after its current run. */
export async function hasten(db: Queryable, name: string): Promise<void> {
  await insertRecurring(db, taskName({ name }), 0, "replace");
}

/** Queues the tasks that are not in the queue yet, due at once. */
export async function scheduleAll(database: Database, tasks: readonly Recurring[]): Promise<void> {
  // A running task queues itself again.
  for (const name of await listIdleTasks(database, tasks.map(taskName))) {
    await insertRecurring(database, name, 0, "preserve_run_at");
  }
}

/** Runs a task once and queues it again, also after a failure. */
export async function runRecurring(
  database: Database,
  task: Recurring,
  signal: AbortSignal,
  log: Log,
  onFailed: (name: string) => void = () => {},
): Promise<void> {
  let pause = task.seconds;
  try {
    await task.run({ signal, log });
  } catch (err) {
    if (signal.aborted) pause = 0;
    else if (err instanceof PutBack) pause = err.seconds;
    else {
      pause = Math.min(pause, RETRY_SECONDS);
      log.error({ err, task: task.name }, "recurring task failed");
      onFailed(task.name);
    }
  }
  // If `hasten` was called during the run, the task keeps that time.
  await insertRecurring(database, taskName(task), pause, "preserve_run_at");
}
