/**
 * The background job of a bulk action: chooses the people once, then changes them batch by batch. A batch is settled in
 * its own transaction, so that a job that was interrupted continues behind it, and does nothing twice.
 */
import { csvLine } from "#platform/csv/write.ts";
import type { Database, Transaction } from "#platform/database/pool.ts";
import type { JobHandler, JobOutcome } from "#platform/jobs/attempt.ts";
import { JobLineFile } from "#platform/jobs/line-file.ts";
import { requireNotSuspended } from "#workspace/workspaces/hold-suspended-jobs.ts";
import { type ApplyDeps, applyAction } from "./apply-action.ts";
import type { BulkActionInput } from "./bulk-action.ts";
import {
  type BatchCounts,
  type BulkTotals,
  chooseOnce,
  type JobKey,
  listRefused,
  lockBatch,
  settleBatch,
  sumBatches,
} from "./store.ts";

export const BULK_ACTION_JOB = "subscriber_bulk_action";

/** Batches whose refused people are read at a time. */
const READ_AT_ONCE = 50;

/** Ends the transaction of a dry run, so that nothing of it stays. */
class CountedOnly extends Error {
  readonly counts: BatchCounts;

  constructor(counts: BatchCounts) {
    super("a dry run");
    this.counts = counts;
  }
}

export function bulkActionHandler(deps: ApplyDeps & { readonly db: Database }): JobHandler<BulkActionInput> {
  const { db, clock } = deps;
  return async ({ job, report, isCancelled, signal, hasToEnd, requireTurn }) => {
    const { id: jobId, workspaceId, input } = job;
    const key = { workspaceId, jobId };
    const apply = async (tx: Transaction, batch: number): Promise<BatchCounts | undefined> => {
      const ids = await lockBatch(tx, key, batch);
      if (ids === undefined) return undefined;
      const part = { workspaceId, ids, startedBy: input.started_by, now: clock.now() };
      return applyAction(tx, deps, part, input.action);
    };
    const run = async (batch: number) => {
      if (!input.dry_run) {
        await db.transaction(
          async (tx) => {
            const counts = await apply(tx, batch);
            if (counts !== undefined) await settleBatch(tx, key, batch, counts);
          },
          { mayRepeat: true },
        );
        return;
      }
      const counted = await db
        .transaction(
          async (tx) => {
            const counts = await apply(tx, batch);
            if (counts !== undefined) throw new CountedOnly(counts);
          },
          { mayRepeat: true },
        )
        .catch((fault: unknown) => {
          if (fault instanceof CountedOnly) return fault.counts;
          throw fault;
        });
      if (counted !== undefined) await settleBatch(db, key, batch, counted);
    };

    await db.transaction((tx) => chooseOnce(tx, key, input));
    let totals = await sumBatches(db, key);
    report(progressOf(totals));
    while (totals.next !== null && !(await hasToEnd())) {
      await requireNotSuspended(db, workspaceId);
      await run(totals.next);
      totals = await sumBatches(db, key);
      report(progressOf(totals));
      if (totals.next !== null) requireTurn();
    }
    const isWhole = totals.next === null;
    // When the service stops, the job continues later; when a caller cancels it, the result says how far it came.
    if (!isWhole && !isCancelled()) signal.throwIfAborted();
    return { ...(await outcomeOf(db, key, totals, input)), isPartial: !isWhole };
  };
}

function progressOf({ total, changed, unchanged, refused }: BulkTotals) {
  return {
    total,
    processed: changed + unchanged + refused,
    succeeded: changed,
    failed: refused,
    skipped: unchanged,
    counts: { changed, unchanged, refused },
  };
}

async function outcomeOf(
  db: Database,
  key: JobKey,
  { total, changed, unchanged, refused }: BulkTotals,
  { action, dry_run, started_by }: BulkActionInput,
): Promise<JobOutcome> {
  const result = { action: action.type, dry_run, started_by, matched: total, changed, unchanged, refused };
  if (refused === 0) return { result };
  await using file = new JobLineFile(db, { id: key.jobId, workspaceId: key.workspaceId }, "errors.csv");
  file.add(csvLine(["Id", "Reason"]));
  for (let after = -1; ; ) {
    const batches = await listRefused(db, key, after, READ_AT_ONCE);
    for (const each of batches) {
      for (const { id, reason } of each.refused) file.add(csvLine([id, reason]));
      if (file.isFull) await file.flush();
    }
    const last = batches.at(-1);
    if (last === undefined) break;
    after = last.batch;
  }
  await file.close();
  return { result, errorsFile: file.name };
}
