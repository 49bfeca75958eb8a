/**
 * The way back: conclusions are journaled as they come and settled in bulk, what arrived during the last commit in
 * the next one. A database that is away stops nothing: conclusions wait, in memory and in the journal.
 */
import { setTimeout as delay } from "node:timers/promises";
import { recordOutcomes } from "../messages/door.ts";
import type { Database } from "../platform/database/pool.ts";
import type { Log } from "../platform/log.ts";
import type { Conclusion } from "./conclusion.ts";
import type { Journal } from "./journal.ts";
import { settleLeases } from "./store.ts";

const BATCH = 500;
const RETRY_MS = 1_000;

/** Settles leases and passes their news through the message door, in one transaction. */
export async function settle(db: Database, conclusions: readonly Conclusion[]): Promise<void> {
  await db.transaction(async (tx) => {
    const held = await settleLeases(
      tx,
      conclusions.map((conclusion) => conclusion.settlement),
    );
    const news = conclusions.flatMap(({ outcome }) =>
      outcome && held.has(outcome.messageId) ? outcome : [],
    );
    await recordOutcomes(tx, news);
  });
}

export class Settler {
  readonly #db: Database;
  readonly #journal: Journal;
  readonly #log: Log;
  #waiting: Conclusion[] = [];
  #flushing: Promise<void> | null = null;

  constructor(db: Database, journal: Journal, log: Log) {
    this.#db = db;
    this.#journal = journal;
    this.#log = log;
  }

  /** Conclusions that the database does not have yet. */
  get backlog(): number {
    return this.#waiting.length;
  }

  add(conclusion: Conclusion): void {
    this.#journal.append(conclusion);
    this.#waiting.push(conclusion);
    this.#flushing ??= this.#flush();
  }

  /** Resolves when everything added so far is in the database. */
  async flushed(): Promise<void> {
    await this.#flushing;
  }

  async #flush(): Promise<void> {
    // What else this turn of the event loop brings shares the first commit.
    await new Promise(setImmediate);
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, BATCH);
      try {
        await settle(this.#db, batch);
        this.#waiting.splice(0, batch.length);
      } catch (error) {
        this.#log.error({ err: error, waiting: this.#waiting.length }, "settling failed, trying again");
        await delay(RETRY_MS);
      }
    }
    this.#journal.clear();
    this.#flushing = null;
  }
}
