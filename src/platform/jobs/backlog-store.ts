/** How much work waits for the role jobs, for the metrics and the operator's status. Each statement reads an index in order. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import { isOpen } from "./job-record-store.ts";

/** More open jobs are not counted. */
const COUNTED = 10_000;

export interface JobBacklog {
  readonly waiting: number;
  readonly running: number;
}

export async function countJobBacklog(db: Queryable): Promise<JobBacklog> {
  const counted = await db.row<JobBacklog>(sql`
    select greatest(open - running, 0) as waiting, running from (
      select (select count(*)::int from (select from jobs where ${isOpen} limit ${COUNTED}) j) as open,
        (select count(*)::int from job_turns where lease_id is not null) as running) counts`);
  return counted ?? { waiting: 0, running: 0 };
}

/** Seconds since the first job became due that no runner has taken; 0 if none waits. */
export async function waitOfOldestJob(db: Queryable): Promise<number> {
  const row = await db.row<{ seconds: number }>(sql`
    select greatest(0, extract(epoch from now() - min(due_at)))::float8 as seconds
    from job_turns where lease_id is null`);
  return row?.seconds ?? 0;
}

/** Seconds since the first recurring task became due that no runner has taken; 0 if none waits. */
export async function overdueRecurringSeconds(db: Queryable): Promise<number> {
  const row = await db.row<{ seconds: number }>(sql`
    select greatest(0, extract(epoch from now() - min(run_at)))::float8 as seconds
    from graphile_worker.jobs where locked_at is null`);
  return row?.seconds ?? 0;
}
