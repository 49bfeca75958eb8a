/**
 * The SQL of background jobs: the record that callers see (table jobs). It says how far a job is and when it may run
 * next; in which order the jobs of all workspaces run is said by turns (turns-store.ts).
 */
import sql from "sql-template-tag";
import { lockKey } from "#platform/database/advisory-lock.ts";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

export const jobStatuses = ["pending", "processing", "completed", "failed", "cancelled"] as const;
export type JobStatus = (typeof jobStatuses)[number];

/** How far a job is; absolute numbers. */
export interface Progress {
  readonly total: number | null;
  readonly processed: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly skipped: number;
  /** Finer numbers by name, such as `created`, `updated`, `duplicates`, `invalid`. */
  readonly counts: Readonly<Record<string, number>>;
}

export interface JobRow extends Progress {
  readonly id: string;
  readonly type: string;
  readonly status: JobStatus;
  readonly permission: string;
  readonly result: unknown;
  readonly error: string | null;
  readonly result_file: string | null;
  readonly errors_file: string | null;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly completed_at: Date | null;
  readonly expires_at: Date | null;
}

/** One take-up of a job. Its number fences: what an overtaken run writes touches no row. */
export interface JobRun extends Progress {
  readonly workspace_id: WorkspaceId;
  readonly id: string;
  readonly type: string;
  readonly input: unknown;
  readonly run_number: number;
  /** Runs since it was last put back in order, this one included. */
  readonly attempts: number;
  readonly cancel_requested: boolean;
}

/** How a job ends. */
export interface JobEnd {
  readonly status: "completed" | "failed" | "cancelled";
  readonly result?: unknown;
  readonly error?: string;
  readonly result_file?: string | undefined;
  readonly errors_file?: string | undefined;
}

export interface JobFilter {
  readonly type: string | undefined;
  readonly status: JobStatus | undefined;
  /** Only jobs that need one of these permissions; null for all. */
  readonly permissions: readonly string[] | null;
}

/** How long an ended job and its files can be fetched. */
const KEPT_DAYS = 7;
/** Whoever began to fetch a file just before that gets all of it. */
const FETCH_HOURS = 1;

const columns = sql`id, type, status, permission, total, processed, succeeded, failed, skipped, counts, result, error,
  result_file, errors_file, created_at, started_at, completed_at, expires_at`;

const unexpired = sql`(expires_at is null or expires_at > now())`;

/** Of a job that nobody needs any more. */
export const isOver = sql`expires_at <= now() - make_interval(hours => ${FETCH_HOURS})`;

/** Of a job that waits, runs or is put back. */
export const isOpen = sql`status in ('pending', 'processing')`;

/** The record; the job runs once its kind is in the line (turns-store.ts). */
export async function insertJob(
  db: Queryable,
  workspaceId: WorkspaceId,
  job: { id: string; type: string; permission: string; input: unknown; total: number | null },
): Promise<void> {
  await db.run(sql`
    insert into jobs (workspace_id, id, type, permission, input, total)
    values (${workspaceId}, ${job.id}, ${job.type}, ${job.permission}, ${JSON.stringify(job.input)}, ${job.total})`);
}

/** How large its upload is. */
export async function updateInputBytes(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  bytes: number,
): Promise<void> {
  await db.run(
    sql`update jobs set input_bytes = ${bytes} where workspace_id = ${workspaceId} and id = ${id}`,
  );
}

