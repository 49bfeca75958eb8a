import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { defaultLane, type Lane } from "./default-lanes.ts";
import { laneFor, mergeLanes } from "./lanes-by-mx-host.ts";
import { FIRST_SHARE, LANE_SHARE, LaneThrottle } from "./throttle.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const throttleOf = (change: Partial<Lane> = {}) => new LaneThrottle({ ...defaultLane, ...change });
const refused = (code: number, text: string) =>
  ({ outcome: "refused", stage: "rcpt", code, enhanced: null, text }) as const;

test("messages are spaced evenly, and late ones may catch up by a tenth of a second", () => {
  const throttle = throttleOf({ messages_per_second: 100 });
  let sent = 0;
  for (let ms = 0; ms < 1_000; ms += 5) {
    for (; throttle.untilMessage() === 0; sent += 1) throttle.takeMessage();
    vi.advanceTimersByTime(5);
  }
  expect(sent).toBeGreaterThanOrEqual(100);
  expect(sent).toBeLessThanOrEqual(112);
});

test("a lane without limits never waits", () => {
  const throttle = throttleOf({ messages_per_second: null, connections_per_minute: null, connections: null });
  for (let n = 0; n < 10_000; n++) throttle.takeMessage();
  expect([throttle.untilMessage(), throttle.untilConnection()]).toEqual([0, 0]);
});

test("the share of a lane grows with the messages it attempts, and shrinks again without them", () => {
  const throttle = throttleOf({ messages_per_second: null });
  const taken = { outcome: "accepted", code: 250, enhanced: null, text: "ok" } as const;
  expect(throttle.share).toBe(FIRST_SHARE);
  for (let n = 0; n < 200; n++) throttle.attempted(taken);
  expect(throttle.share).toBe(400);
  for (let n = 0; n < 2_000; n++) throttle.attempted(taken);
  expect(throttle.share).toBe(LANE_SHARE);
  vi.advanceTimersByTime(5_000);
  expect(throttle.share).toBe(LANE_SHARE);
  vi.advanceTimersByTime(5_000);
  expect(throttle.share).toBe(FIRST_SHARE);
});

test("the pause is the time that the reply names, else the lane's time for its text, else a minute", () => {
  const yahoo = laneFor(["mta5.am0.yahoodns.net"], mergeLanes(null));
  const pauseAfter = (text: string, lane: Partial<Lane> = {}) => {
    const throttle = throttleOf(lane);
    throttle.attempted(refused(421, text));
    return throttle.pauseLeft / 1_000;
  };
  expect(pauseAfter("4.7.0 Too busy, try again in 5 minutes")).toBe(300);
  expect(pauseAfter("4.7.0 Too busy")).toBe(60);
  expect(pauseAfter("4.7.0 [TSS04] Messages temporarily deferred", yahoo)).toBe(7_200);
  expect(pauseAfter("RL000010 later", { suspensions: [{ words: "RL000010", seconds: 300 }] })).toBe(300);
  expect(pauseAfter("4.2.2 Mailbox full")).toBe(0);
});

test("a permanent refusal does not pause the lane", () => {
  const throttle = throttleOf({ suspensions: [{ words: "blocked", seconds: 300 }] });
  throttle.attempted(refused(550, "5.7.1 blocked"));
  expect(throttle.pauseLeft).toBe(0);
});

test("after a deferral for reputation the lane has one connection and one message a minute for 90 minutes", () => {
  const throttle = throttleOf();
  throttle.attempted(
    refused(451, "4.7.650 The mail server has been temporarily rate limited due to IP reputation"),
  );
  throttle.attempted(refused(451, "4.7.600 Your IP has a poor reputation"));
  vi.advanceTimersByTime(60_000);
  expect(throttle).toMatchObject({ pauseLeft: 0, connections: 1, share: 1, isFresh: false });
  expect(throttle.wait).toMatchObject({
    reason: "reputation",
    detail: "451 4.7.600 Your IP has a poor reputation",
  });
  throttle.takeMessage();
  expect(throttle.untilMessage()).toBeGreaterThan(50_000);
  vi.advanceTimersByTime(90 * 60_000);
  expect(throttle).toMatchObject({ connections: 10, share: FIRST_SHARE, isFresh: true });
  expect(throttle.untilMessage()).toBe(0);
});

test("after another pause, the wait for reputation is still explained by the reply about reputation", () => {
  const throttle = throttleOf({ failures_before_rest: 1 });
  throttle.attempted(refused(451, "4.7.600 Your IP has a poor reputation"));
  throttle.connected(false);
  expect(throttle.wait).toMatchObject({ reason: "connections_failed", detail: null });
  vi.advanceTimersByTime(120_000);
  expect(throttle.wait).toMatchObject({
    reason: "reputation",
    detail: "451 4.7.600 Your IP has a poor reputation",
  });
});

test("an opened connection resets the count of failures", () => {
  const throttle = throttleOf({ failures_before_rest: 2 });
  for (const hasSucceeded of [false, true, false]) throttle.connected(hasSucceeded);
  expect(throttle.pauseLeft).toBe(0);
  throttle.connected(false);
  expect(throttle.pauseLeft).toBe(120_000);
});

test.each([
  ["break", { outcome: "broken", stage: "dot", fault: "closed", reason: "gone", dataSent: true } as const],
  ["end with a 421", refused(421, "4.3.2 Not now")],
])(
  "a lane pauses after twenty conversations in a row that %s, and any other reply resets the count",
  (_, broken) => {
    const throttle = throttleOf();
    for (let n = 0; n < 19; n++) throttle.attempted(broken);
    throttle.attempted(refused(550, "5.1.1 No such user"));
    for (let n = 0; n < 19; n++) throttle.attempted(broken);
    expect(throttle.pauseLeft).toBe(0);
    throttle.attempted(broken);
    expect(throttle.pauseLeft).toBe(120_000);
  },
);

test("messages beyond the share come back at the lane's rate, within ten minutes", () => {
  const throttle = throttleOf({ messages_per_second: 1 });
  const waits = Array.from({ length: 1_000 }, () => throttle.returnIn() / 1_000);
  expect(waits.slice(0, 3)).toEqual([6, 7, 8]);
  expect(waits.at(-1)).toBe(600);
});
