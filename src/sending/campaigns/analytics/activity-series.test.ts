import { expect, test } from "vitest";
import { activitySeries } from "./activity-series.ts";

const nothing = { sent: 0, opens: 0, clicks: 0, unsubscribes: 0, complaints: 0 };
const hour = (time: string, news: Partial<typeof nothing>) => ({ hour: new Date(time), ...nothing, ...news });
const sentAt = new Date("2027-01-31T09:40:00Z");

test("sums up hour by hour from the one of the dispatch, with those in which nothing happened", () => {
  const series = activitySeries(sentAt, [
    hour("2027-01-31T09:00:00Z", { sent: 5, opens: 1 }),
    hour("2027-01-31T11:00:00Z", { opens: 2, unsubscribes: 1 }),
  ]);
  expect(series).toEqual([
    { ...nothing, time: new Date("2027-01-31T09:00:00Z"), sent: 5, opens: 1 },
    { ...nothing, time: new Date("2027-01-31T10:00:00Z"), sent: 5, opens: 1 },
    { ...nothing, time: new Date("2027-01-31T11:00:00Z"), sent: 5, opens: 3, unsubscribes: 1 },
  ]);
});

test("ends after thirty days", () => {
  const series = activitySeries(sentAt, [
    hour("2027-01-31T09:00:00Z", { sent: 5 }),
    hour("2028-01-31T09:00:00Z", { opens: 1 }),
  ]);
  expect([series.length, series.at(-1)?.opens]).toEqual([720, 0]);
});

test("is empty before anything was sent", () => {
  expect(activitySeries(null, [])).toEqual([]);
  expect(activitySeries(sentAt, [])).toEqual([]);
});
