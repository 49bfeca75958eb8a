/**
 * The slots of one runner. Each slot leases the turn that has waited longest, runs one job of it, and puts the turn
 * behind the others. Jobs that cannot be interrupted never take all slots, so that one is left for other jobs.
 */

import { createLimiter } from "#platform/concurrency.ts";
import { type Database, listen } from "#platform/database/pool.ts";
import { newId } from "#platform/ids.ts";
import type { Log } from "#platform/log/log.ts";
import { attemptJob, type JobHandler, type Workplace } from "./attempt.ts";
import { delayJob } from "./job-record-store.ts";
import {
  endTurn,
  findNextJob,
  type JobTurn,
  leaseTurn,
  releaseOtherTurns,
  TURNS_CHANNEL,
} from "./turns-store.ts";

export interface SlotsOptions {
  readonly workplace: Workplace;
  readonly runnerId: string;
  /** By job type. */
  readonly handlers: Readonly<Record<string, JobHandler<never>>>;
  /** Types whose jobs do not yield to others. */
  readonly uninterrupted: readonly string[];
  readonly slots: number;
  /** How often turns are polled that become due later; new ones are announced by NOTIFY. */
  readonly pollMs: number;
}

export class JobSlots {
  readonly #options: SlotsOptions;
  readonly #database: Database;
  readonly #log: Log;
  readonly #stopping: AbortSignal;
  /** Ids of leases that are requested or held; the value is the job type of a held one. */
  readonly #leases = new Map<string, string | undefined>();
  readonly #oneAtATime = createLimiter(1);
  /** Callbacks of slots that wait for work. */
  readonly #idle = new Set<() => void>();
  #notices = 0;

  constructor(options: SlotsOptions) {
    this.#options = options;
    ({ database: this.#database, log: this.#log, stopping: this.#stopping } = options.workplace);
  }

  /** Runs jobs until the runner stops and the last job has ended. */
  async run(): Promise<void> {
    if (Object.keys(this.#options.handlers).length === 0) return;
    const wakeAll = () => {
      this.#notices += 1;
      for (const wake of this.#idle) wake();
    };
    this.#stopping.addEventListener("abort", wakeAll, { once: true });
    const listening = listen(this.#database, TURNS_CHANNEL, this.#stopping, wakeAll);
    await Promise.all(Array.from({ length: this.#options.slots }, () => this.#work()));
    await listening;
  }

  /** Releases leases whose statement ended without an answer. Call it regularly. */
  releaseLost(): Promise<void> {
    return releaseOtherTurns(this.#database, this.#options.runnerId, [...this.#leases.keys()]);
  }

  async #work(): Promise<void> {
    while (!this.#stopping.aborted) {
      const seen = this.#notices;
      const hasRun = await this.#takeTurn().catch((err: unknown) => {
        this.#log.error({ err }, "background job could not be run");
        return false;
      });
      if (!hasRun) await this.#waitForWork(seen);
    }
  }

  /** Waits until something was announced after `seen` was read, or for the polling interval. */
  #waitForWork(seen: number): Promise<void> {
    if (this.#notices !== seen) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.#idle.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, this.#options.pollMs);
      this.#idle.add(wake);
    });
  }

  /** Runs a job of the next turn. @returns whether there was a turn */
  async #takeTurn(): Promise<boolean> {
    const { runnerId } = this.#options;
    const leaseId = newId();
    // The id is recorded before the lease is requested, because releaseLost releases all leases that are not recorded
    // here.
    this.#leases.set(leaseId, undefined);
    try {
      // One slot after the other, so that each knows what the others run.
      const turn = await this.#oneAtATime(async () => {
        const leased = await leaseTurn(this.#database, { runnerId, leaseId }, this.#wantedTypes());
        this.#leases.set(leaseId, leased?.type);
        return leased;
      });
      if (turn === undefined) return false;
      try {
        await this.#runJob(turn);
      } finally {
        await this.#database.transaction((tx) => endTurn(tx, turn, leaseId));
      }
      return true;
    } finally {
      this.#leases.delete(leaseId);
    }
  }

  async #runJob(turn: JobTurn): Promise<void> {
    const handler = this.#options.handlers[turn.type];
    const id = await findNextJob(this.#database, turn);
    if (handler === undefined || id === undefined) return;
    const key = { workspace_id: turn.workspace_id, id };
    try {
      await attemptJob(this.#options.workplace, handler, key);
    } catch (fault) {
      // The end of the run could not be written. Without a delay, this job would be the next one again and again.
      await delayJob(this.#database, turn.workspace_id, id);
      throw fault;
    }
  }

  #wantedTypes(): string[] {
    const { handlers, uninterrupted, slots } = this.#options;
    const running = [...this.#leases.values()].filter(
      (type) => type !== undefined && uninterrupted.includes(type),
    );
    const isFull = slots > 1 && running.length >= slots - 1;
    return Object.keys(handlers).filter((type) => !isFull || !uninterrupted.includes(type));
  }
}
