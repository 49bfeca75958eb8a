/**
 * The one way to PostgreSQL: statements are `sql` templates (values are always bound), a transaction is a function.
 *
 * Pools stay small on purpose: on two cores 40 connections gave half the rate and ten times the p99 of 6.
 */
import { once } from "node:events";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { from as copyFrom, to as copyTo } from "pg-copy-streams";
import type { Sql } from "sql-template-tag";
import { PiecewiseSocket } from "./piecewise-socket.ts";
import { isUnanswered, type Query, TimeLeft } from "./time-left.ts";

/** Something that runs statements: the pool, or one transaction. */
export interface Queryable {
  /** All rows. Pass a `name` for a statement of constant text on a hot path: it is parsed and planned once. */
  rows<Row>(statement: Sql, name?: string): Promise<Row[]>;
  /** The first row, if there is one. */
  row<Row>(statement: Sql, name?: string): Promise<Row | undefined>;
  /** Runs it and says how many rows it touched. */
  run(statement: Sql): Promise<number>;
}

/** One transaction: statements, and rows in bulk. */
export interface Transaction extends Queryable {
  /** Runs a `copy … from stdin` of constant text over rows in the format it names. */
  copy(statement: string, rows: Iterable<Buffer | string> | AsyncIterable<Buffer | string>): Promise<void>;
  /**
   * Runs a `copy … to stdout` and hands `read` what it gives, in pieces. For readers who keep up: the connection waits for
   * them, and is thrown away when they break off.
   */
  copyOut<Result>(
    statement: string,
    read: (pieces: AsyncIterable<Buffer>) => Promise<Result>,
  ): Promise<Result>;
}

export interface Database extends Queryable {
  /**
   * Commits when `work` resolves, rolls back when it throws. Everybody locks in one order, but PostgreSQL may still end
   * one of two that wait for each other: `work` that does nothing outside its transaction may say that it can simply
   * be done again.
   */
  transaction<Result>(
    work: (tx: Transaction) => Promise<Result>,
    options?: { readonly mayRepeat?: boolean },
  ): Promise<Result>;
  /** One connection of the pool; the caller gives it back with `release()`. */
  connect(): Promise<pg.PoolClient>;
  /**
   * A connection outside the pool, for what lasts (LISTEN, session locks): held from the pool, it would be missing
   * there. It may break at any time, which ends it; the caller ends it otherwise.
   */
  openSession(): Promise<pg.Client>;
  /** Where it is, for a process that connects by itself. */
  readonly url: string;
  /** For libraries that want the pool itself. */
  readonly pool: pg.Pool;
  close(): Promise<void>;
}

// int8 comes as a number: no count of ours reaches 2^53. Money is numeric and stays a string.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/** How long we wait for whom. */
export interface Deadlines {
  readonly connectMs: number;
  /** The server ends a statement that takes longer. */
  readonly statementMs: number;
  /** The server ends a statement that waits longer for one lock; null: as long as for the statement. */
  readonly lockMs: number | null;
  /** We give a statement up when the server says nothing at all, and with it the connection. */
  readonly answerMs: number;
  /** The server ends a transaction that waits for us so long: its locks are in everybody's way. */
  readonly idleTransactionMs: number;
  /**
   * The most that a transaction, or a statement outside of one, takes altogether, the wait for a connection included;
   * null: each statement of a transaction has `answerMs`.
   */
  readonly wholeMs: number | null;
}

const DEADLINES: Deadlines = {
  connectMs: 5_000,
  statementMs: 30_000,
  lockMs: null,
  answerMs: 35_000,
  idleTransactionMs: 60_000,
  wholeMs: null,
};
/** Both sides ask a silent connection after a minute whether anybody is there: a broken one is missed by nobody else. */
const KEEPALIVE_MS = 60_000;
const SERVER_KEEPALIVE = "-c tcp_keepalives_idle=60 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=6";
const RECONNECT_MS = 1_000;
/** A transaction that may be repeated is tried so often, after a pause that grows by this much each time. */
const MOST_TRIES = 5;
const REPEAT_MS = 100;

function queryable(run: Query): Queryable {
  const query = async (statement: Sql, name?: string) => {
    const values = [...statement.values];
    try {
      return await run({ text: statement.text, values, ...(name && { name }) });
    } finally {
      // What the driver's time-out holds of a statement lives on until a full collection: with the contents of a batch
      // in it that came every second, and halted everybody.
      values.length = 0;
    }
  };
  return {
    rows: async <Row>(statement: Sql, name?: string) => (await query(statement, name)).rows as Row[],
    row: async <Row>(statement: Sql, name?: string) =>
      (await query(statement, name)).rows[0] as Row | undefined,
    run: async (statement) => (await query(statement)).rowCount ?? 0,
  };
}

/** @param onLost hears why its connection is of no more use */
function transactionOn(client: pg.PoolClient, run: Query, onLost: (fault: Error) => void): Transaction {
  return {
    ...queryable(run),
    copy: (statement, rows) => pipeline(Readable.from(rows), client.query(copyFrom(statement))),
    async copyOut(statement, read) {
      // Who reads hears of a fault; where nobody does it would end the process.
      const pieces = client.query(copyTo(statement)).on("error", () => {});
      try {
        return await read(pieces);
      } finally {
        // The driver's time-out, which ends with whatever else has this.
        if ("callback" in pieces && typeof pieces.callback === "function") pieces.callback();
        // Whoever did not read to the end leaves it between two messages of the protocol.
        if (!pieces.readableEnded) onLost(new Error("a copy was broken off"));
      }
    },
  };
}

