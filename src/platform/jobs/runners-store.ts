/** The SQL of job runners: heartbeats (table job_runners), what dead runners hold, and recurring tasks in Graphile's queue. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";

/** Writes the heartbeat of a runner. */
export async function updateRunnerSeen(db: Queryable, id: string): Promise<void> {
  await db.run(sql`
    insert into job_runners (id) values (${id}) on conflict (id) do update set seen_at = now()`);
}

/** Deletes runners without a heartbeat for `silentMs`, and releases their turns and recurring tasks. */
export async function removeSilentRunners(db: Queryable, silentMs: number): Promise<void> {
  const before = sql`now() - make_interval(secs => ${silentMs / 1000})`;
  await db.run(sql`
    select graphile_worker.force_unlock_workers(array_agg(distinct locked_by)) from graphile_worker.jobs
    where locked_at < ${before}
      and not exists (select from job_runners where id = locked_by and seen_at >= ${before})
    having count(*) > 0`);
  // A task that was queued again while it ran has a new row; the old one would stay forever.
  await db.run(sql`
    select graphile_worker.complete_jobs(array_agg(id)) from graphile_worker.jobs
    where key is null and locked_at is null and attempts >= max_attempts having count(*) > 0`);
  await db.run(sql`
    update job_turns set lease_id = null, runner_id = null, leased_at = null
    where lease_id is not null and leased_at < ${before}
      and not exists (select from job_runners r where r.id = runner_id and r.seen_at >= ${before})`);
  await db.run(sql`delete from job_runners where seen_at < ${before}`);
}

/** Deletes a runner that has stopped and holds nothing. */
export async function removeRunner(db: Queryable, id: string): Promise<void> {
  await db.run(sql`delete from job_runners where id = ${id}`);
}

/** Graphile's limit on attempts, never reached: a failed task is queued again by its own code. */
const QUEUE_ATTEMPTS = 1_000;

/**
 * Queues a task, once under its name. A task that is already queued keeps its time unless `mode` is `replace`. The queue name
 * prevents two runs at the same time.
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

/** The tasks that are not running now. */
export async function listIdleTasks(db: Queryable, names: readonly string[]): Promise<string[]> {
  const rows = await db.rows<{ name: string }>(sql`
    select name from unnest(${names}::text[]) as u (name)
    where not exists (select from graphile_worker.jobs where key = u.name and locked_at is not null)`);
  return rows.map(({ name }) => name);
}
