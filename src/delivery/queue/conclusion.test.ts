import { describe, expect, test } from "vitest";
import { leased } from "../../../test/support/transport-recorder.ts";
import { handBack, postpone } from "./conclusion.ts";

const now = new Date("2026-11-24T12:00:00Z");
const inSeconds = (seconds: number) => new Date(now.getTime() + seconds * 1_000);
const message = (attempts: number, secondsLeft: number) => ({
  ...leased("ann"),
  attempts,
  expires_at: inSeconds(secondsLeft),
});

describe("a message that cannot be sent for some time", () => {
  test("waits, without an attempt and without news", () => {
    const { outcome, settlement } = postpone(message(2, 3_600), now, 60);
    expect([outcome, settlement.attempts, settlement.dueAt]).toEqual([null, 2, inSeconds(60)]);
  });

  test("waits no longer than it lives, and then fails", () => {
    expect(postpone(message(2, 30), now, 60).settlement.dueAt).toEqual(inSeconds(30));
    const { outcome, settlement } = postpone(message(2, 0), now, 60);
    expect(outcome).toMatchObject({ status: "failed", attempts: 2, enhancedCode: "4.4.7" });
    expect(settlement.dueAt).toBeNull();
  });

  test("does not fail before anybody was asked to take it, however late it is", () => {
    const { outcome, settlement } = postpone(message(0, -3_600), now, 60);
    expect([outcome, settlement.dueAt]).toEqual([null, inSeconds(60)]);
  });
});

test.each([0, 2])(
  "a message that is handed back past its time is due at once and has not failed",
  (attempts) => {
    const { outcome, settlement } = handBack(message(attempts, -3_600), now);
    expect([outcome, settlement.dueAt, settlement.attempts]).toEqual([null, now, attempts]);
  },
);
