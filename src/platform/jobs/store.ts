/**
 * The SQL of background jobs: the record that callers see (table jobs) and its twin in Graphile Worker's queue, whose
 * key is the record's id. The record says how far a job is, the twin who works on it.
 */
import sql, { type Sql } from "sql-template-tag";
import { lockKey } from "../database/advisory-lock.ts";
import type { Page } from "../database/page.ts";
import type { Queryable } from "../database/pool.ts";
import type { WorkspaceId } from "../ids.ts";

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

/** Graphile's own limit on attempts, out of reach: attempt.ts counts, so that the record learns of the last one. */
export const QUEUE_ATTEMPTS = 1_000;

const columns = sql`id, type, status, permission, total, processed, succeeded, failed, skipped, counts, result, error,
  result_file, errors_file, created_at, started_at, completed_at, expires_at`;

const unexpired = sql`(expires_at is null or expires_at > now())`;

/** Of a job that nobody needs any more. */
export const isOver = sql`expires_at <= now() - make_interval(hours => ${FETCH_HOURS})`;

/** The record and its place in the queue, in one statement; runs when the transaction of `db` has committed. */
export async function insertJob(
  db: Queryable,
  workspaceId: WorkspaceId,
  job: { id: string; type: string; permission: string; input: unknown; total: number | null },
): Promise<void> {
  await db.run(sql`
    with record as (
      insert into jobs (workspace_id, id, type, permission, input, total)
      values (${workspaceId}, ${job.id}, ${job.type}, ${job.permission}, ${JSON.stringify(job.input)}, ${job.total})
    )
    select ${enqueueing(workspaceId, job)}`);
}

const enqueueing = (
  workspaceId: WorkspaceId,
  job: { id: string; type: string },
  seconds: Sql = sql`0`,
) => sql`
  graphile_worker.add_job(${job.type}, json_build_object('workspace_id', ${workspaceId}::uuid, 'id', ${job.id}::uuid),
    run_at := now() + make_interval(secs => ${seconds}), job_key := ${job.id}, max_attempts := ${QUEUE_ATTEMPTS})`;

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
    where workspace_id = ${workspaceId} and type = ${type} and status in ('pending', 'processing')`);
  return row?.count ?? 0;
}

const isUntouched = sql`status = 'pending' and run_number = 0`;

/**
 * Ends a job that never ran at once and asks any other one to stop, which may leave what it has done so far; one that
 * waits for its next run becomes due for that. Undefined when it has already ended.
 */
export async function updateJobToCancel(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<JobRow | undefined> {
  const job = await db.row<JobRow>(sql`
    update jobs set cancel_requested = true,
      status = case when ${isUntouched} then 'cancelled' else status end,
      completed_at = case when ${isUntouched} then now() end,
      expires_at = case when ${isUntouched} then now() + make_interval(days => ${KEPT_DAYS}) end
    where workspace_id = ${workspaceId} and id = ${id} and status in ('pending', 'processing')
    returning ${columns}`);
  // A statement of its own, which sees what a run that ended meanwhile has put back.
  if (job !== undefined && job.status !== "cancelled") {
    await db.run(sql`
      select graphile_worker.reschedule_jobs(array_agg(id), run_at := now()) from graphile_worker.jobs
      where key = ${id} and locked_at is null having count(*) > 0`);
  }
  return job;
}

/** Takes a job up under a new run number; undefined when there is nothing left to do. */
export async function leaseJob(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<JobRun | undefined> {
  return db.row<JobRun>(sql`
    update jobs set status = 'processing', started_at = coalesce(started_at, now()), run_number = run_number + 1
    where workspace_id = ${workspaceId} and id = ${id} and status in ('pending', 'processing')
    returning workspace_id, id, type, input, run_number, cancel_requested,
      total, processed, succeeded, failed, skipped, counts`);
}

const held = (run: JobRun) => sql`
  workspace_id = ${run.workspace_id} and id = ${run.id} and run_number = ${run.run_number} and status = 'processing'`;

const progressed = (progress: Progress) => sql`
  total = ${progress.total}, processed = ${progress.processed}, succeeded = ${progress.succeeded},
  failed = ${progress.failed}, skipped = ${progress.skipped}, counts = ${JSON.stringify(progress.counts)}`;

/** Writes the progress and hears whether to stop; undefined when another run has taken over. */
export async function updateJobProgress(
  db: Queryable,
  run: JobRun,
  progress: Progress,
): Promise<{ cancel_requested: boolean } | undefined> {
  return db.row(sql`update jobs set ${progressed(progress)} where ${held(run)} returning cancel_requested`);
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

/** Back to waiting: the queue offers the job again after a pause. */
export async function updateJobWaiting(db: Queryable, run: JobRun, progress: Progress): Promise<void> {
  await db.run(sql`update jobs set ${progressed(progress)}, status = 'pending' where ${held(run)}`);
}

/** Back to waiting with a fresh place in the queue, at once and without having used up an attempt. */
export async function updateJobRequeued(db: Queryable, run: JobRun, progress: Progress): Promise<void> {
  await db.run(sql`
    with released as (
      update jobs set ${progressed(progress)}, status = 'pending' where ${held(run)} returning id
    )
    select ${enqueueing(run.workspace_id, run)} from released`);
}

/**
 * As that, some seconds later, or at once where it is to be cancelled. To its caller the job goes on all the while, so that
 * who cancels it gets what there is.
 */
export async function updateJobPutBack(
  db: Queryable,
  run: JobRun,
  progress: Progress,
  seconds: number,
): Promise<void> {
  await db.run(sql`
    with released as (update jobs set ${progressed(progress)} where ${held(run)} returning cancel_requested)
    select ${enqueueing(run.workspace_id, run, sql`case when cancel_requested then 0 else ${seconds}::float8 end`)}
    from released`);
}

/** Drops up to `most` of the jobs that are over, and says how many went. */
export function removeJobsOver(db: Queryable, most: number): Promise<number> {
  return db.run(sql`
    delete from jobs
    where (workspace_id, id) in (
      select workspace_id, id from jobs where ${isOver} order by expires_at limit ${most})`);
}
