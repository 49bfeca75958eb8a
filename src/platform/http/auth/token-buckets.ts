/**
 * Token buckets in memory. A bucket is one number: the moment at which it will be full again, told in the amount
 * minted since the clock began (the generic cell rate algorithm, ITU-T I.371). All of it is whole numbers, so a full
 * bucket admits its burst exactly.
 *
 * A bucket nobody used for the time an empty one takes to fill is full, and a full one need not be remembered. So
 * there are two generations: when the younger has lived that long the elder is dropped whole. A flood of distinct
 * sources turns the generations early, and what it drops are the buckets unused for longest.
 */
import type { RateLimit } from "#platform/config/setting-readers.ts";

/** Where buckets stand: in this process or in Redis. Amounts are thousandths of a token. */
export interface TokenBuckets {
  /** Takes a token and answers what is left; below zero none was taken, and that much is lacking. */
  take(source: string): number | Promise<number>;
  close(): Promise<void>;
}

/** The unit of the buckets: `perSecond` tokens a second are `perSecond` thousandths a millisecond. */
export const TOKEN = 1000;

export interface LocalBuckets extends TokenBuckets {
  take(source: string): number;
  /** Sources remembered. */
  readonly size: number;
}

/** Some 15 MB at the most. */
const MOST_SOURCES = 100_000;

/** `mostSources` bounds the memory: so many sources are told apart at once. */
export function localBuckets(
  limit: RateLimit,
  monotonicMs: () => number,
  mostSources: number = MOST_SOURCES,
): LocalBuckets {
  const capacity = limit.burst * TOKEN;
  const fillMs = capacity / limit.perSecond;
  let younger = new Map<string, number>();
  let elder = new Map<string, number>();
  let turnedAt = monotonicMs();
  return {
    take(source) {
      const now = monotonicMs();
      if (now - turnedAt >= fillMs || younger.size >= mostSources / 2) {
        elder = younger;
        younger = new Map();
        turnedAt = now;
      }
      const minted = Math.floor(now * limit.perSecond);
      const fullAt = Math.max(minted, younger.get(source) ?? elder.get(source) ?? minted);
      const left = capacity - (fullAt - minted) - TOKEN;
      younger.set(source, left >= 0 ? fullAt + TOKEN : fullAt);
      return left;
    },
    get size() {
      return younger.size + elder.size;
    },
    close: async () => {},
  };
}
