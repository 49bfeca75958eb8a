/**
 * All access to PostgreSQL. Statements are `sql` templates, whose values are always bound; a transaction is a function.
 *
 * Pools are small on purpose: on two cores, 40 connections had half the throughput and ten times the p99 of 6.
 */
import { once } from "node:events";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { from as copyFrom, to as copyTo } from "pg-copy-streams";
import type { Sql } from "sql-template-tag";
import { ChunkedSocket } from "./chunked-socket.ts";
import { DatabaseServers } from "./servers/database-servers.ts";
import { ServerConnection } from "./servers/server-connection.ts";
import { isUnanswered, type Query, TimeLeft } from "./time-left.ts";

/** Runs statements: the pool, or one transaction. */
export interface Queryable {
  /** All rows. With a `name`, PostgreSQL parses the statement once (prepared statement); its text must be constant. */
  rows<Row>(statement: Sql, name?: string): Promise<Row[]>;
  /** The first row, if there is one. */
  row<Row>(statement: Sql, name?: string): Promise<Row | undefined>;
  /** Runs the statement and gives the number of affected rows. */
  run(statement: Sql): Promise<number>;
}

/** One transaction, with COPY for rows in bulk. */
export interface Transaction extends Queryable {
  /** Runs `copy … from stdin` with rows in the format that the statement names. Resolves to their number. */
  copy(statement: string, rows: Iterable<Buffer | string> | AsyncIterable<Buffer | string>): Promise<number>;
  /**
   * Runs `copy … to stdout` and hands the data to `read` in chunks. The connection waits for a slow reader, and is closed if
   * the reader stops before the end.
   */
  copyOut<Result>(
    statement: string,
    read: (pieces: AsyncIterable<Buffer>) => Promise<Result>,
  ): Promise<Result>;
}

export interface Database extends Queryable {
  /**
   * Commits when `work` resolves, rolls back when it throws. With `mayRepeat`, `work` is run again after a deadlock or a
   * serialisation failure; it must have no effect outside the transaction.
   */
  transaction<Result>(
    work: (tx: Transaction) => Promise<Result>,
    options?: { readonly mayRepeat?: boolean },
  ): Promise<Result>;
  /** A connection of the pool, to be given back with `release()`. */
  connect(): Promise<pg.PoolClient>;
  /**
   * A connection outside the pool, for long use (LISTEN, session locks). It emits "end" when it breaks; the caller must
   * end it otherwise.
   */
  openSession(): Promise<pg.Client>;
  /** The connection URL, for processes that connect themselves. */
  readonly url: string;
  /** For libraries that need the pool itself. */
  readonly pool: pg.Pool;
  close(): Promise<void>;
}