export async function findJob(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<JobRow | undefined> {
  return db.row<JobRow>(sql`
    select ${columns} from jobs where workspace_id = ${workspaceId} and id = ${id} and ${unexpired}`);
}

const matching = (workspaceId: WorkspaceId, filter: JobFilter) => sql`
  workspace_id = ${workspaceId} and ${unexpired}
  and (${filter.type ?? null}::text is null or type = ${filter.type ?? null})
  and (${filter.status ?? null}::text is null or status = ${filter.status ?? null})
  and (${filter.permissions}::text[] is null or permission = any(${filter.permissions}))`;

/** Newest first: ids grow with time. */
export async function listJobs(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: JobFilter,
  page: Page,
): Promise<JobRow[]> {
  return db.rows<JobRow>(sql`
    select ${columns} from jobs where ${matching(workspaceId, filter)}
    order by id desc limit ${page.limit} offset ${page.offset}`);
}

export async function countJobs(db: Queryable, workspaceId: WorkspaceId, filter: JobFilter): Promise<number> {
  const row = await db.row<{ count: number }>(
    sql`select count(*) as count from jobs where ${matching(workspaceId, filter)}`,
  );
  return row?.count ?? 0;
}

/** Nobody else starts a job of this type for the workspace before the transaction ends. */
export async function lockStart(tx: Queryable, workspaceId: WorkspaceId, type: string): Promise<void> {
  await tx.run(sql`select pg_advisory_xact_lock(${lockKey(`${type} jobs of ${workspaceId}`)})`);
}

/** How many of this type wait, run or are put back. */
export async function countOpenJobs(db: Queryable, workspaceId: WorkspaceId, type: string): Promise<number> {
  const row = await db.row<{ count: number }>(sql`
    select count(*) as count from jobs
    where workspace_id = ${workspaceId} and type = ${type} and ${isOpen}`);
  return row?.count ?? 0;
}

const isUntouched = sql`status = 'pending' and run_number = 0`;

/**
 * Ends a job that never ran at once and asks any other one to stop, which may leave what it has done so far; one that
 * waits for its next run becomes due, when its kind joins the line (queue.ts). Undefined when it has already ended.
 */
export async function updateJobToCancel(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<JobRow | undefined> {
  return db.row<JobRow>(sql`
    update jobs set cancel_requested = true, due_at = least(due_at, now()),
      status = case when ${isUntouched} then 'cancelled' else status end,
      completed_at = case when ${isUntouched} then now() end,
      expires_at = case when ${isUntouched} then now() + make_interval(days => ${KEPT_DAYS}) end
    where workspace_id = ${workspaceId} and id = ${id} and ${isOpen}
    returning ${columns}`);
}

/** Takes a job up under a new run number; undefined when there is nothing left to do. */
export async function leaseJob(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<JobRun | undefined> {
  return db.row<JobRun>(sql`
    update jobs set status = 'processing', started_at = coalesce(started_at, now()), run_number = run_number + 1,
      attempts = attempts + 1
    where workspace_id = ${workspaceId} and id = ${id} and ${isOpen}
    returning workspace_id, id, type, input, run_number, attempts, cancel_requested,
      total, processed, succeeded, failed, skipped, counts`);
}

const held = (run: JobRun) => sql`
  workspace_id = ${run.workspace_id} and id = ${run.id} and run_number = ${run.run_number} and status = 'processing'`;

const progressed = (progress: Progress) => sql`
  total = ${progress.total}, processed = ${progress.processed}, succeeded = ${progress.succeeded},
  failed = ${progress.failed}, skipped = ${progress.skipped}, counts = ${JSON.stringify(progress.counts)}`;

/** What a run hears when it writes its progress. */
export interface RunNews {
  readonly cancel_requested: boolean;
  /** Whether another job is due that has no place to run. */
  readonly others_wait: boolean;
}

/** Writes the progress and hears whether to stop; undefined when another run has taken over. */
export async function updateJobProgress(
  db: Queryable,
  run: JobRun,
  progress: Progress,
): Promise<RunNews | undefined> {
  return db.row(sql`
    update jobs set ${progressed(progress)} where ${held(run)}
    returning cancel_requested,
      exists (select from job_turns where lease_id is null and due_at <= now())
      or exists (
        select from jobs o
        where o.workspace_id = ${run.workspace_id} and o.type = ${run.type} and o.id <> ${run.id}
          and o.status in ('pending', 'processing') and o.due_at <= now()) as others_wait`);
}

/** The last write of a run. An overtaken run's changes nothing, and is false. */
export async function updateJobEnded(
  db: Queryable,
  run: JobRun,
  progress: Progress,
  end: JobEnd,
): Promise<boolean> {
  const ended = await db.run(sql`
    update jobs set ${progressed(progress)}, status = ${end.status},
      result = ${end.result === undefined ? null : JSON.stringify(end.result)}, error = ${end.error ?? null},
      result_file = ${end.result_file ?? null}, errors_file = ${end.errors_file ?? null},
      completed_at = now(), expires_at = now() + make_interval(days => ${KEPT_DAYS})
    where ${held(run)}`);
  return ended > 0;
}

/** For longer after each attempt. */
const laterAfterFault = sql`due_at = now() + make_interval(secs => exp(least(attempts, 10)::float8))`;

/** Back to waiting after a fault. */
export async function updateJobWaiting(db: Queryable, run: JobRun, progress: Progress): Promise<void> {
  await db.run(sql`
    update jobs set ${progressed(progress)}, status = 'pending', ${laterAfterFault} where ${held(run)}`);
}

/** Of an open job whose last run could not be written down. */
export async function delayJob(db: Queryable, workspaceId: WorkspaceId, id: string): Promise<void> {
  await db.run(sql`
    update jobs set ${laterAfterFault} where workspace_id = ${workspaceId} and id = ${id} and ${isOpen}`);
}

/** Back to waiting, at its place among the jobs of its kind, and without having used up an attempt. */
export async function updateJobRequeued(db: Queryable, run: JobRun, progress: Progress): Promise<void> {
  await db.run(sql`
    update jobs set ${progressed(progress)}, status = 'pending', attempts = 0 where ${held(run)}`);
}

/**
 * Behind the other jobs of its kind, or due some seconds later; at once where it is to be cancelled. To its caller the
 * job goes on all the while, so that who cancels it gets what there is.
 */
export async function updateJobPutBack(
  db: Queryable,
  run: JobRun,
  progress: Progress,
  seconds: number,
): Promise<void> {
  await db.run(sql`
    update jobs set ${progressed(progress)}, attempts = 0,
      due_at = now() + make_interval(secs => case when cancel_requested then 0 else ${seconds}::float8 end)
    where ${held(run)}`);
}

/** Drops up to `most` of the jobs that are over, and says how many went. */
export function removeJobsOver(db: Queryable, most: number): Promise<number> {
  return db.run(sql`
    delete from jobs
    where (workspace_id, id) in (
      select workspace_id, id from jobs where ${isOver} order by expires_at limit ${most})`);
}
