/**
 * The one way to PostgreSQL: statements are `sql` templates (values are always bound), a transaction is a function.
 *
 * Pools stay small on purpose: on two cores 40 connections gave half the rate and ten times the p99 of 6.
 */
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { Sql } from "sql-template-tag";

/** Something that runs statements: the pool, or one transaction. */
export interface Queryable {
  /** All rows. Pass a `name` for a statement of constant text on a hot path: it is parsed and planned once. */
  rows<Row>(statement: Sql, name?: string): Promise<Row[]>;
  /** The first row, if there is one. */
  row<Row>(statement: Sql): Promise<Row | undefined>;
  /** Runs it and says how many rows it touched. */
  run(statement: Sql): Promise<number>;
}

export interface Database extends Queryable {
  /** Commits when `work` resolves, rolls back when it throws. */
  transaction<Result>(work: (tx: Queryable) => Promise<Result>): Promise<Result>;
  /** One connection of the pool, for COPY; the caller gives it back with `release()`. */
  connect(): Promise<pg.PoolClient>;
  /**
   * A connection outside the pool, for what lasts (LISTEN, session locks): held from the pool, it would be missing
   * there. It may break at any time, which ends it; the caller ends it otherwise.
   */
  openSession(): Promise<pg.Client>;
  /** For libraries that want the pool itself. */
  readonly pool: pg.Pool;
  close(): Promise<void>;
}

// int8 comes as a number: no count of ours reaches 2^53. Money is numeric and stays a string.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

const CONNECT_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 30_000;
const RECONNECT_MS = 1_000;

function queryable(client: Pick<pg.PoolClient, "query">): Queryable {
  const query = <Row extends pg.QueryResultRow>(statement: Sql, name?: string) =>
    client.query<Row>({ text: statement.text, values: statement.values, ...(name && { name }) });
  return {
    rows: async <Row>(statement: Sql, name?: string) => (await query(statement, name)).rows as Row[],
    row: async <Row>(statement: Sql) => (await query(statement)).rows[0] as Row | undefined,
    run: async (statement) => (await query(statement)).rowCount ?? 0,
  };
}

/** Opens nothing until the first statement. `onError` hears of idle connections that broke; the pool replaces them. */
export function createDatabase(
  url: string,
  options: { readonly size: number; readonly name: string; readonly onError: (error: Error) => void },
): Database {
  const connection = {
    connectionString: url,
    application_name: options.name,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  };
  const pool = new pg.Pool({ ...connection, max: options.size, statement_timeout: STATEMENT_TIMEOUT_MS });
  pool.on("error", options.onError);
  // A connection that breaks while it is lent out reports to the statement under way; without a listener of its own
  // a break between two statements would end the process.
  pool.on("connect", (client) => client.on("error", options.onError));
  return {
    ...queryable(pool),
    pool,
    connect: () => pool.connect(),
    async openSession() {
      const client = new pg.Client(connection);
      client.on("error", options.onError);
      await client.connect();
      return client;
    },
    close: () => pool.end(),
    async transaction(work) {
      const client = await pool.connect();
      let broken: Error | undefined;
      try {
        await client.query("begin");
        const result = await work(queryable(client));
        await client.query("commit");
        return result;
      } catch (error) {
        // A connection that cannot roll back is thrown away, never handed to the next caller.
        await client.query("rollback").catch((fault: Error) => {
          broken = fault;
        });
        throw error;
      } finally {
        client.release(broken);
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
      const session = await database.openSession();
      session.on("notification", (notice) => onNotice(notice.payload ?? ""));
      await session.query(`listen ${pg.escapeIdentifier(channel)}`);
      await Promise.race([once(session, "end"), once(signal, "abort")]);
      await session.end();
    } catch {
      await delay(RECONNECT_MS, undefined, { signal }).catch(() => {});
    }
  }
}
