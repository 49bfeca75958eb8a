import { expect, test } from "vitest";
import type { PostResult } from "#webhooks/post-to-receiver.ts";
import { ReceiverPace } from "./receiver-pace.ts";

const ATTEMPT_MS = 10_000;
const noAnswer: PostResult = {
  isDelivered: false,
  statusCode: null,
  error: "no answer",
  durationMs: ATTEMPT_MS,
  answer: null,
};
const lateAnswer: PostResult = { ...noAnswer, isDelivered: true, statusCode: 204, error: null };

test.each([
  ["silent", "mostOfSilent", noAnswer],
  ["slow", "mostOfSlow", lateAnswer],
] as const)(
  "two thousand %s receivers are all known until each has had its next attempt",
  async (kind, most, result) => {
    let now = 0;
    const pace = new ReceiverPace(() => now);
    const receivers = Array.from({ length: 2_000 }, (_, number) => `receiver ${number}`);
    for (const receiver of receivers) await pace.during(receiver, async () => result);
    // The lease chooses by chance, so that the last turn of some comes late.
    now += 3 * (receivers.length / pace.limits[most]) * ATTEMPT_MS;
    expect(pace.limits[kind]).toHaveLength(receivers.length);
    now += 60 * 60_000;
    expect(pace.limits[kind]).toEqual([]);
  },
);

test("a receiver that answers quickly again is known no more", async () => {
  const pace = new ReceiverPace();
  await pace.during("a", async () => noAnswer);
  await pace.during("a", async () => lateAnswer);
  expect([pace.limits.silent, pace.limits.slow]).toEqual([[], ["a"]]);
  await pace.during("a", async () => ({ ...lateAnswer, durationMs: 100 }));
  expect(pace.limits.slow).toEqual([]);
});
