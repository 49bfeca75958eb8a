/**
 * Token buckets in memory. A bucket is one number: the time at which it will be full, expressed in tokens minted since
 * the start of the clock (the generic cell rate algorithm, ITU-T I.371). All numbers are integers, so a full bucket
 * admits exactly its burst.
 *
 * A bucket that was unused for the time in which an empty one fills is full and can be dropped. So buckets are kept in two
 * generations, and after that time the older one is dropped. Too many sources drop a generation earlier, which loses the
 * buckets that were unused for longest.
 */
import type { RateLimit } from "#platform/config/setting-readers.ts";

/** Buckets in this process or in Redis. Amounts are thousandths of a token. */
export interface TokenBuckets {
  /** Takes a token and gives what is left. Below zero, none was taken, and this much is missing. */
  take(source: string): number | Promise<number>;
  close(): Promise<void>;
}

/** The unit of the buckets: `perSecond` tokens a second are `perSecond` thousandths a millisecond. */
export const TOKEN = 1000;

export interface LocalBuckets extends TokenBuckets {
  take(source: string): number;
  /** Number of sources with a bucket. */
  readonly size: number;
}

/** At most some 15 MB. */
const MOST_SOURCES = 100_000;

/** @param mostSources sources with a bucket at a time, which limits the memory */
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
