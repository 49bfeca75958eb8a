/**
 * Reads for reports: from a replica while it is at most some seconds old, otherwise from the primary. Only for answers that
 * may be that old, never for what a caller has just written.
 *
 * The replica is asked for its age on a connection of its own: reports may take all others. It is asked while they run,
 * too, so that those on a server that has stopped answering begin again on the primary.
 */
import pg from "pg";
import type { Sql } from "sql-template-tag";
import { createDatabase, type Database, type Queryable } from "./pool.ts";
import { findReplicaLag } from "./replication-store.ts";
import { isUnanswered } from "./time-left.ts";

/** A running service commits every five seconds (process-registration.ts), so an idle replica seems that old. */
export const MOST_LAG_SECONDS = 15;
/** How long the answer to "how old is it?" counts, and how often it is asked while statements run. */
const LOOK_MS = 2_000;
/** Longest time for that answer, including the connection. */
const ANSWER_MS = 1_000;
/** Reports come from the primary if the replica has no connection for them in this time. */
const CONNECT_MS = 1_000;
const STATEMENT_TIMEOUT = "57014";

/** A replica that is behind goes on with its statements: they may be what it waits for. One that is away does not answer. */
type ReplicaState = "fresh" | "behind" | "away";

export class ReplicaReads implements Queryable {
  readonly #replica: Database;
  readonly #watched: Database;
  readonly #primary: Queryable;
  #state: Promise<ReplicaState> = Promise.resolve("away");
  /** Whether the last look that has ended found it away. */
  #isAway = false;
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** Ends the wait for the answers of the replica, one for each statement. */
  readonly #waits = new Set<(fault: Error) => void>();
  #watch: NodeJS.Timeout | undefined;

  /** Connects with the first statement. `options.size` is the number of connections for reports. */
  constructor(
    url: string,
    primary: Queryable,
    options: Omit<Parameters<typeof createDatabase>[1], "deadlines">,
  ) {
    this.#replica = createDatabase(url, { ...options, deadlines: { connectMs: CONNECT_MS } });
    this.#watched = createDatabase(url, {
      ...options,
      size: 1,
      deadlines: { connectMs: ANSWER_MS, statementMs: ANSWER_MS, answerMs: ANSWER_MS, wholeMs: ANSWER_MS },
    });
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

  async close(): Promise<void> {
    await Promise.all([this.#replica.close(), this.#watched.close()]);
  }

  async #read<Result>(ask: (db: Queryable) => Promise<Result>): Promise<Result> {
    if ((await this.#lately()) !== "fresh") return ask(this.#primary);
    try {
      return await this.#whileItAnswers(ask(this.#replica));
    } catch (fault) {
      // A statement that takes too long would take as long on the primary.
      if (isUnanswered(fault) || (fault instanceof pg.DatabaseError && fault.code === STATEMENT_TIMEOUT))
        throw fault;
      // The replica may be gone, cancel the statement to go on replaying, or lack a new column.
      this.#lookedAt = Number.NEGATIVE_INFINITY;
      return ask(this.#primary);
    }
  }

  /** Rejects when the replica is away. Its statement is left to the deadlines of its connection. */
  async #whileItAnswers<Result>(asked: Promise<Result>): Promise<Result> {
    const { promise: lost, reject } = Promise.withResolvers<never>();
    this.#waits.add(reject);
    this.#watch ??= setInterval(() => void this.#leaveIfAway(), LOOK_MS);
    try {
      return await Promise.race([asked, lost]);
    } finally {
      this.#waits.delete(reject);
      if (this.#waits.size === 0) {
        clearInterval(this.#watch);
        this.#watch = undefined;
      }
    }
  }

  async #leaveIfAway(): Promise<void> {
    if ((await this.#look()) !== "away") return;
    for (const leave of this.#waits) leave(new Error("the replica does not answer"));
  }

  /** While the replica is away, the primary is read at once: nothing waits for a look. */
  async #lately(): Promise<ReplicaState> {
    if (performance.now() - this.#lookedAt > LOOK_MS) void this.#look();
    return this.#isAway ? "away" : this.#state;
  }

  /** Never rejects. */
  #look(): Promise<ReplicaState> {
    this.#lookedAt = performance.now();
    this.#state = findReplicaLag(this.#watched).then(
      (seconds) => (seconds !== null && seconds <= MOST_LAG_SECONDS ? "fresh" : "behind"),
      () => "away",
    );
    void this.#state.then((state) => {
      this.#isAway = state === "away";
    });
    return this.#state;
  }
}
