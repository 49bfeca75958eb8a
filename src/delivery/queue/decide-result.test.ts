import { describe, expect, test } from "vitest";
import type { LeasedMessage } from "#delivery/message/message.ts";
import { declined } from "#delivery/sms/gateway.ts";
import { leased } from "#test/support/transport-recorder.ts";
import { backOff, releaseLease, requeue, resultOfSmtp } from "./decide-result.ts";
import { resultOfSms } from "./result-of-ending.ts";

const now = new Date("2026-11-24T12:00:00Z");
const inSeconds = (seconds: number) => new Date(now.getTime() + seconds * 1_000);
const message = (attempts: number, secondsLeft: number) => ({
  ...leased("ann"),
  attempts,
  expires_at: inSeconds(secondsLeft),
});

describe("requeue without an attempt", () => {
  test("the message waits, without an attempt and without an event", () => {
    const { outcome, settlement } = requeue(message(2, 3_600), now, 60);
    expect([outcome, settlement.attempts, settlement.dueAt]).toEqual([null, 2, inSeconds(60)]);
  });

  test("the wait ends at the message's expiry, and then it fails", () => {
    expect(requeue(message(2, 30), now, 60).settlement.dueAt).toEqual(inSeconds(30));
    const { outcome, settlement } = requeue(message(2, 0), now, 60);
    expect(outcome).toMatchObject({ status: "failed", attempts: 2, enhancedCode: "4.4.7" });
    expect(settlement.dueAt).toBeNull();
  });

  test("an expired message without an attempt does not fail", () => {
    const { outcome, settlement } = requeue(message(0, -3_600), now, 60);
    expect([outcome, settlement.dueAt]).toEqual([null, inSeconds(60)]);
  });
});

describe("a message whose look-up our own DNS servers do not answer", () => {
  const result = {
    outcome: "unroutable",
    status: "deferred",
    enhanced: "4.4.3",
    reason: "ETIMEOUT",
  } as const;
  const concluded = (attempts: number, waitedSeconds: number, secondsLeft = 86_400) => {
    const created_at = inSeconds(-waitedSeconds);
    const one = { ...message(attempts, secondsLeft), created_at };
    return resultOfSmtp(one, { result: { ...result, isUnanswered: true }, mxHost: null }, now, 0);
  };

  test("counts an attempt if the servers answered other look-ups meanwhile", () => {
    const silent = { ...result, isUnanswered: true, othersAnswered: true } as const;
    const { outcome, settlement } = resultOfSmtp(
      message(0, 86_400),
      { result: silent, mxHost: null },
      now,
      0,
    );
    expect(outcome).toMatchObject({ status: "deferred", attempts: 1, enhancedCode: "4.4.3" });
    expect(settlement.attempts).toBe(1);
  });

  test.each([
    [0, 60, 300],
    [2, 8_000, 2_000],
    // A campaign that was paused for four days.
    [0, 345_600, 3_600],
  ])(
    "is deferred without an attempt, for a quarter of its age, an hour at most",
    (attempts, waited, seconds) => {
      const { outcome, settlement } = concluded(attempts, waited);
      expect(outcome).toMatchObject({
        status: "deferred",
        attempts,
        enhancedCode: "4.4.3",
        detail: "ETIMEOUT",
      });
      expect([settlement.attempts, settlement.dueAt]).toEqual([attempts, inSeconds(seconds)]);
    },
  );

  test("fails when it has expired", () => {
    expect(concluded(0, 86_400, 10).outcome).toMatchObject({ status: "failed", attempts: 0 });
  });

  test("counts an attempt if a server answered that the look-up fails", () => {
    const { outcome } = resultOfSmtp(message(0, 86_400), { result, mxHost: null }, now, 0);
    expect(outcome).toMatchObject({ status: "deferred", attempts: 1 });
  });
});

describe.each([
  [
    "a mail",
    (message: LeasedMessage) => {
      const result = { outcome: "broken", fault: "unreachable", reason: "nobody", stage: "connect" } as const;
      return resultOfSmtp(message, { result: { ...result, dataSent: false }, mxHost: "mx.test" }, now, 0.5);
    },
  ],
  [
    "an SMS",
    (message: LeasedMessage) =>
      resultOfSms(
        message,
        { result: declined("nobody", true), gateway: { name: "gateway", host: "mx.test" } },
        now,
        0.5,
      ),
  ],
])("%s whose host is cooling down after another message failed", (_, whyOf) => {
  const turnedAway = (attempts: number, secondsLeft: number) => {
    const one = message(attempts, secondsLeft);
    return backOff(one, now, whyOf(one), 60);
  };

  test("records why, the first time", () => {
    const { outcome, settlement } = turnedAway(0, 3_600);
    expect(outcome).toMatchObject({ status: "deferred", mxHost: "mx.test" });
    expect(settlement.dueAt).toEqual(outcome?.nextAttemptAt);
  });

  test("is requeued without an event once it was deferred", () => {
    const { outcome, settlement } = turnedAway(1, 3_600);
    expect([outcome, settlement.attempts, settlement.dueAt]).toEqual([null, 1, inSeconds(60)]);
  });

  test.each([59, -3_600])("keeps its first attempt, %s seconds before its expiry", (secondsLeft) => {
    const { outcome, settlement } = turnedAway(0, secondsLeft);
    expect([outcome, settlement.attempts, settlement.dueAt]).toEqual([null, 0, inSeconds(60)]);
  });
});

test.each([0, 2])("an expired message that is released is due at once and has not failed", (attempts) => {
  const { outcome, settlement } = releaseLease(message(attempts, -3_600), now);
  expect([outcome, settlement.dueAt, settlement.attempts]).toEqual([null, now, attempts]);
});
