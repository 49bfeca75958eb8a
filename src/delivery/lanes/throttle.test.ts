import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { defaultLane, type Lane } from "./default-lanes.ts";
import { laneFor, mergeLanes } from "./lanes.ts";
import { FIRST_SHARE, LANE_SHARE, LanePace } from "./throttle.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const paceOf = (change: Partial<Lane> = {}) => new LanePace({ ...defaultLane, ...change });
const refused = (code: number, text: string) =>
  ({ outcome: "refused", stage: "rcpt", code, enhanced: null, text }) as const;

test("messages are spread evenly; what is late may catch up on a tenth of a second", () => {
  const pace = paceOf({ messages_per_second: 100 });
  let sent = 0;
  for (let ms = 0; ms < 1_000; ms += 5) {
    for (; pace.untilMessage() === 0; sent += 1) pace.takeMessage();
    vi.advanceTimersByTime(5);
  }
  expect(sent).toBeGreaterThanOrEqual(100);
  expect(sent).toBeLessThanOrEqual(112);
});

test("a lane without limits never waits", () => {
  const pace = paceOf({ messages_per_second: null, connections_per_minute: null, connections: null });
  for (let n = 0; n < 10_000; n++) pace.takeMessage();
  expect([pace.untilMessage(), pace.untilConnection()]).toEqual([0, 0]);
});

test("a lane holds little before it has shown what it carries, and little again when it carries no more", () => {
  const pace = paceOf({ messages_per_second: null });
  const taken = { outcome: "accepted", code: 250, enhanced: null, text: "ok" } as const;
  expect(pace.share).toBe(FIRST_SHARE);
  for (let n = 0; n < 200; n++) pace.heed(taken);
  expect(pace.share).toBe(400);
  for (let n = 0; n < 2_000; n++) pace.heed(taken);
  expect(pace.share).toBe(LANE_SHARE);
  vi.advanceTimersByTime(5_000);
  expect(pace.share).toBe(LANE_SHARE);
  vi.advanceTimersByTime(5_000);
  expect(pace.share).toBe(FIRST_SHARE);
});

test("the pause is what the reply names, else what the lane has for these words, else a minute", () => {
  const yahoo = laneFor(["mta5.am0.yahoodns.net"], mergeLanes(null));
  const pauseAfter = (text: string, lane: Partial<Lane> = {}) => {
    const pace = paceOf(lane);
    pace.heed(refused(421, text));
    return pace.pauseLeft / 1_000;
  };
  expect(pauseAfter("4.7.0 Too busy, try again in 5 minutes")).toBe(300);
  expect(pauseAfter("4.7.0 Too busy")).toBe(60);
  expect(pauseAfter("4.7.0 [TSS04] Messages temporarily deferred", yahoo)).toBe(7_200);
  expect(pauseAfter("RL000010 later", { suspensions: [{ words: "RL000010", seconds: 300 }] })).toBe(300);
  expect(pauseAfter("4.2.2 Mailbox full")).toBe(0);
});

test("a refusal for good pauses nothing", () => {
  const pace = paceOf({ suspensions: [{ words: "blocked", seconds: 300 }] });
  pace.heed(refused(550, "5.7.1 blocked"));
  expect(pace.pauseLeft).toBe(0);
});

test("after a deferral about our reputation the lane is wary for 90 minutes", () => {
  const pace = paceOf();
  pace.heed(refused(451, "4.7.650 The mail server has been temporarily rate limited due to IP reputation"));
  pace.heed(refused(451, "4.7.600 Your IP has a poor reputation"));
  vi.advanceTimersByTime(60_000);
  expect(pace).toMatchObject({ pauseLeft: 0, connections: 1, share: 1, isUsual: false });
  pace.takeMessage();
  expect(pace.untilMessage()).toBeGreaterThan(50_000);
  vi.advanceTimersByTime(90 * 60_000);
  expect(pace).toMatchObject({ connections: 10, share: FIRST_SHARE, isUsual: true });
  expect(pace.untilMessage()).toBe(0);
});

test("a connection that comes about ends the row of failures", () => {
  const pace = paceOf({ failures_before_rest: 2 });
  for (const hasSucceeded of [false, true, false]) pace.opened(hasSucceeded);
  expect(pace.pauseLeft).toBe(0);
  pace.opened(false);
  expect(pace.pauseLeft).toBe(120_000);
});

test.each([
  ["break", { outcome: "broken", stage: "dot", fault: "closed", reason: "gone", dataSent: true } as const],
  ["end with a 421", refused(421, "4.3.2 Not now")],
])("a lane where twenty conversations %s in a row rests; any other answer ends the row", (_, broken) => {
  const pace = paceOf();
  for (let n = 0; n < 19; n++) pace.heed(broken);
  pace.heed(refused(550, "5.1.1 No such user"));
  for (let n = 0; n < 19; n++) pace.heed(broken);
  expect(pace.pauseLeft).toBe(0);
  pace.heed(broken);
  expect(pace.pauseLeft).toBe(120_000);
});

test("what goes back comes again at the lane's pace, within some minutes", () => {
  const pace = paceOf({ messages_per_second: 1 });
  const waits = Array.from({ length: 1_000 }, () => pace.returnIn() / 1_000);
  expect(waits.slice(0, 3)).toEqual([6, 7, 8]);
  expect(waits.at(-1)).toBe(600);
});
