import { expect, test } from "vitest";
import { bulkCeilingOf, ceilingOf, dayOf, onDay, untilTomorrow } from "./schedule.ts";

const startedAt = new Date("2026-03-01T10:00:00Z");
const first = onDay(undefined, startedAt, "2026-03-01");
const sentOn = (sent: number, deferred = 0) => ({ ...first, reserved: sent, sent, deferred });

test("the quota grows from 50 to 100,000 in sixteen days with mail, and then by half each day", () => {
  const days = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17];
  expect(days.map(ceilingOf)).toEqual([
    50, 100, 250, 500, 1_000, 2_500, 5_000, 7_500, 10_000, 15_000, 20_000, 30_000, 40_000, 55_000, 70_000,
    100_000, 150_000, 225_000,
  ]);
  expect(ceilingOf(10_000)).toBe(1_000_000_000);
});

test("a tenth of each day's quota is reserved for transactional mail", () => {
  expect([bulkCeilingOf(0), bulkCeilingOf(1), bulkCeilingOf(15)]).toEqual([45, 90, 90_000]);
});

test("a warm-up begins at step 0, and keeps its counts within a day", () => {
  expect(first).toMatchObject({ day: "2026-03-01", step: 0, reserved: 0, sent: 0, deferred: 0 });
  expect(onDay(sentOn(20), startedAt, "2026-03-01")).toEqual(sentOn(20));
});

test("after a day with mail the next day has the next step and fresh counts", () => {
  expect(onDay(sentOn(50), startedAt, "2026-03-02")).toMatchObject({ step: 1, reserved: 0, sent: 0 });
});

test.each([
  ["nothing was sent", sentOn(0), "2026-03-02"],
  ["more than 5 % were put off for our reputation", sentOn(50, 3), "2026-03-02"],
])("a day repeats its step when %s", (_, before, day) => {
  expect(onDay(before, startedAt, day)).toMatchObject({ day, step: 0 });
});

test("5 % of deferred mail do not repeat the step", () => {
  expect(onDay(sentOn(40, 2), startedAt, "2026-03-02")).toMatchObject({ step: 1 });
});

test("thirty days without mail keep the step, one more restarts the schedule", () => {
  const far = { ...sentOn(100), step: 7 };
  expect(onDay(far, startedAt, "2026-03-31")).toMatchObject({ step: 8 });
  expect(onDay(far, startedAt, "2026-04-01")).toMatchObject({ step: 0 });
});

test("a warm-up that was restarted begins at step 0", () => {
  const before = { ...sentOn(50), step: 4 };
  expect(onDay(before, new Date("2026-03-01T12:00:00Z"), "2026-03-01")).toMatchObject({ step: 0, sent: 0 });
});

test("a clock that is a day behind changes nothing", () => {
  expect(onDay(sentOn(9), startedAt, "2026-02-28")).toEqual(sentOn(9));
});

test("days are UTC", () => {
  const time = new Date("2026-03-01T23:30:00+02:00");
  expect(dayOf(time)).toBe("2026-03-01");
  expect(untilTomorrow(time)).toBe(2.5 * 3_600_000);
});
