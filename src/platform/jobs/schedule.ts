/**
 * Recurring work without an outside cron. A task is one job in the queue that puts itself back after every run, under
 * its own name as the key and as the queue: over all machines one waits and one runs, and whoever is free runs it. What
 * falls due while nothing runs is done once, when something runs again.
 */
import type { Database, Queryable } from "#platform/database/pool.ts";
import type { Log } from "#platform/log/log.ts";
import { PutBack } from "./attempt.ts";
import { insertRecurring, listIdleTasks } from "./recurring-store.ts";

export interface Recurring {
  /** Unique, for ever: a running installation knows the task by it. */
  readonly name: string;
  /** From the end of one run to the begin of the next. */
  readonly seconds: number;
  /**
   * May be cut short by a kill and then begins again: every part of it bears being repeated. What may take long throws
   * PutBack now and then, to be called again after those that wait.
   */
  run(context: { readonly signal: AbortSignal; readonly log: Log }): Promise<void>;
}

/** After a failure a rare task does not wait for its next turn. */
const RETRY_SECONDS = 300;

/** The key and queue name; job types are snake case, so they never collide with it. */
export function taskName(recurring: Pick<Recurring, "name">): string {
  return `every:${recurring.name}`;
}

/** Makes a task due at once, or after the run that is under way; within a transaction, when that commits. */
export async function hasten(db: Queryable, name: string): Promise<void> {
  await insertRecurring(db, taskName({ name }), 0, "replace");
}

/** Puts the tasks this installation does not know yet into the queue, due at once. */
export async function scheduleAll(database: Database, tasks: readonly Recurring[]): Promise<void> {
  // One that runs puts itself back.
  for (const name of await listIdleTasks(database, tasks.map(taskName))) {
    await insertRecurring(database, name, 0, "preserve_run_at");
  }
}

/** One run; afterwards it is in the queue again, whatever happened. */
export async function runRecurring(
  database: Database,
  task: Recurring,
  signal: AbortSignal,
  log: Log,
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
    }
  }
  // Who hastened it meanwhile did so after it had begun: that one keeps its time.
  await insertRecurring(database, taskName(task), pause, "preserve_run_at");
}
