import { describe, expect, test } from "vitest";
import { HOUR_MS, MINUTE_MS } from "#platform/time-units.ts";
import { nextAttemptAt, type RetryQuestion } from "./retry-schedule.ts";

const acceptedAt = new Date("2026-11-20T12:00:00Z");

const at = (ms: number) => new Date(acceptedAt.getTime() + ms);
const ask = (question: Partial<RetryQuestion>) =>
  nextAttemptAt({ attempts: 1, now: acceptedAt, expiresAt: at(72 * HOUR_MS), random: 0.5, ...question });
const minutesUntil = (answer: Date | "expired", now = acceptedAt) =>
  answer === "expired" ? answer : (answer.getTime() - now.getTime()) / MINUTE_MS;

describe("the retry schedule", () => {
  test("waits grow from five minutes to a day", () => {
    const waits = Array.from({ length: 14 }, (_, index) => minutesUntil(ask({ attempts: index + 1 })));
    expect(waits).toEqual([5, 10, 20, 40, 80, 120, 240, 360, 480, 720, 720, 1_440, 1_440, 1_440]);
  });

  test("jitter is 15 % in both directions", () => {
    expect(minutesUntil(ask({ attempts: 2, random: 0 }))).toBeCloseTo(8.5);
    expect(minutesUntil(ask({ attempts: 2, random: 1 }))).toBeCloseTo(11.5);
  });

  test("a wait that the receiver asked for is obeyed, and never shortened", () => {
    expect(minutesUntil(ask({ attempts: 5, waitSeconds: 300, random: 0 }))).toBe(5);
    expect(minutesUntil(ask({ attempts: 1, waitSeconds: 3_600, random: 1 }))).toBeCloseTo(69);
  });

  test("a wait that the receiver asked for is at least a minute and at most a day", () => {
    expect(minutesUntil(ask({ waitSeconds: 0, random: 0 }))).toBe(1);
    expect(minutesUntil(ask({ waitSeconds: 1e9, random: 0 }))).toBe(24 * 60);
  });

  test("a wait beyond the expiry becomes one last attempt before it", () => {
    const now = at(71 * HOUR_MS);
    expect(minutesUntil(ask({ attempts: 12, now, random: 0 }), now)).toBe(60);
    expect(minutesUntil(ask({ attempts: 12, now, random: 1 }), now)).toBeCloseTo(51);
  });

  test("an expired message fails", () => {
    expect(ask({ attempts: 13, now: at(72 * HOUR_MS) })).toBe("expired");
    expect(ask({ attempts: 13, now: at(72 * HOUR_MS - 1) })).toBe("expired");
    expect(ask({ attempts: 99, now: at(200 * HOUR_MS) })).toBe("expired");
    expect(ask({ attempts: 1, now: at(HOUR_MS), expiresAt: at(HOUR_MS) })).toBe("expired");
    expect(ask({ attempts: 1, now: at(HOUR_MS), expiresAt: at(2 * HOUR_MS) })).not.toBe("expired");
  });

  test.each([0, 0.25, 0.5, 0.75, 0.999])("every message ends within 72 hours (random %d)", (random) => {
    let now = acceptedAt;
    let attempts = 1;
    for (let next = ask({ random }); next !== "expired"; next = ask({ attempts, now, random })) {
      expect(next.getTime()).toBeGreaterThan(now.getTime());
      now = next;
      attempts += 1;
    }
    expect(now.getTime()).toBeLessThanOrEqual(at(72 * HOUR_MS).getTime());
    expect(now.getTime()).toBeGreaterThan(at(70 * HOUR_MS).getTime());
    expect(attempts).toBeLessThan(40);
  });
});
