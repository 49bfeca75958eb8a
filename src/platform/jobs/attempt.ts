/**
 * One attempt at a job: take the record up, run the handler, write down how it ended.
 *
 * A job may run more than once: a runner may die, or be thought dead while it was only frozen. So a handler must be
 * able to begin again (its progress so far is in `job`), and an overtaken run must not write: every write carries the
 * run's number, and the first that finds a newer one aborts the handler's signal.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Log } from "#platform/log/log.ts";
import { removeOtherFiles } from "./file-store.ts";
import { copyFile, INPUT_FILE, openScratch, type Scratch } from "./files.ts";
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
} from "./store.ts";

/** What a handler works with. */
export interface JobContext<Input> {
  readonly job: Progress & {
    readonly id: string;
    readonly workspaceId: WorkspaceId;
    readonly type: string;
    /** As it was given to startJob, after a trip through JSON. */
    readonly input: Input;
  };
  /** Absolute numbers, those that changed; written about twice a second, however often it is called. */
  readonly report: (progress: Partial<Progress>) => void;
  /** Has the caller asked to stop? Known half a second later at the latest. */
  readonly isCancelled: () => boolean;
  /** Aborted when the handler should end early: cancelled, overtaken, or the service stops. */
  readonly signal: AbortSignal;
  /** Whether it should, asked anew: for what must not be begun once the caller has been told that the job will stop. */
  readonly hasToEnd: () => Promise<boolean>;
  /**
   * To be called after each piece of work that the next run of the job does not repeat.
   * @throws PutBack when the job has run for as long as one turn lasts and other jobs wait
   */
  readonly requireTurn: () => void;
  /** The upload that it was started with, on the disk. */
  readonly openInput: () => Promise<Scratch>;
  /** A place on the disk for this run alone. */
  readonly openScratch: () => Promise<Scratch>;
  readonly log: Log;
}

/** What a job leaves behind. Files are names of LineFile; all others of the job go with its end. */
export interface JobOutcome {
  /** A cancel ended it before all was done. One that came when nothing was left to do changes nothing. */
  readonly isPartial?: boolean;
  readonly result?: unknown;
  readonly resultFile?: string;
  readonly errorsFile?: string;
}

/**
 * Does the work of one type of job. An ApiError is the caller's fault and ends the job as failed with its message;
 * anything else is ours: logged, tried again after a pause, in the end failed with a text that says nothing more.
 */
export type JobHandler<Input> = (context: JobContext<Input>) => Promise<JobOutcome>;

/**
 * What a handler, or a recurring task, throws to go on later, and to let others have its place meanwhile. It is called
 * anew then, behind the others that are due; a job that is cancelled while it waits is called when its turn comes.
 */
export class PutBack extends Error {
  readonly seconds: number;

  constructor(seconds = 0) {
    super(`put back for ${seconds} s`);
    this.seconds = seconds;
  }
}

/** The end of a job, as others hear of it. */
export interface EndedJob {
  readonly workspaceId: WorkspaceId;
  readonly id: string;
  readonly type: string;
  readonly status: JobEnd["status"];
  readonly error: string | undefined;
  readonly progress: Progress;
}

/** Told in the transaction that writes the end down. */
export type OnJobEnded = (tx: Queryable, job: EndedJob) => Promise<void>;

/** How often the progress is written and the wish to cancel is read. */
const WRITE_MS = 500;

/** Attempts before a job counts as poisonous. */
const MOST_ATTEMPTS = 5;

const GAVE_UP = `The job failed on our side ${MOST_ATTEMPTS} times and was given up`;

type Ending = "cancelled" | "overtaken" | "stopping";

/** What attempts need to know of their runner. */
export interface Workplace {
  readonly database: Database;
  readonly dataDir: string;
  readonly log: Log;
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal;
  readonly onEnded?: OnJobEnded | undefined;
  /** How long a job runs while others wait. */
  readonly turnMs: number;
}

/** One run of a job, if it is still open; a fault of the handler is written down, and the job is due again later. */
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
      const { result_file, errors_file } = how;
      await removeOtherFiles(
        tx,
        workspaceId,
        id,
        [result_file, errors_file].filter((name) => name !== undefined),
      );
      await onEnded?.(tx, { workspaceId, id, type, status: how.status, error: how.error, progress });
    });
  // One that has run before may have something to leave.
  if (run.cancel_requested && run.run_number === 1) return end({ status: "cancelled" });
  // Nobody recorded the last attempt's failure: it took its process along.
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
        const input = kept.use(await openScratch(dataDir));
        const file = { workspaceId: run.workspace_id, jobId: run.id, name: INPUT_FILE };
        await copyFile(database, file, input.path);
        kept.move();
        return input;
      },
      openScratch: () => openScratch(dataDir),
      log: jobLog,
    });
    const { isPartial, result, resultFile: result_file, errorsFile: errors_file } = outcome;
    await end({ status: isPartial ? "cancelled" : "completed", result, result_file, errors_file });
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

/** Writes the progress every half second and aborts the signal when the run should end early. */
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
      await write().catch((err: unknown) => log.warn({ err }, "job progress not written"));
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
