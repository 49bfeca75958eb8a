/**
 * Idempotency keys whose response could not be stored, or that could not be released, because the database did not answer.
 * This is repeated until the database answers. Until then the key stays reserved, so nothing is done twice.
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
/** Further keys are not kept; their reservations end after RESERVED_SECONDS. */
const MOST_KEPT = 10_000;

interface Unsettled {
  readonly held: Reservation;
  /** Undefined: the key is to be released. */
  readonly answer: StoredAnswer | undefined;
  /** When the reservation ends, by performance.now(). */
  readonly until: number;
}

export class UnsettledKeys {
  readonly #db: Queryable;
  readonly #keys = new Map<string, Unsettled>();
  #isTrying = false;

  constructor(db: Queryable) {
    this.#db = db;
  }

  /** Stores the response, or releases the key, when the database answers again. */
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
        // The database still does not answer.
      }
      for (const [token, { until }] of this.#keys) if (until <= performance.now()) this.#keys.delete(token);
    }
    this.#isTrying = false;
  }

  /** Keys that are not found are tried again, because their reservation may still be committed. */
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
