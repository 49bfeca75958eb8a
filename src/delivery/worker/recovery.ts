/**
 * After a crash: the journals of dead workers on this machine say what had been learned, and what they held is free.
 * A worker lives as long as the session that holds its lock; a kill -9 closes that session within the kernel. One that
 * lives and does not move (a frozen process) keeps what it holds until its leases lapse, but what it had learned is
 * settled in its place, so that nobody sends it again.
 */

import type { DeliveryResult } from "#delivery/queue/delivery-result.ts";
import { holdLeasesOf, releaseLeasesOf } from "#delivery/queue/queue-result-store.ts";
import { isLockFree, takeOver } from "#delivery/queue/worker-lock.ts";
import type { OnMoved } from "#messages/message/outcome.ts";
import type { Database } from "#platform/database/pool.ts";
import type { Log } from "#platform/log/log.ts";
import { isAlive } from "#platform/process/alive.ts";
import {
  hasJournal,
  type JournalOwner,
  journalSilence,
  listJournals,
  readJournal,
  removeJournal,
} from "./journal.ts";
import { writeResults } from "./result-writer.ts";

const BATCH = 500;
/** So long what a dead worker held waits for its journal to be replayed, or for that to be tried again. */
const HELD_SECONDS = 300;
/** A journal that could not be replayed so often, with every heartbeat, is not waited for. */
const MOST_TRIES = 15;
/** A worker that moves settles what it journals within a second, as long as the database is there. */
const SILENT_MS = 5_000;
/** Between two heartbeats. A mark that the database lost comes back sooner once the database is there. */
const UNMARKED_MS = 15_000;
/** A process frozen in a transaction holds the rows it settles until PostgreSQL ends that, longer than a statement waits. */
const SILENT_TRIES = 3;

type State = "alive" | "unmarked" | "dead";

/**
 * A function that settles what dead workers of this machine had learned and gives back what they held; to be called at
 * the start and then often enough that no lease of theirs can lapse before. It does nothing to living ones: the marks
 * of all of them are gone for a moment when the database comes back from a fall, so while a process of that number
 * lives, its mark must be missing twice in a row, for longer than that. Who calls it while it is still at work is told
 * of that one's end.
 */
export function createRecovery(
  db: Database,
  own: { readonly journalFolder: string; readonly workerId: string },
  log: Log,
  onMoved: OnMoved,
): () => Promise<void> {
  const { journalFolder } = own;
  /** Since when the marks are missing that were at the last look. */
  let unmarked = new Map<string, number>();
  /** How often the journals were tried that could not be replayed yet. */
  const tries = new Map<string, number>();

  const replay = async (owner: JournalOwner): Promise<number> => {
    let replayed = 0;
    let batch: DeliveryResult[] = [];
    const settleBatch = async () => {
      await writeResults(db, batch, onMoved, log);
      replayed += batch.length;
      batch = [];
    };
    for await (const conclusion of readJournal(journalFolder, owner)) {
      if (batch.push(conclusion) === BATCH) await settleBatch();
    }
    await settleBatch();
    return replayed;
  };

  const stateOf = async ({ workerId, pid }: JournalOwner, since: number | undefined): Promise<State> => {
    if (!(await isLockFree(db, workerId))) return "alive";
    const missingSince = since ?? performance.now();
    if (!isAlive(pid) || performance.now() - missingSince >= UNMARKED_MS) return "dead";
    unmarked.set(workerId, missingSince);
    return "unmarked";
  };

  /** Whoever found it due would send again what the journal knows of. */
  const hold = async ({ workerId }: JournalOwner): Promise<void> => {
    const tried = tries.get(workerId) ?? 0;
    if (tried < MOST_TRIES) await holdLeasesOf(db, workerId, HELD_SECONDS);
    tries.set(workerId, tried + 1);
  };

  /** Where that fails although the database is there, other journals, and delivery, do not wait for this one. */
  const settleDead = async (owner: JournalOwner): Promise<void> => {
    const { workerId } = owner;
    try {
      await db.transaction(async (tx) => {
        // Otherwise it has its mark again, or another worker recovers it, or has while we came to its lock.
        if (!(await takeOver(tx, workerId)) || !hasJournal(journalFolder, owner)) return;
        const replayed = await replay(owner);
        // Here, so that it fails where the lock was lost meanwhile: the journal may be a living worker's again.
        const released = await releaseLeasesOf(tx, workerId);
        removeJournal(journalFolder, owner);
        log.info({ worker: workerId, replayed, released }, "recovered a dead delivery worker");
      });
      tries.delete(workerId);
    } catch (err) {
      log.error({ err, worker: workerId }, "a dead delivery worker could not be recovered, trying again");
    }
  };

  const replaying = new Set<string>();
  const replaySilent = async (owner: JournalOwner): Promise<void> => {
    const { workerId } = owner;
    if (replaying.has(workerId) || journalSilence(journalFolder, owner) < SILENT_MS) return;
    replaying.add(workerId);
    for (let tries = 1; tries <= SILENT_TRIES; tries++) {
      try {
        const replayed = await replay(owner);
        log.warn(
          { worker: workerId, replayed },
          "a delivery worker does not move; what it had learned is settled",
        );
        break;
      } catch (err) {
        log.warn({ err, worker: workerId }, "what a silent delivery worker had learned could not be settled");
      }
    }
    replaying.delete(workerId);
  };

  const recoverAll = async () => {
    const before = unmarked;
    unmarked = new Map();
    const owners: { readonly owner: JournalOwner; readonly state: State }[] = [];
    for (const owner of listJournals(journalFolder)) {
      if (owner.workerId === own.workerId) continue;
      const state = await stateOf(owner, before.get(owner.workerId));
      // All of them first: leases would lapse behind a journal whose replay takes long.
      if (state === "dead") await hold(owner);
      owners.push({ owner, state });
    }
    for (const { owner, state } of owners) {
      if (state === "dead") await settleDead(owner);
      // Its number may be another process's by now; what it had learned is settled before anything is leased.
      else if (state === "unmarked") await replaySilent(owner);
      // Not awaited: it may wait for locks, and what dead workers learned must not wait with it.
      else void replaySilent(owner);
    }
  };

  let recovering: Promise<void> | null = null;
  return () => {
    recovering ??= recoverAll().finally(() => {
      recovering = null;
    });
    return recovering;
  };
}
