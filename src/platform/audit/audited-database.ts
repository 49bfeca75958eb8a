/**
 * A database that writes the audit event of the running operation (pending-event.ts) in the transaction of its change: the
 * first transaction that writes something, or the first writing statement outside of one. Without a pending event, as for
 * sending, all calls go straight to the database.
 */
import type { Sql } from "sql-template-tag";
import type { Database, Queryable, Transaction } from "#platform/database/pool.ts";
import { PendingEvent } from "./pending-event.ts";

const writing =
  /\b(?:insert\s+into|delete\s+from|merge\s+into|update\s+(?:only\s+)?\w+(?:\s+(?:as\s+)?\w+)?\s+set)\s+(\w+)?/i;
/** Counting a request or an attempt, and noting that a session is used, is no change that the caller asked for. */
const counting =
  /\b(?:quota_uses|idempotency_keys|attempt_buckets|sign_in_challenges)\b|\bupdate\s+sessions\s+set\s+seen_at\b/i;

function isWrite({ text }: Sql): boolean {
  return writing.test(text) && !counting.test(text);
}

export function auditedDatabase(database: Database): Database {
  const alone = <Result>(
    statement: Sql,
    run: (db: Queryable) => Promise<Result>,
    changed: (result: Result) => unknown,
  ): Promise<Result> => {
    const pending = PendingEvent.current();
    if (pending === undefined || !isWrite(statement)) return run(database);
    return settled(pending, (writer) =>
      database.transaction(async (tx) => {
        const result = await run(tx);
        const change = changed(result);
        if (change !== undefined) await pending.writeIn(tx, writer, change);
        return result;
      }),
    );
  };
  return {
    get pool() {
      return database.pool;
    },
    url: database.url,
    rows: <Row>(statement: Sql, name?: string) =>
      alone(
        statement,
        (db) => db.rows<Row>(statement, name),
        ([first]) => first,
      ),
    row: <Row>(statement: Sql, name?: string) =>
      alone(
        statement,
        (db) => db.row<Row>(statement, name),
        (row) => row,
      ),
    run: (statement) =>
      alone(
        statement,
        (db) => db.run(statement),
        (count) => (count > 0 ? {} : undefined),
      ),
    connect: () => database.connect(),
    openSession: () => database.openSession(),
    close: () => database.close(),
    transaction(work, options) {
      const pending = PendingEvent.current();
      if (pending === undefined) return database.transaction(work, options);
      return settled(pending, (writer) =>
        database.transaction(async (tx) => {
          const watched = new WatchedTransaction(tx);
          const result = await work(watched);
          if (watched.hasWritten) await pending.writeIn(tx, writer, result);
          return result;
        }, options),
      );
    },
  };
}

async function settled<Result>(
  pending: PendingEvent,
  run: (writer: object) => Promise<Result>,
): Promise<Result> {
  const writer = {};
  try {
    const result = await run(writer);
    pending.settle(writer, true);
    return result;
  } catch (fault) {
    pending.settle(writer, false);
    throw fault;
  }
}

/** A transaction that knows whether it has written. */
class WatchedTransaction implements Transaction {
  readonly #tx: Transaction;
  hasWritten = false;

  constructor(tx: Transaction) {
    this.#tx = tx;
  }

  async rows<Row>(statement: Sql, name?: string): Promise<Row[]> {
    const rows = await this.#tx.rows<Row>(statement, name);
    this.#watch(statement, rows.length);
    return rows;
  }

  async row<Row>(statement: Sql, name?: string): Promise<Row | undefined> {
    const row = await this.#tx.row<Row>(statement, name);
    this.#watch(statement, row === undefined ? 0 : 1);
    return row;
  }

  async run(statement: Sql): Promise<number> {
    const count = await this.#tx.run(statement);
    this.#watch(statement, count);
    return count;
  }

  copy(statement: string, rows: Parameters<Transaction["copy"]>[1]): Promise<number> {
    this.hasWritten = true;
    return this.#tx.copy(statement, rows);
  }

  copyOut<Result>(
    statement: string,
    read: (pieces: AsyncIterable<Buffer>) => Promise<Result>,
  ): Promise<Result> {
    return this.#tx.copyOut(statement, read);
  }

  /** A statement that affects no row has changed nothing. */
  #watch(statement: Sql, count: number): void {
    this.hasWritten ||= count > 0 && isWrite(statement);
  }
}
