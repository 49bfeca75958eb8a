/**
 * Writes the people of an import plan, one batch a transaction. The record of a batch commits with it, so that an
 * interrupted import continues with the others and writes each batch once. No batch is started while the workspace is
 * suspended.
 */
import { type FileHandle, open } from "node:fs/promises";
import { lockMailingList } from "#audience/mailing-lists/store.ts";
import { insertMembers } from "#audience/subscribers/memberships/add-members.ts";
import { stage, staged, unstage } from "#audience/subscribers/memberships/staging-table.ts";
import type { Limiter } from "#platform/concurrency.ts";
import type { Database, Transaction } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { PutBack } from "#platform/jobs/attempt.ts";
import { requireRows, rowLimit, type StorageDeps } from "#workspace/billing/storage-limit.ts";
import { requireNotSuspended } from "#workspace/workspaces/hold-suspended-jobs.ts";
import type { ImportPlan } from "./import-plan.ts";
import { BATCH_ROOM_BYTES, readBatch } from "./people-file-reader.ts";
import {
  claimImportBatch,
  type ImportCounts,
  listDurableBatches,
  listWrittenBatches,
  updateImportBatch,
} from "./written-batches-store.ts";

export interface WriteTask extends StorageDeps {
  readonly db: Database;
  readonly workspaceId: WorkspaceId;
  readonly mailingListId: string;
  readonly jobId: string;
  /** The path of the plan's file of people on the local disk. */
  readonly path: string;
  readonly updateExisting: boolean;
  readonly resubscribe: boolean;
  /** Whether autoresponders start for the people who join, when their batch is written. */
  readonly triggerAutoresponders: boolean;
  /** Limits the connections of all imports of this process. */
  readonly takeTurn: Limiter;
  /** Stops between two batches. */
  readonly signal: AbortSignal;
  /** Asked before each batch: after a cancellation no further batch is written. */
  readonly hasToEnd: () => Promise<boolean>;
  /** Called after each batch. @throws PutBack when other jobs wait for this slot */
  readonly requireTurn: () => void;
  /** Called with the sum after each batch. */
  readonly onWritten: (sum: ImportCounts) => void;
}

/** Batches of one import written concurrently. */
const AT_ONCE = 2;

/**
 * @returns the counts of the batches that are durably written: of all batches, or of those done when the signal stopped
 * it
 * @throws PutBack while the workspace is suspended, or when other jobs wait for the slot; ApiError PLAN_LIMIT_REACHED
 * when the plan allows no more people; an Error when a crash of the database lost a batch
 */
export async function writePeople(
  writing: WriteTask,
  plan: ImportPlan,
): Promise<{ readonly written: ImportCounts; readonly isWhole: boolean }> {
  const { db, workspaceId, jobId, signal, onWritten } = writing;
  const done = await listWrittenBatches(db, workspaceId, jobId);
  onWritten(sumOf(done));
  const isDone = new Set(done.map(({ batch }) => batch));
  const left = [...plan.batches.keys()].filter((at) => !isDone.has(at));
  if (left.length > 0) await writeLeft(writing, plan, left, sumOf(done));
  // The batches are counted again, because another run of the job, which was presumed dead, may have written some.
  const settled = await listDurableBatches(db, workspaceId, jobId);
  const isWhole = settled.length === plan.batches.length;
  if (!isWhole && !signal.aborted) {
    throw new Error("a crash of the database lost batches of an import: they have to be written again");
  }
  const written = sumOf(settled);
  onWritten(written);
  return { written, isWhole };
}

/** Writes the batches with these numbers. @param before the counts of the other batches */
async function writeLeft(
  writing: WriteTask,
  plan: ImportPlan,
  left: number[],
  before: ImportCounts,
): Promise<void> {
  const { db, workspaceId, path, signal, hasToEnd, requireTurn, onWritten, takeTurn } = writing;
  await using people = await open(path);
  let sum = before;
  const work = async () => {
    const room = Buffer.allocUnsafeSlow(BATCH_ROOM_BYTES);
    for (let at = left.shift(); at !== undefined && !signal.aborted; at = left.shift()) {
      const batch = at;
      await requireNotSuspended(db, workspaceId);
      const written = await takeTurn(async () =>
        (await hasToEnd()) ? nothing : writeBatch(writing, plan, batch, { people, room }),
      );
      // The counts are added after the write, because another batch may have been added meanwhile.
      sum = sumOf([sum, written]);
      onWritten(sum);
      if (left.length > 0) requireTurn();
    }
  };
  const works = await Promise.allSettled(Array.from({ length: Math.min(AT_ONCE, left.length) }, work));
  const faults = works.flatMap((ended) => (ended.status === "rejected" ? [ended.reason] : []));
  if (faults.length > 0 && !signal.aborted) {
    throw faults.find((fault) => !(fault instanceof PutBack)) ?? faults[0];
  }
}

async function writeBatch(
  {
    db,
    workspaceId,
    mailingListId,
    jobId,
    updateExisting,
    resubscribe,
    triggerAutoresponders,
    clock,
    plans,
  }: WriteTask,
  plan: ImportPlan,
  at: number,
  { people, room }: { readonly people: FileHandle; readonly room: Buffer },
): Promise<ImportCounts> {
  const key = { jobId, batch: at };
  const batch = plan.batches[at];
  if (batch === undefined) throw new Error("a batch that is not in the plan");
  const write = async (tx: Transaction) => {
    if (!(await claimImportBatch(tx, workspaceId, key))) return nothing;
    const limit = await rowLimit({ plans, clock }, tx, workspaceId, "subscribers");
    await lockMailingList(tx, workspaceId, mailingListId);
    await stage(tx, readBatch(people, batch, room));
    if (batch.replaced.length > 0) await unstage(tx, batch.replaced);
    const { given, created, joined, changed } = await insertMembers(tx, workspaceId, {
      mailingListId,
      people: staged,
      now: triggerAutoresponders ? clock.now() : new Date(plan.now),
      updateExisting,
      resubscribe,
      isQuiet: !triggerAutoresponders,
      defaults: plan.defaults,
      likelyNew: true,
    });
    await requireRows(tx, workspaceId, limit, created);
    const written = { created: joined, updated: changed, unchanged: given - joined - changed };
    await updateImportBatch(tx, workspaceId, key, written);
    return written;
  };
  return db.transaction(write, { mayRepeat: true });
}

const nothing: ImportCounts = { created: 0, updated: 0, unchanged: 0 };

function sumOf(parts: readonly ImportCounts[]): ImportCounts {
  const total = (name: keyof ImportCounts) => parts.reduce((sum, part) => sum + part[name], 0);
  return { created: total("created"), updated: total("updated"), unchanged: total("unchanged") };
}
