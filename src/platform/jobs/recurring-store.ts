/** Recurring tasks in Graphile Worker's queue; they have no record. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";

/** Graphile's own limit on attempts, out of reach: a task that failed puts itself back. */
const QUEUE_ATTEMPTS = 1_000;

/**
 * Puts a recurring task in the queue, waiting once under its name; one that waits keeps its time unless `replace`. The
 * queue of that name keeps it from running twice at once.
 */
export async function insertRecurring(
  db: Queryable,
  name: string,
  seconds: number,
  mode: "replace" | "preserve_run_at",
): Promise<void> {
  await db.run(sql`
    select graphile_worker.add_job(${name}, '{}'::json, queue_name := ${name},
      run_at := now() + make_interval(secs => ${seconds}), job_key := ${name}, job_key_mode := ${mode},
      max_attempts := ${QUEUE_ATTEMPTS})`);
}

/** Those of the tasks that nobody is running now. */
export async function listIdleTasks(db: Queryable, names: readonly string[]): Promise<string[]> {
  const rows = await db.rows<{ name: string }>(sql`
    select name from unnest(${names}::text[]) as u (name)
    where not exists (select from graphile_worker.jobs where key = u.name and locked_at is not null)`);
  return rows.map(({ name }) => name);
}
