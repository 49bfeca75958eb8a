/**
 * The SQL of turns (table job_turns): the order in which the jobs of all workspaces run. There is one row for each job
 * type of a workspace with open jobs. At most one job of a row runs at a time, and the row that has waited longest is
 * next, so a workspace with fifty jobs waits as long as one with a single job.
 */
import sql from "sql-template-tag";
import type { Queryable, Transaction } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { isOpen } from "./job-record-store.ts";

/** NOTIFY channel that tells idle runners of a due turn. */
export const TURNS_CHANNEL = "posthaste_job_turns";

/** A job type of a workspace, leased to one runner. */
export interface JobTurn {
  readonly workspace_id: WorkspaceId;
  readonly type: string;
}

/**
 * Queues the turn of this job, unless it is queued, and notifies runners with the commit. The row is locked until then, and
 * its other jobs cannot run, so this should be the last statement of a long transaction.
 */
export async function queueTurn(db: Queryable, workspaceId: WorkspaceId, jobId: string): Promise<void> {
  await db.run(sql`
    with joined as (
      insert into job_turns as t (workspace_id, type, due_at)
      select workspace_id, type, now() from jobs where workspace_id = ${workspaceId} and id = ${jobId}
      on conflict (workspace_id, type) do update set due_at = least(t.due_at, excluded.due_at)
      returning 1
    )
    select pg_notify(${TURNS_CHANNEL}, '') from joined`);
}

/** Leases the turn of these job types that has waited longest. */
export function leaseTurn(
  db: Queryable,
  { runnerId, leaseId }: { readonly runnerId: string; readonly leaseId: string },
  types: readonly string[],
): Promise<JobTurn | undefined> {
  return db.row(sql`
    update job_turns set lease_id = ${leaseId}, runner_id = ${runnerId}, leased_at = now()
    where (workspace_id, type) = (
      select workspace_id, type from job_turns
      where lease_id is null and due_at <= now() and type = any (${[...types]})
      order by due_at limit 1 for update skip locked)
    returning workspace_id, type`);
}

/** Each mebibyte of its upload moves a job back by this time, an hour at most. */
const SECONDS_FOR_MIB = 60;

/** The job of a turn that has waited longest; small ones go before large ones that have not waited long. */
export async function findNextJob(
  db: Queryable,
  { workspace_id, type }: JobTurn,
): Promise<string | undefined> {
  const row = await db.row<{ id: string }>(sql`
    select id from jobs
    where workspace_id = ${workspace_id} and type = ${type} and ${isOpen} and due_at <= now()
    order by due_at + make_interval(secs => least(3600, input_bytes / 1048576.0 * ${SECONDS_FOR_MIB})), id limit 1`);
  return row?.id;
}

/** Puts a turn behind the others, due with the first of its jobs; deletes it if it has no open jobs. */
export async function endTurn(
  tx: Transaction,
  { workspace_id, type }: JobTurn,
  leaseId: string,
): Promise<void> {
  const ours = sql`workspace_id = ${workspace_id} and type = ${type} and lease_id = ${leaseId}`;
  // Locked first, so that a job that is being started either commits before the jobs are read, or waits and queues the
  // turn.
  if ((await tx.row(sql`select from job_turns where ${ours} for update`)) === undefined) return;
  const next = await tx.row<{ due_at: Date | null }>(sql`
    select min(due_at) as due_at from jobs where workspace_id = ${workspace_id} and type = ${type} and ${isOpen}`);
  if (next?.due_at) {
    await tx.run(sql`
      update job_turns set lease_id = null, runner_id = null, leased_at = null,
        due_at = greatest(clock_timestamp(), ${next.due_at}::timestamptz)
      where ${ours}`);
  } else await tx.run(sql`delete from job_turns where ${ours}`);
}

/**
 * Releases turns that are leased to a living runner but not held by it, because the response was lost, or the end of a turn
 * could not be written. Leases of the last ten seconds are left out, because `held` may be older.
 */
export async function releaseOtherTurns(
  db: Queryable,
  runnerId: string,
  held: readonly string[],
): Promise<void> {
  await db.run(sql`
    update job_turns set lease_id = null, runner_id = null, leased_at = null
    where runner_id = ${runnerId} and lease_id is not null and lease_id <> all (${[...held]}::uuid[])
      and leased_at < now() - interval '10 seconds'`);
}
