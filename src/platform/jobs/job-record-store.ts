/**
 * The SQL of background jobs (table jobs): the record that callers see, with the progress and the time of the next run. The
 * order in which jobs of all workspaces run is determined by turns (turns-store.ts).
 */
import sql, { empty } from "sql-template-tag";
import { lockKey } from "#platform/database/advisory-lock-key.ts";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { Actor } from "#platform/http/auth/caller.ts";
import type { WorkspaceId } from "#platform/ids.ts";

export const jobStatuses = ["pending", "processing", "completed", "failed", "cancelled"] as const;
export type JobStatus = (typeof jobStatuses)[number];

/** The progress of a job, in absolute numbers. */
export interface Progress {
  readonly total: number | null;
  readonly processed: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly skipped: number;
  /** Additional numbers by name, such as `created`, `updated`, `duplicates`, `invalid`. */
  readonly counts: Readonly<Record<string, number>>;
}

/** Who started a job. */
export interface JobActor {
  readonly kind: Actor["kind"];
  readonly id: string;
  readonly name: string;
}

/** What a job is about. */
export interface JobResource {
  /** The noun of its permission, such as `mailing_lists`. */
  readonly kind: string;
  readonly id: string;
  readonly name: string;
}

/** What people recognise a job by. Names are those of the time of the start. */
export interface JobIdentity {
  readonly label: string | null;
  readonly actor: JobActor | null;
  readonly file_name: string | null;
  readonly resource: JobResource | null;
}

export interface JobRow extends Progress, JobIdentity {
  readonly id: string;
  readonly type: string;
  readonly status: JobStatus;
  readonly permission: string;
  readonly result: unknown;
  readonly error: string | null;
  readonly result_file: string | null;
  readonly errors_file: string | null;
  readonly error_rows_file: string | null;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly completed_at: Date | null;
  readonly expires_at: Date | null;
}

/** One run of a job. Its number is a fence: writes of an overtaken run change no row. */
export interface JobRun extends Progress {
  readonly workspace_id: WorkspaceId;
  readonly id: string;
  readonly type: string;
  readonly input: unknown;
  readonly run_number: number;
  /** Runs since the last one that ended in order, including this one. */
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
  readonly error_rows_file?: string | undefined;
}

export interface JobFilter {
  readonly type: string | undefined;
  readonly status: JobStatus | undefined;
  readonly resource?: string | undefined;
  readonly resource_id?: string | undefined;
  readonly actor?: string | undefined;
  /** Only jobs with one of these permissions; null for all. */
  readonly permissions: readonly string[] | null;
}

/** How long an ended job and its files are available. */
export const KEPT_JOB_DAYS = 7;
/** Files are kept a little longer, so that a download that has begun can finish. */
const FETCH_HOURS = 1;

/** The columns of `JobIdentity`. */
export const identityColumns = sql`label, file_name,
  case when actor_id is not null then jsonb_build_object('kind', actor_kind, 'id', actor_id, 'name', actor_name) end
    as actor,
  case when resource_id is not null
    then jsonb_build_object('kind', resource_kind, 'id', resource_id, 'name', resource_name) end as resource`;

const columns = sql`id, type, ${identityColumns}, status, permission, total, processed, succeeded, failed, skipped, counts, result, error,
  result_file, errors_file, error_rows_file, created_at, started_at, completed_at, expires_at`;

const unexpired = sql`(expires_at is null or expires_at > now())`;

/** Condition of an expired job, whose record and files can be deleted. */
export const isOver = sql`expires_at <= now() - make_interval(hours => ${FETCH_HOURS})`;

/** Condition of a job that waits or runs. */
export const isOpen = sql`status in ('pending', 'processing')`;

/** Inserts the record. The job runs after its turn was queued (turns-store.ts). */
export async function insertJob(
  db: Queryable,
  workspaceId: WorkspaceId,
  job: JobIdentity & { id: string; type: string; permission: string; input: unknown; total: number | null },
): Promise<void> {
  const { actor, resource } = job;
  await db.run(sql`
    insert into jobs (workspace_id, id, type, permission, input, total, label, actor_kind, actor_id, actor_name, file_name,
      resource_kind, resource_id, resource_name)
    values (${workspaceId}, ${job.id}, ${job.type}, ${job.permission}, ${JSON.stringify(job.input)}, ${job.total},
      ${job.label}, ${actor?.kind ?? null}, ${actor?.id ?? null}, ${actor?.name ?? null}, ${job.file_name},
      ${resource?.kind ?? null}, ${resource?.id ?? null}, ${resource?.name ?? null})`);
}

