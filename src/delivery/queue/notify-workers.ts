/** Acceptance notifies the delivery workers through the database (LISTEN/NOTIFY), whatever machine they run on. */
import { setTimeout as delay } from "node:timers/promises";
import sql from "sql-template-tag";
import type { Database, Queryable } from "#platform/database/pool.ts";

export const DELIVERY_CHANNEL = "posthaste_delivery";

const GAP_MS = 50;

/** Notifies the workers that messages are due; within a transaction, when it commits. */
export async function notifyWorkers(db: Queryable): Promise<void> {
  await db.run(sql`select pg_notify(${DELIVERY_CHANNEL}, '')`);
}

/**
 * Notifies the workers at most once in 50 ms, the first time at once. A notification is a commit of its own under a lock
 * that all commits share, so not every acceptance may send one. If one fails, the workers find the messages by polling.
 */
export class WorkerNotifier {
  readonly #db: Database;
  #isNotifying = false;
  #again = false;

  constructor(db: Database) {
    this.#db = db;
  }

  notify(): void {
    this.#again = true;
    if (!this.#isNotifying) void this.#notify();
  }

  async #notify(): Promise<void> {
    this.#isNotifying = true;
    do {
      this.#again = false;
      await notifyWorkers(this.#db).catch(() => {});
      await delay(GAP_MS, undefined, { ref: false });
    } while (this.#again);
    this.#isNotifying = false;
  }
}
