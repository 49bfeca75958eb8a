import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { localBuckets } from "./token-buckets.ts";

/** A clock in milliseconds that only moves when told to. */
function steppedClock() {
  let now = 0;
  return {
    read: () => now,
    advance: (milliseconds: number) => {
      now += milliseconds;
    },
  };
}

const limits = fc
  .record({ perSecond: fc.integer({ min: 1, max: 1_000 }), spare: fc.integer({ min: 0, max: 400 }) })
  .map(({ perSecond, spare }) => ({ perSecond, burst: perSecond + spare }));

describe("token buckets", () => {
  it("admit exactly the burst from a full bucket, whatever the limit and the moment", () => {
    fc.assert(
      fc.property(limits, fc.double({ min: 0, max: 1e10, noNaN: true }), (limit, moment) => {
        const buckets = localBuckets(limit, () => moment);
        const admitted = Array.from({ length: limit.burst + 50 }, () => buckets.take("a") >= 0);
        expect(admitted.filter(Boolean)).toHaveLength(limit.burst);
        expect(admitted.lastIndexOf(true)).toBe(limit.burst - 1);
      }),
      { numRuns: 50 },
    );
  });

  it("never admit more than burst + rate · t in any window, and all of it when asked often enough", () => {
    const steps = fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(
        limits.filter(({ burst }) => burst < 50),
        steps,
        (limit, pauses) => {
          const clock = steppedClock();
          const buckets = localBuckets(limit, clock.read);
          const admittedAt: number[] = [];
          for (const pause of pauses) {
            clock.advance(pause);
            if (buckets.take("a") >= 0) admittedAt.push(clock.read());
          }
          for (const [first, from] of admittedAt.entries()) {
            for (let last = first; last < admittedAt.length; last += 1) {
              const seconds = ((admittedAt[last] ?? from) - from) / 1000;
              expect(last - first + 1).toBeLessThanOrEqual(limit.burst + limit.perSecond * seconds);
            }
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it("refill at the rate, one token at a time", () => {
    const clock = steppedClock();
    const buckets = localBuckets({ perSecond: 4, burst: 4 }, clock.read);
    for (let taken = 0; taken < 4; taken += 1) expect(buckets.take("a")).toBe(3000 - taken * 1000);
    expect(buckets.take("a")).toBe(-1000);
    clock.advance(249);
    expect(buckets.take("a")).toBe(-4);
    clock.advance(1);
    expect(buckets.take("a")).toBe(0);
    expect(buckets.take("a")).toBe(-1000);
  });

  it("never hold more than the burst, however long they were unused", () => {
    const clock = steppedClock();
    const buckets = localBuckets({ perSecond: 1, burst: 2 }, clock.read);
    buckets.take("a");
    clock.advance(3_600_000);
    expect([1, 2, 3].map(() => buckets.take("a") >= 0)).toEqual([true, true, false]);
  });

  it("keep sources apart", () => {
    const buckets = localBuckets({ perSecond: 1, burst: 1 }, () => 0);
    expect(buckets.take("a")).toBe(0);
    expect(buckets.take("b")).toBe(0);
    expect(buckets.take("a")).toBeLessThan(0);
  });

  it("stay bounded under a flood of a million addresses, and keep the bucket of a caller during it", () => {
    const clock = steppedClock();
    const buckets = localBuckets({ perSecond: 1, burst: 2 }, clock.read, 1_000);
    let admitted = 0;
    for (let address = 0; address < 1_000_000; address += 1) {
      buckets.take(`10.${address}`);
      if (address % 100 === 0 && buckets.take("abuser") >= 0) admitted += 1;
    }
    expect(buckets.size).toBeLessThanOrEqual(1_000);
    expect(admitted).toBe(2);
  });

  it("forget buckets that are full again", () => {
    const clock = steppedClock();
    const buckets = localBuckets({ perSecond: 10, burst: 20 }, clock.read);
    for (let address = 0; address < 500; address += 1) buckets.take(`10.0.${address}`);
    for (let turn = 0; turn < 2; turn += 1) {
      clock.advance(2_000);
      buckets.take("a");
    }
    expect(buckets.size).toBe(2);
  });

  it("change generations without adding a token", () => {
    const clock = steppedClock();
    const buckets = localBuckets({ perSecond: 1, burst: 10 }, clock.read);
    for (let taken = 0; taken < 10; taken += 1) buckets.take("a");
    let admitted = 0;
    for (let second = 0; second < 60; second += 1) {
      clock.advance(500);
      if (buckets.take("a") >= 0) admitted += 1;
    }
    expect(admitted).toBe(30);
  });
});