// int8 is read as a number: no count reaches 2^53. Amounts of money are numeric and stay strings.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/** Time limits of a database; zero is no limit. */
export interface Deadlines {
  readonly connectMs: number;
  /** statement_timeout: the server cancels a statement that takes longer. */
  readonly statementMs: number;
  /** lock_timeout: the server cancels a statement that waits longer for one lock; null: no limit of its own. */
  readonly lockMs: number | null;
  /** A statement without an answer fails after this time on our side, and its connection is closed. */
  readonly answerMs: number;
  /** idle_in_transaction_session_timeout: the server ends a transaction that waits for us longer, to free its locks. */
  readonly idleTransactionMs: number;
  /**
   * For a whole transaction, or a statement outside one, including the wait for a connection; null: only the limits of the
   * single statements apply.
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
/** TCP keepalive on both sides, after a minute of silence: nothing else detects a broken idle connection. */
const KEEPALIVE_MS = 60_000;
const SERVER_KEEPALIVE = "-c tcp_keepalives_idle=60 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=6";
const RECONNECT_MS = 1_000;
/** Attempts of a transaction with `mayRepeat`; the longest pause before each grows by REPEAT_MS. */
const MOST_TRIES = 5;
const REPEAT_MS = 100;

function queryable(run: Query): Queryable {
  const query = async (statement: Sql, name?: string) => {
    const values = [...statement.values];
    try {
      return await run({ text: statement.text, values, ...(name && { name }) });
    } finally {
      // The driver's timer keeps the statement until a full garbage collection. With the contents of batches in it, those
      // came every second and stopped the process.
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

/** @param onLost called with the reason when the connection cannot be used again */
function transactionOn(client: pg.PoolClient, run: Query, onLost: (fault: Error) => void): Transaction {
  return {
    ...queryable(run),
    async copy(statement, rows) {
      const copying = client.query(copyFrom(statement));
      await pipeline(Readable.from(rows), copying);
      return copying.rowCount;
    },
    async copyOut(statement, read) {
      // The reader gets errors, too; without a listener they would end the process.
      const pieces = client.query(copyTo(statement)).on("error", () => {});
      try {
        return await read(pieces);
      } finally {
        // Clears the driver's timer for this query.
        if ("callback" in pieces && typeof pieces.callback === "function") pieces.callback();
        // If the data was not read to its end, the connection is in the middle of the COPY protocol.
        if (!pieces.readableEnded) onLost(new Error("COPY was not read to its end"));
      }
    },
  };
}

/** Whether it is a unique violation (SQLSTATE 23505). */
export function isDuplicate(fault: unknown): boolean {
  return fault instanceof Error && "code" in fault && fault.code === "23505";
}

/**
 * Whether PostgreSQL rolled the transaction back because of other transactions: a deadlock, or a serialisation failure.
 */
function isRepeatable(fault: unknown): boolean {
  return fault instanceof Error && "code" in fault && (fault.code === "40P01" || fault.code === "40001");
}

/** PostgreSQL settings by name. Values must not contain spaces: they are passed as command-line options. */
export type ConnectionSettings = Readonly<Record<string, string>>;

/**
 * The driver does not send a limit of zero, and the role or the database may have one of its own.
 * @returns options that say that there is none
 */
function withoutLimits({ statementMs, idleTransactionMs }: Deadlines): string[] {
  const limits = { statement_timeout: statementMs, idle_in_transaction_session_timeout: idleTransactionMs };
  return Object.entries(limits).flatMap(([name, ms]) => (ms === 0 ? [`-c ${name}=0`] : []));
}

/**
 * Connects with the first statement. The URL may name several servers, one of which is the primary (servers/). `onError` is called
 * for idle connections that broke; the pool replaces them.
 */
export function createDatabase(
  url: string,
  options: {
    readonly size: number;
    readonly name: string;
    readonly onError: (error: Error) => void;
    readonly deadlines?: Partial<Deadlines>;
    /** PostgreSQL settings for all connections. */
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
    stream: () => new ChunkedSocket(),
    options: [
      SERVER_KEEPALIVE,
      ...withoutLimits(deadlines),
      ...Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`),
    ].join(" "),
  };
  const pool = new pg.Pool({
    ...connection,
    Client: ServerConnection,
    max: options.size,
    statement_timeout: deadlines.statementMs,
    ...(deadlines.lockMs !== null && { lock_timeout: deadlines.lockMs }),
    query_timeout: deadlines.answerMs,
    idle_in_transaction_session_timeout: deadlines.idleTransactionMs,
  });
  let isClosing = false;
  /** Errors are ignored while the pool closes, because the server may end first. */
  const onError = (fault: Error) => {
    if (!isClosing) options.onError(fault);
  };
  pool.on("error", onError);
  // A break between two statements of a transaction emits "error" on the client; without a listener it would end the
  // process.
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
      // A connection that cannot roll back is closed and not reused. If the last statement is unanswered, no rollback
      // is tried.
      if (isUnanswered(error)) {
        broken = error;
        DatabaseServers.of(url).suspect();
      }
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

  /** Runs one statement outside a transaction. */
  const runAlone: Query = async (query) => {
    try {
      return await (deadlines.wholeMs === null ? pool.query(query) : runInTime(query));
    } catch (fault) {
      if (isUnanswered(fault)) DatabaseServers.of(url).suspect();
      throw fault;
    }
  };

  const runInTime: Query = async (query) => {
    const left = new TimeLeft(deadlines.wholeMs);
    const client = await left.connect(pool);
    let broken: Error | undefined;
    try {
      return await left.limit(client)(query);
    } catch (fault) {
      // The connection is closed, as the pool does: the state of its last statement is unknown.
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
      const client = new ServerConnection(connection);
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
          if (!mayRepeat || tries === MOST_TRIES || !isRepeatable(fault)) throw fault;
          await delay(REPEAT_MS * tries * Math.random());
        }
      }
    },
  };
}

/** Calls `onNotice` for each notification of a channel. Reconnects until `signal` is aborted. */
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

/** Listens until the session ends. @throws when it breaks or `signal` is aborted */
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
