import { describe, expect, it } from "vitest";
import { ApiError } from "#platform/errors.ts";
import { createLog } from "#platform/log/log.ts";
import { createRateLimiter } from "./rate-limit.ts";
import { networkOf } from "./source-network.ts";

const log = createLog("silent");
const address = "192.0.2.1";

function limiterAt(limit: { perSecond: number; burst: number }, monotonicMs = () => 0) {
  return createRateLimiter({ limit, redisUrl: null, monotonicMs, log });
}

async function refusalOf(call: Promise<unknown>): Promise<ApiError> {
  const thrown = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(thrown instanceof ApiError)) throw new Error("was not refused");
  return thrown;
}

describe("the rate limiter", () => {
  it("gives an admitted caller the limit, what is left and when the bucket is full", async () => {
    const limiter = limiterAt({ perSecond: 2, burst: 5 });
    expect(await limiter.take(address)).toEqual({
      "RateLimit-Limit": "5",
      "RateLimit-Remaining": "4",
      "RateLimit-Reset": "1",
    });
    await limiter.take(address);
    expect(await limiter.take(address)).toMatchObject({ "RateLimit-Remaining": "2", "RateLimit-Reset": "2" });
  });

  it("refuses with all four headers when the bucket is empty, and admits after Retry-After", async () => {
    let now = 0;
    const limiter = limiterAt({ perSecond: 1, burst: 3 }, () => now);
    for (let taken = 0; taken < 3; taken += 1) await limiter.take(address);
    const refusal = await refusalOf(limiter.take(address));
    expect(refusal.code).toBe("RATE_LIMIT_EXCEEDED");
    expect(refusal.headers).toEqual({
      "RateLimit-Limit": "3",
      "RateLimit-Remaining": "0",
      "RateLimit-Reset": "3",
      "Retry-After": "1",
    });
    now += Number(refusal.headers["Retry-After"]) * 1000;
    expect(await limiter.take(address)).toMatchObject({ "RateLimit-Remaining": "0" });
  });

  it("counts all addresses of one IPv6 /64 together and IPv4-mapped ones as IPv4", async () => {
    const limiter = limiterAt({ perSecond: 1, burst: 1 });
    await limiter.take(networkOf("2001:db8::1"));
    await refusalOf(limiter.take(networkOf("2001:db8::dead:beef")));
    await limiter.take(networkOf("2001:db8:0:1::1"));
    await limiter.take(networkOf("::ffff:192.0.2.9"));
    await refusalOf(limiter.take(networkOf("192.0.2.9")));
  });

  it("reuses its header objects", async () => {
    let now = 0;
    const limiter = limiterAt({ perSecond: 1, burst: 2 }, () => now);
    const first = await limiter.take(address);
    now += 10_000;
    expect(await limiter.take(address)).toBe(first);
  });

  it("lets everything through without headers when it is off", async () => {
    const limiter = createRateLimiter({ limit: null, redisUrl: null, monotonicMs: () => 0, log });
    for (let taken = 0; taken < 500; taken += 1) expect(await limiter.take(address)).toEqual({});
  });
});
