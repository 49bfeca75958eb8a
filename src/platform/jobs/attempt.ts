/**
 * One run of a job: leases the record, calls the handler, and writes the result.
 *
 * A job may run more than once, because a runner may die, or be taken for dead while it is only frozen. So a handler must be
 * able to start again (its progress is in `job`), and an overtaken run must not write: every write has the run number, and
 * the first that finds a newer one aborts the signal of the handler.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Log } from "#platform/log/log.ts";
import { removeOtherFiles } from "./file-store.ts";
import { copyFile, INPUT_FILE, openTempFile, type TempFile } from "./files.ts";
import {
  type JobEnd,
  type JobRun,
  leaseJob,
  type Progress,
  updateJobEnded,
  updateJobProgress,
  updateJobPutBack,
  updateJobRequeued,
  updateJobWaiting,
} from "./job-record-store.ts";

/** The argument of a job handler. */
export interface JobContext<Input> {
  readonly job: Progress & {
    readonly id: string;
    readonly workspaceId: WorkspaceId;
    readonly type: string;
    /** The `input` of startJob, after JSON serialisation. */
    readonly input: Input;
  };
  /** Reports changed numbers, as absolute values. They are written to the database twice a second. */
  readonly report: (progress: Partial<Progress>) => void;
  /** Whether the job was cancelled; up to half a second old. */
  readonly isCancelled: () => boolean;
  /** Aborted when the handler should stop: the job was cancelled or overtaken, or the service stops. */
  readonly signal: AbortSignal;
  /** Asks the database whether the handler should stop: call it before work that must not begin after a cancellation. */
  readonly hasToEnd: () => Promise<boolean>;
  /**
   * Call it after each piece of work that the next run will not repeat.
   * @throws PutBack if the job has run for its time slice and other jobs wait
   */
  readonly requireTurn: () => void;
  /** Copies the upload of the job to a temporary file. */
  readonly openInput: () => Promise<TempFile>;
  /** A temporary file for this run. */
  readonly openTempFile: () => Promise<TempFile>;
  readonly log: Log;
}

/** The result of a handler. Files are names of LineFile; all other files of the job are deleted when it ends. */
export interface JobOutcome {
  /** Whether a cancellation stopped the work before its end. */
  readonly isPartial?: boolean;
  readonly result?: unknown;
  readonly resultFile?: string;
  readonly errorsFile?: string;
  /** The rows of the errors file as they were uploaded. */
  readonly errorRowsFile?: string;
}

/**
 * Does the work of one type of job. An ApiError ends the job as failed with its message. Any other error is logged, and
 * the job is retried after a pause; after MOST_ATTEMPTS it ends as failed with a general message.
 */
export type JobHandler<Input> = (context: JobContext<Input>) => Promise<JobOutcome>;

/**
 * Thrown by a handler or a recurring task to yield: it is called again after `seconds`, after the others that are due, and
 * its slot is free until then. A cancelled job is called again, too, so that it can clean up.
 */
export class PutBack extends Error {
  readonly seconds: number;

  constructor(seconds = 0) {
    super(`put back for ${seconds} s`);
    this.seconds = seconds;
  }
}

/** A job that has ended. */
export interface EndedJob {
  readonly workspaceId: WorkspaceId;
  readonly id: string;
  readonly type: string;
  readonly status: JobEnd["status"];
  readonly error: string | undefined;
  readonly progress: Progress;
}

/** Called in the transaction that writes the end of the job. */
export type OnJobEnded = (tx: Queryable, job: EndedJob) => Promise<void>;

/** How often the progress is written and a cancellation is noticed. */
const WRITE_MS = 500;

/** A job that has failed this often is given up. */
const MOST_ATTEMPTS = 5;

const GAVE_UP = `The job failed ${MOST_ATTEMPTS} times with an internal error and was given up`;

type Ending = "cancelled" | "overtaken" | "stopping";

/** The dependencies that all runs of jobs share. */
export interface Workplace {
  readonly database: Database;
  readonly dataDir: string;
  readonly log: Log;
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal;
  readonly onEnded?: OnJobEnded | undefined;
  /** The time slice of a job while others wait. */
  readonly turnMs: number;
}

