import type { AddressChecker } from "#hygiene/validations/address-checker.ts";
import { createLimiter, type Limiter } from "#platform/concurrency.ts";
import type { Encoding } from "#platform/csv/encodings.ts";
import type { Database } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { type JobContext, type JobHandler, type JobOutcome, PutBack } from "#platform/jobs/attempt.ts";
import type { TempFile } from "#platform/jobs/files.ts";
import { JobLineFile } from "#platform/jobs/line-file.ts";
import { requireNotSuspended } from "#workspace/workspaces/hold-suspended-jobs.ts";
import { type AddressFile, readAddressFile } from "./address-file.ts";
import { BatchTotals } from "./batch-totals.ts";
import { type WriteDeps, writeBatch } from "./charge-and-write-batch.ts";
import { type CheckedAddress, checkBatch } from "./check-batch.ts";
import { firstRound, nextRound, type Round, type RoundPauses } from "./divide-into-rounds.ts";
import { HourlyCap } from "./hourly-cap.ts";
import { writeRest, writeResult } from "./result-file.ts";
import { type DoneBatch, listBatchRows, listDoneBatches } from "./store.ts";

export const BULK_JOB = "validation_bulk";

/** The job's input besides the file itself. */
export interface BulkInput {
  /** The name that the uploader gave it. */
  readonly file_name: string;
  /** Null or undefined: detected. */
  readonly encoding?: Encoding | null;
}

export interface BulkDeps extends WriteDeps {
  readonly checker: AddressChecker;
  readonly pauses?: Partial<RoundPauses>;
}

/** Most servers that greylist want a minute; few want more than five. */
const PAUSES: RoundPauses = { greylistPauseMs: 90_000, retryPauseMs: 5_000 };
/** Batches of one job that are checked at a time. */
const BATCHES_AT_ONCE = 8;
/** Database connections for the batches of all jobs of this process. */
const CONNECTIONS = 2;
/** Domains that are checked at a time for all jobs of this process. */
const DOMAINS_AT_ONCE = 100;
/** Batches whose rows are read in one query. */
const BATCHES_PER_QUERY = 100;

/** Handles the job that validates the addresses of a file. */
export function bulkHandler(deps: BulkDeps): JobHandler<BulkInput> {
  const shared: SharedParts = {
    deps,
    pauses: { ...PAUSES, ...deps.pauses },
    connections: createLimiter(CONNECTIONS),
    domains: createLimiter(DOMAINS_AT_ONCE),
  };
  return async (context) => {
    const file = await readInput(context.openInput, context.job.input.encoding ?? undefined);
    return new BulkRun(shared, context, file, await HourlyCap.open(deps, context.job.workspaceId)).run();
  };
}

/** What all jobs of a process share. */
interface SharedParts {
  readonly deps: BulkDeps;
  readonly pauses: RoundPauses;
  readonly connections: Limiter;
  readonly domains: Limiter;
}

/**
 * One run of the job, over batches of some hundred addresses. A batch is checked first; then its cost, its history and
 * the record that it is done are written in one transaction. A job that was killed continues with the next batch and
 * charges nothing twice; a job that reaches a limit has validated exactly the addresses that were covered.
 *
 * Addresses that the rate limit of their provider or the hourly cap leaves out are retried in another round
 * (divide-into-rounds.ts), addresses whose server greylists in the last one. A job that runs long, or has to wait,
 * gives up its slot (PutBack).
 */
class BulkRun {
  readonly #shared: SharedParts;
  readonly #context: JobContext<BulkInput>;
  readonly #file: AddressFile;
  readonly #cap: HourlyCap;
  readonly #totals = new BatchTotals();
  #hasWorked = false;

  constructor(shared: SharedParts, context: JobContext<BulkInput>, file: AddressFile, cap: HourlyCap) {
    this.#shared = shared;
    this.#context = context;
    this.#file = file;
    this.#cap = cap;
  }

