/**
 * The places of one runner: each leases the turn that has waited longest, runs a job of it, and puts the turn back behind
 * the others. Jobs of kinds that cannot be interrupted never take all places, so that one stays for those that can.
 */

import { createLimiter } from "#platform/concurrency.ts";
import { type Database, listen } from "#platform/database/pool.ts";
import { newId } from "#platform/ids.ts";
import type { Log } from "#platform/log/log.ts";
import { attemptJob, type JobHandler, type Workplace } from "./attempt.ts";
import { delayJob } from "./store.ts";
import {
  endTurn,
  findNextJob,
  leaseTurn,
  releaseOtherTurns,
  TURNS_CHANNEL,
  type Turn,
} from "./turns-store.ts";

export interface PlacesOptions {
  readonly workplace: Workplace;
  readonly runnerId: string;
  /** By job type. */
  readonly handlers: Readonly<Record<string, JobHandler<never>>>;
  /** Types whose jobs run to their end, however many wait. */
  readonly uninterrupted: readonly string[];
  readonly places: number;
  /** How often turns that fall due later are looked for; new ones are announced. */
  readonly pollMs: number;
}

export class JobPlaces {
  readonly #options: PlacesOptions;
  readonly #database: Database;
  readonly #log: Log;
  readonly #stopping: AbortSignal;
  /** The ids of leases that are asked for or held, with the type of those that are held. */
  readonly #leases = new Map<string, string | undefined>();
  readonly #oneAtATime = createLimiter(1);
  /** Places that wait for work; each is called to look again. */
  readonly #idle = new Set<() => void>();
  #notices = 0;

  constructor(options: PlacesOptions) {
    this.#options = options;
    ({ database: this.#database, log: this.#log, stopping: this.#stopping } = options.workplace);
  }

  /** Runs jobs until the workplace is stopping and the last one has ended. */
  async run(): Promise<void> {
    if (Object.keys(this.#options.handlers).length === 0) return;
    const wakeAll = () => {
      this.#notices += 1;
      for (const wake of this.#idle) wake();
    };
    this.#stopping.addEventListener("abort", wakeAll, { once: true });
    const listening = listen(this.#database, TURNS_CHANNEL, this.#stopping, wakeAll);
    await Promise.all(Array.from({ length: this.#options.places }, () => this.#work()));
    await listening;
  }

  /** Gives back leases whose statement ended without an answer. To be called now and then. */
  releaseLost(): Promise<void> {
    return releaseOtherTurns(this.#database, this.#options.runnerId, [...this.#leases.keys()]);
  }

  async #work(): Promise<void> {
    while (!this.#stopping.aborted) {
      const seen = this.#notices;
      const hasRun = await this.#takeTurn().catch((err: unknown) => {
        this.#log.error({ err }, "a turn of background jobs failed");
        return false;
      });
      if (!hasRun) await this.#waitForWork(seen);
    }
  }

  /** Until something was announced since `seen` was read, or may have fallen due. */
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

  /** @returns whether there was one */
  async #takeTurn(): Promise<boolean> {
    const { runnerId } = this.#options;
    const leaseId = newId();
    // Known before it is asked for: what is not known here is given back.
    this.#leases.set(leaseId, undefined);
    try {
      // One place after the other, so that each knows what the others run.
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

  async #runJob(turn: Turn): Promise<void> {
    const handler = this.#options.handlers[turn.type];
    const id = await findNextJob(this.#database, turn);
    if (handler === undefined || id === undefined) return;
    const key = { workspace_id: turn.workspace_id, id };
    try {
      await attemptJob(this.#options.workplace, handler, key);
    } catch (fault) {
      // Its end could not be written down: it would be the next one again and again.
      await delayJob(this.#database, turn.workspace_id, id);
      throw fault;
    }
  }

  #wantedTypes(): string[] {
    const { handlers, uninterrupted, places } = this.#options;
    const running = [...this.#leases.values()].filter(
      (type) => type !== undefined && uninterrupted.includes(type),
    );
    const isFull = places > 1 && running.length >= places - 1;
    return Object.keys(handlers).filter((type) => !isFull || !uninterrupted.includes(type));
  }
}