/** Sets the size of the upload. */
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
  and (${filter.permissions}::text[] is null or permission = any(${filter.permissions}))
  ${filter.resource === undefined ? empty : sql`and resource_kind = ${filter.resource}`}
  ${filter.resource_id === undefined ? empty : sql`and resource_id = ${filter.resource_id}`}
  ${filter.actor === undefined ? empty : sql`and actor_id = ${filter.actor}`}`;

/** Newest first: ids grow with time. */
export async function listJobs(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: JobFilter,
  page: Page,
): Promise<JobRow[]> {
  return db.rows<JobRow>(sql`
    select ${columns} from jobs where ${matching(workspaceId, filter)}
      ${page.after === undefined ? empty : sql`and id < ${page.after}`}
    order by id desc limit ${page.limit} offset ${page.offset}`);
}

/** The progress in per cent; 100 only for a completed job. */
export function progressPercent({
  status,
  total,
  processed,
}: Pick<JobRow, "status" | "total" | "processed">): number {
  if (status === "completed") return 100;
  return total ? Math.min(99, Math.floor((100 * processed) / total)) : 0;
}

export async function countJobs(db: Queryable, workspaceId: WorkspaceId, filter: JobFilter): Promise<number> {
  const row = await db.row<{ count: number }>(
    sql`select count(*) as count from jobs where ${matching(workspaceId, filter)}`,
  );
  return row?.count ?? 0;
}

/** Makes other transactions that start a job of this type for the workspace wait for the end of this one. */
export async function lockStart(tx: Queryable, workspaceId: WorkspaceId, type: string): Promise<void> {
  await tx.run(sql`select pg_advisory_xact_lock(${lockKey(`${type} jobs of ${workspaceId}`)})`);
}

/** The number of open jobs of this type. */
export async function countOpenJobs(db: Queryable, workspaceId: WorkspaceId, type: string): Promise<number> {
  const row = await db.row<{ count: number }>(sql`
    select count(*) as count from jobs
    where workspace_id = ${workspaceId} and type = ${type} and ${isOpen}`);
  return row?.count ?? 0;
}

/** The id of an open job whose input has these values. Call lockStart before, so that no such job starts meanwhile. */
export async function findOpenJobWith(
  tx: Queryable,
  workspaceId: WorkspaceId,
  type: string,
  values: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  const row = await tx.row<{ id: string }>(sql`
    select id from jobs
    where workspace_id = ${workspaceId} and type = ${type} and ${isOpen} and input @> ${JSON.stringify(values)}::jsonb
    limit 1`);
  return row?.id;
}

const isUntouched = sql`status = 'pending' and run_number = 0`;

/**
 * Ends a job that never ran, and marks any other as cancelled, which may leave a partial result; a waiting one becomes due.
 * Undefined if the job has already ended.
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
      expires_at = case when ${isUntouched} then now() + make_interval(days => ${KEPT_JOB_DAYS}) end
    where workspace_id = ${workspaceId} and id = ${id} and ${isOpen}
    returning ${columns}`);
}

/** Starts a run of a job with a new run number; undefined if the job has ended. */
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

/** The state of a running job, read when its progress is written. */
export interface RunState {
  readonly cancel_requested: boolean;
  /** Whether another job is due and waits for a slot. */
  readonly others_wait: boolean;
}

/** Writes the progress; undefined if another run has taken over. */
export async function updateJobProgress(
  db: Queryable,
  run: JobRun,
  progress: Progress,
): Promise<RunState | undefined> {
  return db.row(sql`
    update jobs set ${progressed(progress)} where ${held(run)}
    returning cancel_requested,
      exists (select from job_turns where lease_id is null and due_at <= now())
      or exists (
        select from jobs o
        where o.workspace_id = ${run.workspace_id} and o.type = ${run.type} and o.id <> ${run.id}
          and o.status in ('pending', 'processing') and o.due_at <= now()) as others_wait`);
}

/** Writes the end of a job. @returns false, without a change, if the run was overtaken */
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
      error_rows_file = ${end.error_rows_file ?? null},
      completed_at = now(), expires_at = now() + make_interval(days => ${KEPT_JOB_DAYS})
    where ${held(run)}`);
  return ended > 0;
}

/** Exponential backoff. */
const laterAfterFault = sql`due_at = now() + make_interval(secs => exp(least(attempts, 10)::float8))`;

/** Makes a job wait after an error. */
export async function updateJobWaiting(db: Queryable, run: JobRun, progress: Progress): Promise<void> {
  await db.run(sql`
    update jobs set ${progressed(progress)}, status = 'pending', ${laterAfterFault} where ${held(run)}`);
}

/** Delays an open job whose run could not be written. */
export async function delayJob(db: Queryable, workspaceId: WorkspaceId, id: string): Promise<void> {
  await db.run(sql`
    update jobs set ${laterAfterFault} where workspace_id = ${workspaceId} and id = ${id} and ${isOpen}`);
}

/** Makes a job wait again, with its place in the order kept and without counting an attempt. */
export async function updateJobRequeued(db: Queryable, run: JobRun, progress: Progress): Promise<void> {
  await db.run(sql`
    update jobs set ${progressed(progress)}, status = 'pending', attempts = 0 where ${held(run)}`);
}

/**
 * Makes a job due after `seconds`, or at once if it was cancelled. Its status stays "processing" for its caller, so that a
 * cancellation still gets the partial result.
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

/** Deletes up to `most` expired jobs. @returns how many */
export function removeJobsOver(db: Queryable, most: number): Promise<number> {
  return db.run(sql`
    delete from jobs
    where (workspace_id, id) in (
      select workspace_id, id from jobs where ${isOver} order by expires_at limit ${most})`);
}
