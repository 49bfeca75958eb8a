/** The time that a transaction, or a statement outside one, has left. */
import type pg from "pg";
import { inTime } from "#platform/in-time.ts";

/** An option of the driver that is missing in its types. */
interface TimedQuery extends pg.QueryConfig {
  readonly query_timeout?: number;
}

/** Runs one statement. */
export type Query = (query: TimedQuery) => Promise<pg.QueryResult>;

/** The driver's message for a statement without an answer in time. */
const UNANSWERED = "Query read timeout";

export function isUnanswered(fault: unknown): fault is Error {
  return fault instanceof Error && fault.message === UNANSWERED;
}

/** Counts from its construction. */
export class TimeLeft {
  readonly #end: number | null;

  constructor(wholeMs: number | null) {
    this.#end = wholeMs === null ? null : performance.now() + wholeMs;
  }

  /** Milliseconds left; null without a limit. @throws Error, as the driver does for a timeout, if none is left */
  get ms(): number | null {
    if (this.#end === null) return null;
    const left = Math.floor(this.#end - performance.now());
    if (left <= 0) throw new Error(UNANSWERED);
    return left;
  }

  /** Runs statements on one connection within the time left. */
  limit(client: pg.PoolClient): Query {
    return async (query) => {
      const left = this.ms;
      return client.query(left === null ? query : { ...query, query_timeout: left });
    };
  }

  /** A connection of the pool within the time left; one that comes later is given back. */
  async connect(pool: pg.Pool): Promise<pg.PoolClient> {
    const left = this.ms;
    const connecting = pool.connect();
    if (left === null) return connecting;
    try {
      return await inTime(left, connecting, () => new Error("timeout exceeded when trying to connect"));
    } catch (fault) {
      connecting.then(
        (client) => client.release(),
        () => {},
      );
      throw fault;
    }
  }
}
