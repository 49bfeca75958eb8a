/**
 * Recovers dead delivery workers of this machine: replays their journals, then releases their leases.
 *
 * A worker lives as long as the database session that holds its lock (queue/worker-lock.ts); a kill -9 closes that session
 * at once. A stalled worker (a frozen process) lives, but its journal has not been written to the database. It keeps its
 * leases until they lapse; its journal is replayed, so that its messages are not sent again.
 */

import type { DeliveryResult } from "#delivery/queue/decide-result.ts";
import { holdLeasesOf, releaseLeasesOf } from "#delivery/queue/settle-leases-store.ts";
import { tryRecoveryLock, tryWorkerLock } from "#delivery/queue/worker-lock.ts";
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
/** The leases of a dead worker are extended by this, until its journal is replayed or the replay is tried again. */
const HELD_SECONDS = 300;
/** After this many failed replays, one per heartbeat, the leases are no longer extended. */
const MOST_TRIES = 15;
/** A running worker writes its journal to the database within a second while the database is available. */
const SILENT_MS = 5_000;
/** Shorter than the time between two heartbeats. A lock lost by the database is held again sooner. */
const UNLOCKED_MS = 15_000;
/** A process frozen in a transaction locks the rows it settles until PostgreSQL ends the transaction, which takes longer
 * than one statement waits. */
const SILENT_TRIES = 3;

type State = "alive" | "unlocked" | "dead";

export interface RecoveryOptions {
  readonly db: Database;
  readonly journalFolder: string;
  /** The worker that recovers the others. */
  readonly workerId: string;
  readonly log: Log;
  readonly onMoved: OnMoved;
}

export class Recovery {
  readonly #options: RecoveryOptions;
  /** Workers whose lock was missing at the last check, and since when. */
  #unlocked = new Map<string, number>();
  /** Failed replays, by worker id. */
  readonly #tries = new Map<string, number>();
  /** Stalled workers whose journals are being replayed. */
  readonly #replaying = new Set<string>();
  #running: Promise<void> | null = null;

  constructor(options: RecoveryOptions) {
    this.#options = options;
  }

  /**
   * Recovers the workers that are dead now. To be called at the start, and then before the leases of a worker that has died
   * since can lapse. A call made while another is running returns that call's promise.
   *
   * After a database restart all worker locks are briefly missing. If a process with the recorded pid is alive, its lock
   * must be missing at two consecutive checks, UNLOCKED_MS apart, before the worker counts as dead.
   */
  run(): Promise<void> {
    this.#running ??= this.#recoverAll().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #recoverAll(): Promise<void> {
    const { journalFolder, workerId } = this.#options;
    const before = this.#unlocked;
    this.#unlocked = new Map();
    const owners: { readonly owner: JournalOwner; readonly state: State }[] = [];
    for (const owner of listJournals(journalFolder)) {
      if (owner.workerId === workerId) continue;
      const state = await this.#stateOf(owner, before.get(owner.workerId));
      // Leases are extended before any replay, because they would lapse while a long journal is replayed.
      if (state === "dead") await this.#extendLeases(owner);
      owners.push({ owner, state });
    }
    for (const { owner, state } of owners) {
      if (state === "dead") await this.#recover(owner);
      // Another process may have this pid by now. The journal is replayed before anything is leased.
      else if (state === "unlocked") await this.#replaySilent(owner);
      // Not awaited: it may wait for row locks, and dead workers must not wait for it.
      else void this.#replaySilent(owner);
    }
  }

  async #stateOf({ workerId, pid }: JournalOwner, since: number | undefined): Promise<State> {
    if (!(await tryWorkerLock(this.#options.db, workerId))) return "alive";
    const missingSince = since ?? performance.now();
    if (!isAlive(pid) || performance.now() - missingSince >= UNLOCKED_MS) return "dead";
    this.#unlocked.set(workerId, missingSince);
    return "unlocked";
  }

  /** A worker that leased these messages would send again what the journal already knows. */
  async #extendLeases({ workerId }: JournalOwner): Promise<void> {
    const tried = this.#tries.get(workerId) ?? 0;
    if (tried < MOST_TRIES) await holdLeasesOf(this.#options.db, workerId, HELD_SECONDS);
    this.#tries.set(workerId, tried + 1);
  }

  /** Never rejects: a journal that cannot be replayed must not stop the others, nor delivery. */
  async #recover(owner: JournalOwner): Promise<void> {
    const { db, journalFolder, log } = this.#options;
    const { workerId } = owner;
    try {
      await db.transaction(async (tx) => {
        // False where the worker holds its lock again, or where another worker recovers it or has done so.
        if (!(await tryRecoveryLock(tx, workerId)) || !hasJournal(journalFolder, owner)) return;
        const replayed = await this.#replay(owner);
        // In this transaction, so that it fails where the lock was lost: the journal may be a living worker's again.
        const released = await releaseLeasesOf(tx, workerId);
        removeJournal(journalFolder, owner);
        log.info({ worker: workerId, replayed, released }, "dead worker recovered: its journal was replayed");
      });
      this.#tries.delete(workerId);
    } catch (err) {
      log.error({ err, worker: workerId }, "dead worker could not be recovered, trying again");
    }
  }

  async #replaySilent(owner: JournalOwner): Promise<void> {
    const { journalFolder, log } = this.#options;
    const { workerId } = owner;
    if (this.#replaying.has(workerId) || journalSilence(journalFolder, owner) < SILENT_MS) return;
    this.#replaying.add(workerId);
    for (let tries = 1; tries <= SILENT_TRIES; tries++) {
      try {
        const replayed = await this.#replay(owner);
        log.warn({ worker: workerId, replayed }, "stalled worker: its journal was replayed");
        break;
      } catch (err) {
        log.warn({ err, worker: workerId }, "stalled worker: its journal could not be replayed");
      }
    }
    this.#replaying.delete(workerId);
  }

  /** Writes the results of a journal to the database. @returns how many */
  async #replay(owner: JournalOwner): Promise<number> {
    const { db, journalFolder, onMoved, log } = this.#options;
    let replayed = 0;
    let batch: DeliveryResult[] = [];
    const writeBatch = async () => {
      await writeResults(db, batch, onMoved, log);
      replayed += batch.length;
      batch = [];
    };
    for await (const result of readJournal(journalFolder, owner)) {
      if (batch.push(result) === BATCH) await writeBatch();
    }
    await writeBatch();
    return replayed;
  }
}
