/**
 * After a crash: the journals of dead workers on this machine say what had been learned, and what they held is free.
 * A worker lives as long as the session that holds its lock; a kill -9 closes that session within the kernel. One that
 * lives and does not move (a frozen process) keeps what it holds until its leases lapse, but what it had learned is
 * settled in its place, so that nobody sends it again.
 */
import { setTimeout as delay } from "node:timers/promises";
import sql from "sql-template-tag";
import type { OnMoved } from "../../messages/outcome.ts";
import { isAlive } from "../../platform/alive.ts";
import { lockKey } from "../../platform/database/advisory-lock.ts";
import type { Database, Queryable } from "../../platform/database/pool.ts";
import type { Log } from "../../platform/log.ts";
import type { Conclusion } from "./conclusion.ts";
import {
  hasJournal,
  type JournalOwner,
  journalSilence,
  listJournals,
  readJournal,
  removeJournal,
} from "./journal.ts";
import { holdLeasesOf, releaseLeasesOf } from "./settlement-store.ts";
import { settleAll } from "./settler.ts";

const BATCH = 500;
const RETRY_MS = 1_000;
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

type Session = Awaited<ReturnType<Database["openSession"]>>;

function lockOf(workerId: string): number {
  return lockKey(`delivery worker ${workerId}`);
}

/** That a worker lives. */
export interface Mark {
  /** Not while the database is away, and a moment longer: then others may take the worker for dead. */
  readonly isThere: boolean;
  end(): Promise<void>;
}

/**
 * Marks a worker as alive, again and again when the database was away; resolves once the mark is there for the first
 * time.
 *
 * @param onRenewed told when it was missing, right before it counts again: what the worker holds may have been given to
 * others meanwhile, and its journal may have been removed
 */
export async function markAlive(db: Database, workerId: string, onRenewed = () => {}): Promise<Mark> {
  let isOver = false;
  let isThere = true;
  const mark = async (): Promise<Session> => {
    const session = await db.openSession();
    await session.query(sql`select pg_advisory_lock(${lockOf(workerId)})`);
    session.once("end", () => {
      isThere = false;
      if (!isOver) current = markAgain();
    });
    return session;
  };
  const markAgain = async (): Promise<Session | undefined> => {
    while (!isOver) {
      try {
        const session = await mark();
        onRenewed();
        isThere = true;
        return session;
      } catch {
        await delay(RETRY_MS);
      }
    }
    return undefined;
  };
  let current: Promise<Session | undefined> = Promise.resolve(await mark());
  return {
    get isThere() {
      return isThere;
    },
    async end() {
      isOver = true;
      await (await current)?.end();
    },
  };
}

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
    let batch: Conclusion[] = [];
    const settleBatch = async () => {
      await settleAll(db, batch, onMoved, log);
      replayed += batch.length;
      batch = [];
    };
    for await (const conclusion of readJournal(journalFolder, owner)) {
      if (batch.push(conclusion) === BATCH) await settleBatch();
    }
    await settleBatch();
    return replayed;
  };

  /** Where that fails although the database is there, other journals, and delivery, do not wait for this one. */
  const settleDead = async (tx: Queryable, owner: JournalOwner): Promise<void> => {
    const { workerId } = owner;
    const tried = tries.get(workerId) ?? 0;
    // Whoever found it due would send again what the journal knows of.
    if (tried < MOST_TRIES) await holdLeasesOf(db, workerId, HELD_SECONDS);
    tries.set(workerId, tried + 1);
    try {
      const replayed = await replay(owner);
      // Here, so that it fails where the lock was lost meanwhile: the journal may be a living worker's again.
      const released = await releaseLeasesOf(tx, workerId);
      removeJournal(journalFolder, owner);
      tries.delete(workerId);
      log.info({ worker: workerId, replayed, released }, "recovered a dead delivery worker");
    } catch (err) {
      log.error(
        { err, worker: workerId, tried },
        "a dead delivery worker could not be recovered, trying again",
      );
    }
  };

  const recover = async (owner: JournalOwner): Promise<"alive" | "unmarked" | "dead"> =>
    db.transaction(async (tx) => {
      const { workerId, pid } = owner;
      const mark = await tx.row<{ is_free: boolean }>(
        sql`select pg_try_advisory_xact_lock(${lockOf(workerId)}) as is_free`,
      );
      if (!mark?.is_free) return "alive";
      // Another worker recovered it while we came to its lock.
      if (!hasJournal(journalFolder, owner)) return "dead";
      const missingSince = unmarked.get(workerId) ?? performance.now();
      if (isAlive(pid) && performance.now() - missingSince < UNMARKED_MS) return "unmarked";
      await settleDead(tx, owner);
      return "dead";
    });

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
    const missing = new Map<string, number>();
    for (const owner of listJournals(journalFolder)) {
      const { workerId } = owner;
      if (workerId === own.workerId) continue;
      const state = await recover(owner);
      if (state === "unmarked") missing.set(workerId, unmarked.get(workerId) ?? performance.now());
      // Not awaited: it may wait for locks, and what dead workers learned must not wait with it.
      if (state === "alive") void replaySilent(owner);
    }
    unmarked = missing;
  };

  let recovering: Promise<void> | null = null;
  return () => {
    recovering ??= recoverAll().finally(() => {
      recovering = null;
    });
    return recovering;
  };
}
