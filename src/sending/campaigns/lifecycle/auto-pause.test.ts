import { expect, test } from "vitest";
import { readConfig } from "#platform/config/config.ts";
import { autoPauseLimitsOf, autoPauseReason, standardLimits } from "./auto-pause.ts";

const tally = (change: object) => ({
  sent: 1_000,
  hard_bounced: 0,
  complained: 0,
  failures_in_a_row: 0,
  ...change,
});

test("unless the operator says otherwise the limits are the standard ones", () => {
  expect(autoPauseLimitsOf(readConfig({}))).toEqual(standardLimits);
});

test.each([
  [{ hard_bounced: 101 }, "bounce_rate"],
  [{ hard_bounced: 100 }, null],
  [{ sent: 499, hard_bounced: 499, complained: 499 }, null],
  [{ complained: 6 }, "complaint_rate"],
  [{ complained: 5 }, null],
  [{ sent: 50, failures_in_a_row: 50 }, "delivery_failures"],
  [{ sent: 50, failures_in_a_row: 49 }, null],
] as const)("%j stops by the standard limits for %s", (change, reason) => {
  expect(autoPauseReason(tally(change))).toBe(reason);
});

test("the operator's limits are what stops", () => {
  const limits = autoPauseLimitsOf(
    readConfig({
      BRAKE_ATTEMPTS: "100",
      BRAKE_BOUNCE_PERCENT: "2.5",
      BRAKE_COMPLAINT_PERCENT: "100",
      BRAKE_FAILURES: "3",
    }),
  );
  expect(autoPauseReason(tally({ sent: 200, hard_bounced: 6 }), limits)).toBe("bounce_rate");
  expect(autoPauseReason(tally({ sent: 200, hard_bounced: 5, complained: 200 }), limits)).toBeNull();
  expect(autoPauseReason(tally({ sent: 99, hard_bounced: 99 }), limits)).toBeNull();
  expect(autoPauseReason(tally({ sent: 3, failures_in_a_row: 3 }), limits)).toBe("delivery_failures");
});

test.each(["0", "101", "-1", "a tenth", "1e1", ""])("a share of %j is refused, or the default", (text) => {
  const read = () => readConfig({ BRAKE_BOUNCE_PERCENT: text }).BRAKE_BOUNCE_PERCENT;
  if (text === "") expect(read()).toBe(10);
  else expect(read).toThrow("BRAKE_BOUNCE_PERCENT must be a percentage");
});
