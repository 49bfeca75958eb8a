/**
 * Token buckets in Redis or Valkey, shared by all API machines: one script for each request, with the clock of the server.
 * If Redis is unreachable or slower than the deadline, this machine uses local buckets and tries Redis again a second later,
 * so that Redis cannot stop the service.
 */
import type { Redis } from "ioredis";
import type { RateLimit } from "#platform/config/setting-readers.ts";
import type { Log } from "#platform/log/log.ts";
import { TOKEN, type TokenBuckets } from "./token-buckets.ts";

const DEADLINE_MS = 100;
const CONNECT_MS = 2_000;
/** Pause after a failure, so that a frozen Redis does not delay every request by the deadline. */
const PAUSE_MS = 1_000;
const KEY_PREFIX = "posthaste:rate:";

/** Keys expire when their bucket is full. Milliseconds times tokens per second are thousandths of a token. */
const TAKE = `
local rate, capacity = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local level = capacity
local bucket = redis.call('HMGET', KEYS[1], 'level', 'at')
if bucket[1] then
  level = math.min(capacity, bucket[1] + math.max(0, now - bucket[2]) * rate)
end
local left = level - ${TOKEN}
if left >= 0 then
  redis.call('HSET', KEYS[1], 'level', left, 'at', now)
  redis.call('PEXPIRE', KEYS[1], math.ceil((capacity - left) / rate))
end
return math.floor(left)`;

/** `local` is used while Redis is unreachable. The first request loads and connects the client. */
export function redisBuckets(options: {
  readonly url: URL;
  readonly limit: RateLimit;
  readonly local: TokenBuckets;
  readonly monotonicMs: () => number;
  readonly log: Log;
}): TokenBuckets {
  const { limit, local, monotonicMs, log } = options;
  const capacity = limit.burst * TOKEN;
  let connection: Promise<Redis> | undefined;
  let redis: Redis | undefined;
  let isAway = false;
  let askAgainAt = 0;

  const fallBack = (error: unknown): void => {
    askAgainAt = monotonicMs() + PAUSE_MS;
    if (!isAway)
      log.warn({ err: error }, "Redis is unreachable: the rate limit is counted on this machine only");
    isAway = true;
  };
  const connect = async (): Promise<Redis> => {
    const { Redis } = await import("ioredis");
    redis = new Redis(options.url.href, {
      commandTimeout: DEADLINE_MS,
      connectTimeout: CONNECT_MS,
      maxRetriesPerRequest: 0,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
    });
    return redis.on("error", fallBack);
  };

  return {
    async take(source) {
      connection ??= connect();
      if (redis?.status !== "ready" || monotonicMs() < askAgainAt) return local.take(source);
      try {
        const left = await redis.eval(TAKE, 1, KEY_PREFIX + source, limit.perSecond, capacity);
        if (isAway) log.info("Redis is reachable: the rate limit is shared again");
        isAway = false;
        return Number(left);
      } catch (error) {
        fallBack(error);
        return local.take(source);
      }
    },
    async close() {
      (await connection)?.disconnect();
    },
  };
}
