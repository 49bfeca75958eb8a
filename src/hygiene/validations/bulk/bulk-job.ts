/**
 * The background job that validates the addresses of a file, some hundred a batch. What a batch costs, its history and
 * the mark that it is done are one transaction, after its addresses were looked at: so a job that is killed goes on where
 * it was and takes nothing twice, and one that runs into the limit has answered exactly what was covered.
 *
 * Addresses that have no turn at their provider, or within the hourly cap, are put back for another round (rounds.ts), and
 * those whose server asks to come again later (greylisting) for the last. A job that takes long, or waits, lets others
 * have its place.
 */

import { createLimiter } from "#platform/concurrency.ts";
import type { AddressChecker } from "#hygiene/validations/address-checker.ts";
import type { Encoding } from "#platform/csv/encodings.ts";
import type { Database } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { type JobHandler, type JobOutcome, PutBack } from "#platform/jobs/attempt.ts";
import type { TempFile } from "#platform/jobs/files.ts";
import { JobLineFile } from "#platform/jobs/line-file.ts";
import { requireNotSuspended } from "#workspace/workspaces/suspension.ts";
import { type AddressFile, readAddressFile } from "./address-file.ts";
import { BatchTotals } from "./batch-totals.ts";
import { type CheckedAddress, checkBatch } from "./check-batch.ts";
import { HourlyCap } from "./hourly-cap.ts";
import { writeRest, writeResult } from "./result-file.ts";
import { firstRound, nextRound, type Round, type RoundPauses } from "./rounds.ts";
import { type DoneBatch, listBatchRows, listDoneBatches } from "./store.ts";
import { type WriteDeps, writeBatch } from "./write-batch.ts";

export const BULK_JOB = "validation_bulk";

/** What the job needs beside the file. */
export interface BulkInput {
  /** As its sender calls it. */
  readonly file_name: string;
  /** Where the sender named one. */
  readonly encoding?: Encoding | null;
}

export interface BulkDeps extends WriteDeps {
  readonly examiner: AddressChecker;
  readonly pace?: Partial<RoundPauses>;
}

/** Most servers that greylist want a minute; few want more than five. */
const PACE: RoundPauses = { greylistPauseMs: 90_000, turnPauseMs: 5_000 };
/** Batches of one job that are looked at together. */
const AT_ONCE = 8;
/** Connections that all jobs of a process take together; the others of the pool are for those who wait. */
const CONNECTIONS = 2;
/** Domains that all jobs of a process ask about together. */
const DOMAINS_AT_ONCE = 100;
/** Batches whose rows are read together. */
const ROWS_OF = 100;