  async run(): Promise<JobOutcome> {
    await this.#noteDone();
    let round: Round | undefined = firstRound(this.#file.addresses);
    while (round !== undefined) {
      await this.#round(round);
      if (this.#context.signal.aborted || this.#totals.stoppedBy !== null) break;
      round = nextRound(this.#file.addresses, round, this.#doneOf(round), this.#shared.pauses);
    }
    // After a stop of the service the job continues later; after a cancellation it returns the results so far.
    if (!this.#context.isCancelled()) this.#context.signal.throwIfAborted();
    await this.#noteDone();
    return this.#finish();
  }

  /** Works off the batches of a round that are not done. @throws PutBack when the round may not begin yet */
  async #round(round: Round): Promise<void> {
    const { signal } = this.#context;
    const isBegun = this.#totals.find(round.first) !== undefined;
    if (!isBegun && round.notBefore > this.#now()) throw this.#putBackUntil(round.notBefore);
    const left = round.batches.map((places, at) => [round.first + at, places] as const);
    const work = async () => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        if (signal.aborted || this.#totals.stoppedBy !== null) return;
        if (this.#totals.find(next[0]) !== undefined) continue;
        try {
          this.#requireSlot();
          await this.#batch(...next, round.isLast);
        } catch (fault) {
          left.length = 0;
          throw fault;
        }
        this.#hasWorked = true;
      }
    };
    const works = await Promise.allSettled(Array.from({ length: BATCHES_AT_ONCE }, work));
    const faults = works.flatMap((ended) => (ended.status === "rejected" ? [ended.reason] : []));
    if (faults.length > 0 && !signal.aborted) {
      throw faults.find((fault) => !(fault instanceof PutBack)) ?? faults[0];
    }
  }

  async #batch(batch: number, places: readonly number[], isLast: boolean): Promise<void> {
    const { deps, connections, domains } = this.#shared;
    const { job, signal } = this.#context;
    const { addresses } = this.#file;
    await requireNotSuspended(deps.db, job.workspaceId);
    await this.#requireNotCancelled();
    const { inside, outside } = this.#cap.reserve(addresses, places);
    const checked = await checkBatch({ ...deps, takeTurn: domains }, addresses, inside, signal);
    const parts = Map.groupBy(checked, (one) => partOf(one, isLast));
    const placesIn = (part: BatchPart) => (parts.get(part) ?? []).map(({ place }) => place);
    const later = { greylisted: placesIn("greylisted"), put_back: [...outside, ...placesIn("put_back")] };
    const key = { jobId: job.id, batch };
    const written = await connections(async () => {
      await this.#requireNotCancelled();
      return writeBatch(deps, job.workspaceId, key, parts.get("answered") ?? [], later);
    });
    // Undefined: another run of this job, which was taken for dead, has written the batch.
    if (written === undefined) await this.#noteDone();
    else this.#note([written.done]);
    this.#cap.release(inside.filter((place) => addresses[place]?.syntax.ok).length - (written?.taken ?? 0));
    if (written?.isCapped) this.#cap.close();
  }

  /** Writes the files of the results. */
  async #finish(): Promise<JobOutcome> {
    const { job, isCancelled, report } = this.#context;
    const { addresses, duplicates } = this.#file;
    const totals = this.#totals;
    const rows = await collectRows(this.#shared.deps.db, job.workspaceId, job.id);
    const day = new Date(this.#now()).toISOString().slice(0, 10);
    const reason = totals.stoppedBy ?? "cancelled";
    const outcome = await writeFiles(this.#shared.deps.db, job, day, this.#file, rows, reason);
    const rest = addresses.length - rows.size;
    // A limit ends the job; only a cancellation leaves it partial.
    const isPartial = isCancelled() && totals.stoppedBy === null && rest > 0;
    if (!isPartial)
      report({ ...totals.progress(this.#file), processed: addresses.length + duplicates, failed: rest });
    const result = { file_name: job.input.file_name, ...totals.result(this.#file, rest) };
    return { ...outcome, isPartial, result };
  }

  /** After a cancellation no batch is begun, and none is charged. */
  async #requireNotCancelled(): Promise<void> {
    if (await this.#context.hasToEnd()) this.#context.signal.throwIfAborted();
  }

  /** @throws PutBack when other jobs wait for the slot, or the hourly cap is reached */
  #requireSlot(): void {
    if (this.#hasWorked) this.#context.requireTurn();
    if (this.#cap.isReached) throw this.#putBackUntil(this.#cap.end.getTime());
  }

  #putBackUntil(time: number): PutBack {
    return new PutBack(Math.max(0, Math.ceil((time - this.#now()) / 1_000)));
  }

  async #noteDone(): Promise<void> {
    const { workspaceId, id } = this.#context.job;
    this.#note(await listDoneBatches(this.#shared.deps.db, workspaceId, id));
  }

  #note(batches: readonly DoneBatch[]): void {
    this.#totals.add(batches);
    this.#context.report(this.#totals.progress(this.#file));
  }

  #doneOf({ batches, first }: Round): DoneBatch[] {
    return batches.flatMap((_, at) => this.#totals.find(first + at) ?? []);
  }

  #now(): number {
    return this.#shared.deps.clock.now().getTime();
  }
}

/** The rows of the result file, by the place of their address in the input. */
async function collectRows(
  db: Database,
  workspaceId: WorkspaceId,
  jobId: string,
): Promise<Map<number, string>> {
  const found = new Map<number, string>();
  for (let after = -1; ; ) {
    const batches = await listBatchRows(db, workspaceId, jobId, { after, most: BATCHES_PER_QUERY });
    for (const { places, rows } of batches) {
      for (const [at, place] of places.entries()) found.set(place, rows[at] ?? "");
    }
    const last = batches.at(-1);
    if (last === undefined || batches.length < BATCHES_PER_QUERY) return found;
    after = last.batch;
  }
}

/** How an address is treated after its check. */
type BatchPart = "answered" | "greylisted" | "put_back";

function partOf({ findings: { probe } }: CheckedAddress, isLast: boolean): BatchPart {
  if (probe?.result === "rate_limited" || probe?.result === "stopped") return "put_back";
  return probe?.result === "greylisted" && !isLast ? "greylisted" : "answered";
}

/** The reason column of the file that lists the addresses without a result. */
const reasons = {
  plan_limit_reached: "Not validated: the plan's allowance was used up",
  insufficient_balance: "Not validated: the balance did not cover it",
  cancelled: "Not validated: the job was cancelled",
};

async function readInput(
  openInput: () => Promise<TempFile>,
  encoding: Encoding | undefined,
): Promise<AddressFile> {
  await using file = await openInput();
  // Awaited here, because the temporary copy is deleted at the end of this function.
  return await readAddressFile(file.path, encoding);
}

/** Writes the file of the results, and a second one of the addresses without a result, if any. */
async function writeFiles(
  db: Database,
  job: { readonly id: string; readonly workspaceId: WorkspaceId },
  day: string,
  { addresses }: AddressFile,
  rows: ReadonlyMap<number, string>,
  reason: keyof typeof reasons,
): Promise<JobOutcome> {
  await using result = new JobLineFile(db, job, `validations-${day}.csv`);
  await writeResult(
    result,
    addresses.flatMap((_, place) => rows.get(place) ?? []),
  );
  const rest = addresses.filter((_, place) => !rows.has(place));
  if (rest.length === 0) return { resultFile: result.name };
  await using errors = new JobLineFile(db, job, `not-validated-${day}.csv`);
  await writeRest(errors, rest, reasons[reason]);
  return { resultFile: result.name, errorsFile: errors.name };
}
