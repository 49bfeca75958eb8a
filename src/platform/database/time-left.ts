/** How much of its time a transaction, or a statement outside of one, still has. */
import type pg from "pg";
import { inTime } from "#platform/in-time.ts";

/** What the driver takes beside text and values; its types leave this one out. */
interface TimedQuery extends pg.QueryConfig {
  readonly query_timeout?: number;
}

/** Runs one statement. */
export type Query = (query: TimedQuery) => Promise<pg.QueryResult>;

/** What the driver says when a statement got no answer in time. */
const UNANSWERED = "Query read timeout";

export function isUnanswered(fault: unknown): fault is Error {
  return fault instanceof Error && fault.message === UNANSWERED;
}

/** Counts from when it is made. */
export class TimeLeft {
  readonly #end: number | null;

  constructor(wholeMs: number | null) {
    this.#end = wholeMs === null ? null : performance.now() + wholeMs;
  }

  /** Null where there is no end. @throws Error as the driver does for a statement without an answer */
  get ms(): number | null {
    if (this.#end === null) return null;
    const left = Math.floor(this.#end - performance.now());
    if (left <= 0) throw new Error(UNANSWERED);
    return left;
  }

  /** The statements of one connection, which end in time. */
  limit(client: pg.PoolClient): Query {
    return async (query) => {
      const left = this.ms;
      return client.query(left === null ? query : { ...query, query_timeout: left });
    };
  }

  /** A connection of the pool, in time; one that comes too late goes back. */
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