export function bulkHandler(deps: BulkDeps): JobHandler<BulkInput> {
  const { db, clock, examiner } = deps;
  const pace = { ...PACE, ...deps.pace };
  const takeConnection = createLimiter(CONNECTIONS);
  const takeTurn = createLimiter(DOMAINS_AT_ONCE);

  return async ({ job, report, isCancelled, signal, hasToEnd, requireTurn, openInput }) => {
    const { id: jobId, workspaceId, input } = job;
    let hasWorked = false;
    const file = await readInput(openInput, job.input.encoding ?? undefined);
    const { addresses } = file;
    const tally = new BatchTotals();
    const note = (batches: readonly DoneBatch[]) => {
      tally.add(batches);
      report(tally.progress(file));
    };
    note(await listDoneBatches(db, workspaceId, jobId));
    const room = await HourlyCap.open(deps, workspaceId);

    /** Who cancels finds nothing begun, and nothing charged, after being told that it will stop. */
    const requireWanted = async () => {
      if (await hasToEnd()) signal.throwIfAborted();
    };

    const workOff = async (batch: number, places: readonly number[], isLast: boolean) => {
      await requireNotSuspended(db, workspaceId);
      await requireWanted();
      const { inside, outside } = room.take(addresses, places);
      const examined = await checkBatch({ clock, examiner, takeTurn }, addresses, inside, signal);
      const lots = Map.groupBy(examined, (one) => lotOf(one, isLast));
      const placesIn = (lot: Lot) => (lots.get(lot) ?? []).map(({ place }) => place);
      const later = { greylisted: placesIn("greylisted"), put_back: [...outside, ...placesIn("put_back")] };
      const key = { jobId, batch };
      const written = await takeConnection(async () => {
        await requireWanted();
        return writeBatch(deps, workspaceId, key, lots.get("answered") ?? [], later);
      });
      // Another run of the job, thought dead, has done it.
      note(written === undefined ? await listDoneBatches(db, workspaceId, jobId) : [written.done]);
      room.giveBack(inside.filter((place) => addresses[place]?.syntax.ok).length - (written?.taken ?? 0));
      if (written?.isCapped) room.close();
    };

    const requirePlace = () => {
      if (hasWorked) requireTurn();
      if (room.isFull) throw putBackUntil(room.end.getTime());
    };
    const putBackUntil = (moment: number) =>
      new PutBack(Math.max(0, Math.ceil((moment - clock.now().getTime()) / 1_000)));

    const workOffRound = async ({ batches, first, isLast }: Round) => {
      const left = batches.map((places, at) => [first + at, places] as const);
      const work = async () => {
        for (let next = left.shift(); next !== undefined; next = left.shift()) {
          if (signal.aborted || tally.stoppedBy !== null) return;
          if (tally.find(next[0]) !== undefined) continue;
          try {
            requirePlace();
            await workOff(...next, isLast);
          } catch (fault) {
            left.length = 0;
            throw fault;
          }
          hasWorked = true;
        }
      };
      const works = await Promise.allSettled(Array.from({ length: AT_ONCE }, work));
      const faults = works.flatMap((ended) => (ended.status === "rejected" ? [ended.reason] : []));
      if (faults.length > 0 && !signal.aborted) {
        throw faults.find((fault) => !(fault instanceof PutBack)) ?? faults[0];
      }
    };

    const doneOf = ({ batches, first }: Round) => batches.flatMap((_, at) => tally.find(first + at) ?? []);
    for (
      let round: Round | undefined = firstRound(addresses);
      round !== undefined;
      round = nextRound(addresses, round, doneOf(round), pace)
    ) {
      const isBegun = tally.find(round.first) !== undefined;
      if (!isBegun && round.notBefore > clock.now().getTime()) throw putBackUntil(round.notBefore);
      await workOffRound(round);
      if (signal.aborted || tally.stoppedBy !== null) break;
    }
    // A service that stops takes the job up again; a caller who cancels is given what was found.
    if (!isCancelled()) signal.throwIfAborted();

    note(await listDoneBatches(db, workspaceId, jobId));
    const rows = await collectRows(workspaceId, jobId);
    const day = clock.now().toISOString().slice(0, 10);
    const outcome = await leave(db, job, day, file, rows, tally.stoppedBy ?? "cancelled");
    const rest = addresses.length - rows.size;
    // What a limit left out is done with; what a cancelled job left out was never begun.
    const isPartial = isCancelled() && tally.stoppedBy === null && rest > 0;
    if (!isPartial)
      report({ ...tally.progress(file), processed: addresses.length + file.duplicates, failed: rest });
    return { ...outcome, isPartial, result: { file_name: input.file_name, ...tally.result(file, rest) } };
  };

  /** By place in the file. */
  async function collectRows(workspaceId: WorkspaceId, jobId: string): Promise<Map<number, string>> {
    const found = new Map<number, string>();
    for (let after = -1; ; ) {
      const batches = await listBatchRows(db, workspaceId, jobId, { after, most: ROWS_OF });
      for (const { places, rows } of batches) {
        for (const [at, place] of places.entries()) found.set(place, rows[at] ?? "");
      }
      const last = batches.at(-1);
      if (last === undefined || batches.length < ROWS_OF) return found;
      after = last.batch;
    }
  }
}

type Lot = "answered" | "greylisted" | "put_back";

function lotOf({ findings: { probe } }: CheckedAddress, isLast: boolean): Lot {
  if (probe?.result === "rate_limited" || probe?.result === "stopped") return "put_back";
  return probe?.result === "greylisted" && !isLast ? "greylisted" : "answered";
}

/** Why addresses were left out, in the words of the file that lists them. */
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
  // Awaited here: the copy goes with the end of this function.
  return await readAddressFile(file.path, encoding);
}

/** The files of the answers, and of the addresses that have none. */
async function leave(
  db: Database,
  job: { readonly id: string; readonly workspaceId: WorkspaceId },
  day: string,
  { addresses }: AddressFile,
  rows: ReadonlyMap<number, string>,
  why: keyof typeof reasons,
): Promise<JobOutcome> {
  await using result = new JobLineFile(db, job, `validations-${day}.csv`);
  await writeResult(
    result,
    addresses.flatMap((_, place) => rows.get(place) ?? []),
  );
  const rest = addresses.filter((_, place) => !rows.has(place));
  if (rest.length === 0) return { resultFile: result.name };
  await using errors = new JobLineFile(db, job, `not-validated-${day}.csv`);
  await writeRest(errors, rest, reasons[why]);
  return { resultFile: result.name, errorsFile: errors.name };
}
