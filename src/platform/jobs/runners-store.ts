/** Which runners live, and what those held that do not (table job_runners). */
import sql from "sql-template-tag";
import type { Queryable } from "../database/pool.ts";

/** This runner lives. */
export async function updateRunnerSeen(db: Queryable, id: string): Promise<void> {
  await db.run(sql`
    insert into job_runners (id) values (${id}) on conflict (id) do update set seen_at = now()`);
}

/** Forgets runners that have been silent for so long, and gives what they held back: jobs, and the queues of these. */
export async function removeSilentRunners(db: Queryable, silentMs: number): Promise<void> {
  const before = sql`now() - make_interval(secs => ${silentMs / 1000})`;
  await db.run(sql`
    select graphile_worker.force_unlock_workers(array_agg(distinct locked_by)) from graphile_worker.jobs
    where locked_at < ${before}
      and not exists (select from job_runners where id = locked_by and seen_at >= ${before})
    having count(*) > 0`);
  await db.run(sql`delete from job_runners where seen_at < ${before}`);
}

/** A runner that has stopped in order holds nothing any more. */
export async function removeRunner(db: Queryable, id: string): Promise<void> {
  await db.run(sql`delete from job_runners where id = ${id}`);
}