/** Runs a job if it is still open. After an error of the handler, the job is due again later. */
export async function attemptJob(
  { database, dataDir, log, stopping, onEnded, turnMs }: Workplace,
  handler: JobHandler<never>,
  key: { readonly workspace_id: WorkspaceId; readonly id: string },
): Promise<void> {
  const run = await leaseJob(database, key.workspace_id, key.id);
  if (run === undefined) return;
  let progress: Progress = run;
  const end = (how: JobEnd) =>
    database.transaction(async (tx) => {
      if (!(await updateJobEnded(tx, run, progress, how))) return;
      const { workspace_id: workspaceId, id, type } = run;
      const files = [how.result_file, how.errors_file, how.error_rows_file];
      const kept = files.filter((name) => name !== undefined);
      await removeOtherFiles(tx, workspaceId, id, kept);
      await onEnded?.(tx, { workspaceId, id, type, status: how.status, error: how.error, progress });
    });
  // A cancelled job that has run before is called once more, so that it can leave its partial result.
  if (run.cancel_requested && run.run_number === 1) return end({ status: "cancelled" });
  // The last run did not write its end, so it probably crashed its process.
  if (run.attempts > MOST_ATTEMPTS) return end({ status: "failed", error: GAVE_UP });

  const jobLog = log.child({ job_id: run.id, job_type: run.type });
  await using watch = watchRun({ database, stopping, turnMs }, run, () => progress, jobLog);
  try {
    const outcome = await handler({
      job: { ...run, workspaceId: run.workspace_id, input: run.input as never },
      report: (changes) => {
        progress = { ...progress, ...changes, counts: { ...progress.counts, ...changes.counts } };
      },
      isCancelled: () => watch.ending() === "cancelled",
      signal: watch.signal,
      hasToEnd: watch.hasToEnd,
      requireTurn: watch.requireTurn,
      openInput: async () => {
        await using kept = new AsyncDisposableStack();
        const input = kept.use(await openTempFile(dataDir));
        const file = { workspaceId: run.workspace_id, jobId: run.id, name: INPUT_FILE };
        await copyFile(database, file, input.path);
        kept.move();
        return input;
      },
      openTempFile: () => openTempFile(dataDir),
      log: jobLog,
    });
    await end({
      status: outcome.isPartial ? "cancelled" : "completed",
      result: outcome.result,
      result_file: outcome.resultFile,
      errors_file: outcome.errorsFile,
      error_rows_file: outcome.errorRowsFile,
    });
  } catch (fault) {
    const ending = watch.ending();
    if (ending === "overtaken") return;
    if (ending === "cancelled") return end({ status: "cancelled" });
    if (ending === "stopping") return updateJobRequeued(database, run, progress);
    if (fault instanceof PutBack) return updateJobPutBack(database, run, progress, fault.seconds);
    if (fault instanceof ApiError) return end({ status: "failed", error: fault.message });
    jobLog.error({ err: fault, attempt: run.attempts }, "job failed");
    if (run.attempts >= MOST_ATTEMPTS) return end({ status: "failed", error: GAVE_UP });
    await updateJobWaiting(database, run, progress);
  }
}

/** Writes the progress every half second, and aborts the signal when the run should stop. */
function watchRun(
  { database, stopping, turnMs }: Pick<Workplace, "database" | "stopping" | "turnMs">,
  run: JobRun,
  progress: () => Progress,
  log: Log,
): AsyncDisposable &
  Pick<JobContext<never>, "signal" | "hasToEnd" | "requireTurn"> & { ending(): Ending | undefined } {
  const turnEnd = performance.now() + turnMs;
  let othersWait = false;
  const abort = new AbortController();
  const over = new AbortController();
  const stop = (ending: Ending) => abort.abort(ending);
  if (run.cancel_requested) stop("cancelled");
  const onStopping = () => stop("stopping");
  const write = async () => {
    const held = await updateJobProgress(database, run, progress());
    if (held === undefined) return stop("overtaken");
    othersWait = held.others_wait;
    if (held.cancel_requested) stop("cancelled");
  };
  const isRunning = () => delay(WRITE_MS, true, { signal: over.signal }).catch(() => false);
  const watching = (async () => {
    while (await isRunning()) {
      await write().catch((err: unknown) => log.warn({ err }, "job progress could not be written"));
    }
  })();
  if (stopping.aborted) onStopping();
  stopping.addEventListener("abort", onStopping, { once: true });
  return {
    signal: abort.signal,
    ending: () => abort.signal.reason as Ending | undefined,
    async hasToEnd() {
      await write();
      return abort.signal.aborted;
    },
    requireTurn() {
      if (othersWait && performance.now() > turnEnd) throw new PutBack();
    },
    async [Symbol.asyncDispose]() {
      stopping.removeEventListener("abort", onStopping);
      over.abort();
      await watching;
    },
  };
}
