/**
 * The SQL of turns (table job_turns): in which order the jobs of all workspaces run. A row stands for one kind of job of
 * one workspace, so that at most one of them runs, and the row that has waited longest is served next: a workspace with
 * fifty jobs waits in the line once, as one with a single job does.
 */
import sql from "sql-template-tag";
import type { Queryable, Transaction } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { isOpen } from "./store.ts";

/** Tells idle runners that a turn is due. */
export const TURNS_CHANNEL = "posthaste_job_turns";

/** A kind of job of a workspace, leased to one runner. */
export interface Turn {
  readonly workspace_id: WorkspaceId;
  readonly type: string;
}

/**
 * Puts the kind of this job in the line, unless it stands there, and wakes a runner; with the commit of `tx`. The row
 * stays locked until then, and its workspace is passed over: the last statement of a long transaction.
 */
export async function joinLine(db: Queryable, workspaceId: WorkspaceId, jobId: string): Promise<void> {
  await db.run(sql`
    with joined as (
      insert into job_turns as t (workspace_id, type, due_at)
      select workspace_id, type, now() from jobs where workspace_id = ${workspaceId} and id = ${jobId}
      on conflict (workspace_id, type) do update set due_at = least(t.due_at, excluded.due_at)
      returning 1
    )
    select pg_notify(${TURNS_CHANNEL}, '') from joined`);
}

/** Leases the turn that has waited longest, of these kinds of job. */
export function leaseTurn(
  db: Queryable,
  { runnerId, leaseId }: { readonly runnerId: string; readonly leaseId: string },
  types: readonly string[],
): Promise<Turn | undefined> {
  return db.row(sql`
    update job_turns set lease_id = ${leaseId}, runner_id = ${runnerId}, leased_at = now()
    where (workspace_id, type) = (
      select workspace_id, type from job_turns
      where lease_id is null and due_at <= now() and type = any (${[...types]})
      order by due_at limit 1 for update skip locked)
    returning workspace_id, type`);
}

/** For each mebibyte of its upload a job is treated as if it had become due so much later, an hour at most. */
const SECONDS_FOR_MIB = 60;

/** The job of a turn that has waited longest; a small one goes before large ones that have not waited for long. */
export async function findNextJob(db: Queryable, { workspace_id, type }: Turn): Promise<string | undefined> {
  const row = await db.row<{ id: string }>(sql`
    select id from jobs
    where workspace_id = ${workspace_id} and type = ${type} and ${isOpen} and due_at <= now()
    order by due_at + make_interval(secs => least(3600, input_bytes / 1048576.0 * ${SECONDS_FOR_MIB})), id limit 1`);
  return row?.id;
}

/** Puts a turn behind the others, until the first of its jobs is due; without jobs it leaves the line. */
export async function endTurn(tx: Transaction, { workspace_id, type }: Turn, leaseId: string): Promise<void> {
  const ours = sql`workspace_id = ${workspace_id} and type = ${type} and lease_id = ${leaseId}`;
  // Locked first: a job that is being started commits before its kind is looked at, or waits and puts it back in line.
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
 * Gives back what a living runner does not hold: its answer was lost, or the end of a turn could not be written. Only
 * what was leased well before `held` was looked at.
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
