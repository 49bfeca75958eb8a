/** Which runners live, and what those held that do not (table job_runners). */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";

/** This runner lives. */
export async function updateRunnerSeen(db: Queryable, id: string): Promise<void> {
  await db.run(sql`
    insert into job_runners (id) values (${id}) on conflict (id) do update set seen_at = now()`);
}

/** Forgets runners that have been silent for so long, and gives back what they held: turns, and recurring tasks. */
export async function removeSilentRunners(db: Queryable, silentMs: number): Promise<void> {
  const before = sql`now() - make_interval(secs => ${silentMs / 1000})`;
  await db.run(sql`
    select graphile_worker.force_unlock_workers(array_agg(distinct locked_by)) from graphile_worker.jobs
    where locked_at < ${before}
      and not exists (select from job_runners where id = locked_by and seen_at >= ${before})
    having count(*) > 0`);
  // A task that was hastened while it ran has a new row; the old one would stay for ever.
  await db.run(sql`
    select graphile_worker.complete_jobs(array_agg(id)) from graphile_worker.jobs
    where key is null and locked_at is null and attempts >= max_attempts having count(*) > 0`);
  await db.run(sql`
    update job_turns set lease_id = null, runner_id = null, leased_at = null
    where lease_id is not null and leased_at < ${before}
      and not exists (select from job_runners r where r.id = runner_id and r.seen_at >= ${before})`);
  await db.run(sql`delete from job_runners where seen_at < ${before}`);
}

/** A runner that has stopped in order holds nothing. */
export async function removeRunner(db: Queryable, id: string): Promise<void> {
  await db.run(sql`delete from job_runners where id = ${id}`);
}
