/**
 * Reads for reports: from a replica while it is at most some seconds old, otherwise from the primary. Only for answers that
 * may be that old, never for what a caller has just written.
 */
import pg from "pg";
import type { Sql } from "sql-template-tag";
import { inTime, noAnswer } from "#platform/in-time.ts";
import type { Database, Queryable } from "./pool.ts";
import { findReplicaLag } from "./replication-store.ts";
import { isUnanswered } from "./time-left.ts";

/** A running service commits every five seconds (process-registration.ts), so an idle replica seems that old. */
const MOST_LAG_SECONDS = 15;
/** How long the answer to "how old is it?" counts. */
const LOOK_MS = 5_000;
/** Longest time for that answer, including the connection. */
const ANSWER_MS = 1_000;
const STATEMENT_TIMEOUT = "57014";

export class ReplicaReads implements Queryable {
  readonly #replica: Database;
  readonly #primary: Queryable;
  #looking: Promise<boolean> | null = null;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(replica: Database, primary: Queryable) {
    this.#replica = replica;
    this.#primary = primary;
  }

  rows<Row>(statement: Sql, name?: string): Promise<Row[]> {
    return this.#read((db) => db.rows<Row>(statement, name));
  }

  row<Row>(statement: Sql, name?: string): Promise<Row | undefined> {
    return this.#read((db) => db.row<Row>(statement, name));
  }

  run(statement: Sql): Promise<number> {
    return this.#primary.run(statement);
  }

  close(): Promise<void> {
    return this.#replica.close();
  }

  async #read<Result>(ask: (db: Queryable) => Promise<Result>): Promise<Result> {
    if (!(await this.#isFresh())) return ask(this.#primary);
    try {
      return await ask(this.#replica);
    } catch (fault) {
      // A statement that takes too long would take as long on the primary.
      if (isUnanswered(fault) || (fault instanceof pg.DatabaseError && fault.code === STATEMENT_TIMEOUT))
        throw fault;
      // The replica may be gone, cancel the statement to go on replaying, or lack a new column.
      this.#looking = Promise.resolve(false);
      return ask(this.#primary);
    }
  }

  #isFresh(): Promise<boolean> {
    const now = performance.now();
    if (this.#looking === null || now - this.#lookedAt > LOOK_MS) {
      this.#lookedAt = now;
      this.#looking = inTime(ANSWER_MS, findReplicaLag(this.#replica), noAnswer).then(
        (seconds) => seconds !== null && seconds <= MOST_LAG_SECONDS,
        () => false,
      );
    }
    return this.#looking;
  }
}
