/**
 * The rate limit per source network, or per session of a signed-in person, as a token bucket: it holds `burst` tokens, each request takes one, and `perSecond` are
 * added every second. (Fixed windows would allow twice the burst at their edges.)
 */

import type { RateLimit } from "#platform/config/setting-readers.ts";
import { ApiError } from "#platform/errors.ts";
import type { Log } from "#platform/log/log.ts";
import { redisBuckets } from "./rate-limit-redis.ts";
import { localBuckets, TOKEN } from "./token-buckets.ts";

/** Headers for the response of an admitted request. */
export type RateHeaders = Readonly<Record<string, string>>;

export interface RateLimiter {
  /**
   * @param holder of the bucket: a network (networkOf), or a session
   * @throws ApiError RATE_LIMIT_EXCEEDED with Retry-After if the bucket is empty
   */
  take(holder: string): Promise<RateHeaders>;
  close(): Promise<void>;
}

/** RATE_LIMIT=off, for load tests. */
export const unlimited: RateLimiter = { take: async () => ({}), close: async () => {} };

/** The limiter for RATE_LIMIT and REDIS_URL. The Redis client is loaded with the first request. */
export function createRateLimiter(options: {
  readonly limit: RateLimit | null;
  readonly redisUrl: URL | null;
  readonly monotonicMs: () => number;
  readonly log: Log;
}): RateLimiter {
  const { limit, redisUrl, monotonicMs, log } = options;
  if (limit === null) return unlimited;
  const local = localBuckets(limit, monotonicMs);
  const buckets = redisUrl === null ? local : redisBuckets({ url: redisUrl, limit, local, monotonicMs, log });
  // Cached by the number of tokens left, to avoid allocations on the hot path.
  const headers: RateHeaders[] = [];
  const headersOf = (remaining: number): RateHeaders =>
    (headers[remaining] ??= {
      "RateLimit-Limit": String(limit.burst),
      "RateLimit-Remaining": String(remaining),
      "RateLimit-Reset": String(Math.ceil((limit.burst - remaining) / limit.perSecond)),
    });
  return {
    async take(holder) {
      const left = await buckets.take(holder);
      if (left >= 0) return headersOf(Math.floor(left / TOKEN));
      const seconds = Math.ceil(-left / TOKEN / limit.perSecond);
      throw new ApiError("RATE_LIMIT_EXCEEDED", undefined, {
        headers: { ...headersOf(0), "Retry-After": String(seconds) },
      });
    },
    close: () => buckets.close(),
  };
}
