/**
 * Idempotency-Keys that could not be settled because the database gave no answer: answered, or given back, as soon as it
 * answers again. Until then the key blocks itself, so nothing is done twice.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Queryable } from "#platform/database/pool.ts";
import {
  RESERVED_SECONDS,
  type Reservation,
  releaseAll,
  type StoredAnswer,
  updateAnswers,
} from "./idempotency.ts";

const RETRY_MS = 500;
/** More than this many are left to end by themselves. */
const MOST_KEPT = 10_000;

interface Unsettled {
  readonly held: Reservation;
  /** Undefined: the key is given back. */
  readonly answer: StoredAnswer | undefined;
  /** When the reservation ends by itself, on the clock of performance.now(). */
  readonly until: number;
}

export class UnsettledKeys {
  readonly #db: Queryable;
  readonly #keys = new Map<string, Unsettled>();
  #isTrying = false;

  constructor(db: Queryable) {
    this.#db = db;
  }

  /** Settles it later; what it was reserved for is over. */
  add(held: Reservation, answer?: StoredAnswer): void {
    if (this.#keys.size >= MOST_KEPT) return;
    this.#keys.set(held.token, { held, answer, until: performance.now() + RESERVED_SECONDS * 1_000 });
    if (!this.#isTrying) void this.#try();
  }

  async #try(): Promise<void> {
    this.#isTrying = true;
    while (this.#keys.size > 0) {
      await delay(RETRY_MS, undefined, { ref: false });
      try {
        await this.#settle();
      } catch {
        // The database is still silent.
      }
      for (const [token, { until }] of this.#keys) if (until <= performance.now()) this.#keys.delete(token);
    }
    this.#isTrying = false;
  }

  /** What is not found is asked for again: a reservation that is still on its way may yet arrive. */
  async #settle(): Promise<void> {
    const keys = [...this.#keys.values()];
    const answers = keys.flatMap(({ held, answer }) => (answer ? { held, answer } : []));
    const given = keys.flatMap(({ held, answer }) => (answer ? [] : held));
    const done = [
      ...(answers.length > 0 ? await updateAnswers(this.#db, answers) : []),
      ...(given.length > 0 ? await releaseAll(this.#db, given) : []),
    ];
    for (const token of done) this.#keys.delete(token);
  }
}