/** What was to be written is there already. */
export function isDuplicate(fault: unknown): boolean {
  return fault instanceof Error && "code" in fault && fault.code === "23505";
}

/** PostgreSQL ended it in favour of another one: a deadlock, or a serialisation failure. */
function gaveWay(fault: unknown): boolean {
  return fault instanceof Error && "code" in fault && (fault.code === "40P01" || fault.code === "40001");
}

/** Values without blanks: they are handed over as words of a command line. */
export type ConnectionSettings = Readonly<Record<string, string>>;

/** Opens nothing until the first statement. `onError` hears of idle connections that broke; the pool replaces them. */
export function createDatabase(
  url: string,
  options: {
    readonly size: number;
    readonly name: string;
    readonly onError: (error: Error) => void;
    readonly deadlines?: Partial<Deadlines>;
    /** Settings of PostgreSQL for all its connections, by name. */
    readonly settings?: ConnectionSettings;
  },
): Database {
  const deadlines = { ...DEADLINES, ...options.deadlines };
  const settings = options.settings ?? {};
  const connection = {
    connectionString: url,
    application_name: options.name,
    connectionTimeoutMillis: deadlines.connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_MS,
    stream: () => new PiecewiseSocket(),
    options: [
      SERVER_KEEPALIVE,
      ...Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`),
    ].join(" "),
  };
  const pool = new pg.Pool({
    ...connection,
    max: options.size,
    statement_timeout: deadlines.statementMs,
    ...(deadlines.lockMs !== null && { lock_timeout: deadlines.lockMs }),
    query_timeout: deadlines.answerMs,
    idle_in_transaction_session_timeout: deadlines.idleTransactionMs,
  });
  let isClosing = false;
  /** While the pool closes, the server may end first: nothing is lost by that. */
  const onError = (fault: Error) => {
    if (!isClosing) options.onError(fault);
  };
  pool.on("error", onError);
  // A connection that breaks while it is lent out reports to the statement under way; without a listener of its own
  // a break between two statements would end the process.
  pool.on("connect", (client) => client.on("error", onError));

  const attempt = async <Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result> => {
    const left = new TimeLeft(deadlines.wholeMs);
    const client = await left.connect(pool);
    const run = left.limit(client);
    let broken: Error | undefined;
    try {
      await run({ text: "begin" });
      const onLost = (fault: Error) => {
        broken = fault;
      };
      const result = await work(transactionOn(client, run, onLost));
      if (broken !== undefined) throw broken;
      await run({ text: "commit" });
      return result;
    } catch (error) {
      // A connection that cannot roll back is thrown away, never handed to the next caller; one whose last statement
      // is still unanswered is not even asked.
      if (isUnanswered(error)) broken = error;
      if (broken === undefined) {
        await run({ text: "rollback" }).catch((fault: Error) => {
          broken = fault;
        });
      }
      throw error;
    } finally {
      client.release(broken);
    }
  };

  /** One statement outside of a transaction. */
  const runAlone: Query = async (query) => {
    if (deadlines.wholeMs === null) return pool.query(query);
    const left = new TimeLeft(deadlines.wholeMs);
    const client = await left.connect(pool);
    let broken: Error | undefined;
    try {
      return await left.limit(client)(query);
    } catch (fault) {
      // Thrown away, as the pool does: of its last statement nothing is known.
      broken = fault as Error;
      throw fault;
    } finally {
      client.release(broken);
    }
  };

  return {
    ...queryable(runAlone),
    pool,
    url,
    connect: () => pool.connect(),
    async openSession() {
      const client = new pg.Client(connection);
      client.on("error", onError);
      await client.connect();
      return client;
    },
    close() {
      isClosing = true;
      return pool.end();
    },
    async transaction(work, { mayRepeat = false } = {}) {
      for (let tries = 1; ; tries++) {
        try {
          return await attempt(work);
        } catch (fault) {
          if (!mayRepeat || tries === MOST_TRIES || !gaveWay(fault)) throw fault;
          await delay(REPEAT_MS * tries * Math.random());
        }
      }
    },
  };
}

/** Notifications of one channel, over a session that is renewed for as long as `signal` lives. */
export async function listen(
  database: Database,
  channel: string,
  signal: AbortSignal,
  onNotice: (payload: string) => void,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await listenOnce(database, channel, signal, onNotice);
    } catch {
      await delay(RECONNECT_MS, undefined, { signal }).catch(() => {});
    }
  }
}

/** Until the session ends; throws when it breaks or `signal` is aborted. */
async function listenOnce(
  database: Database,
  channel: string,
  signal: AbortSignal,
  onNotice: (payload: string) => void,
): Promise<void> {
  const session = await database.openSession();
  try {
    session.on("notification", (notice) => onNotice(notice.payload ?? ""));
    await session.query(`listen ${pg.escapeIdentifier(channel)}`);
    await once(session, "end", { signal });
  } finally {
    await session.end();
  }
}
