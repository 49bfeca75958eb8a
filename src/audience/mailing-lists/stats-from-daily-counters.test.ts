import { expect, test } from "vitest";
import { healthScore, lastDays, listStats } from "./stats-from-daily-counters.ts";
import type { ListDay } from "./store.ts";

const day = (date: string, changes: Partial<ListDay> = {}): ListDay => ({
  mailing_list_id: "l",
  day: date,
  subscribed: 0,
  unsubscribed: 0,
  bounced: 0,
  complained: 0,
  sent_count: 0,
  delivered_count: 0,
  bounce_count: 0,
  complaint_count: 0,
  engaged_count: 0,
  ...changes,
});

test("the days end today in the workspace's time zone", () => {
  const now = new Date("2026-03-01T12:30:00Z");
  expect(lastDays(now, "UTC", 3)).toEqual(["2026-02-27", "2026-02-28", "2026-03-01"]);
  expect(lastDays(now, "Pacific/Auckland", 2)).toEqual(["2026-03-01", "2026-03-02"]);
  expect(lastDays(new Date("2026-03-29T00:30:00Z"), "America/New_York", 1)).toEqual(["2026-03-28"]);
  expect(lastDays(now, "UTC", 365)).toHaveLength(365);
});

test("rates are fractions of what was sent or delivered, growth is shown for every day", () => {
  const days = [
    day("2026-02-27", { subscribed: 10, unsubscribed: 2, bounced: 1, complained: 1 }),
    day("2026-03-01", {
      unsubscribed: 3,
      sent_count: 100,
      delivered_count: 80,
      bounce_count: 20,
      complaint_count: 1,
      engaged_count: 8,
    }),
  ];
  expect(listStats("l", ["2026-02-27", "2026-02-28", "2026-03-01"], days, null)).toEqual({
    id: "l",
    new_subscribers: 10,
    unsubscribed: 5,
    net_growth: 3,
    engagement_rate: 0.1,
    bounce_rate: 0.2,
    complaint_rate: 0.0125,
    health_score: 10,
    sparkline: [
      { date: "2026-02-27", value: 6 },
      { date: "2026-02-28", value: 0 },
      { date: "2026-03-01", value: -3 },
    ],
    last_campaign: null,
  });
});

test.each([
  [{ engagement_rate: 0.2, bounce_rate: 0, complaint_rate: 0 }, 100],
  [{ engagement_rate: 0.9, bounce_rate: 0.05, complaint_rate: 0 }, 80],
  [{ engagement_rate: 0, bounce_rate: 0, complaint_rate: 0.0025 }, 60],
  [{ engagement_rate: 0, bounce_rate: 1, complaint_rate: 1 }, 0],
])("%j is a health of %i", (rates, score) => {
  expect(healthScore(rates)).toBe(score);
});

test("no rate is above 1 when mail of days before the window bounces in it", () => {
  const late = day("2026-03-01", { sent_count: 2, delivered_count: 1, bounce_count: 3, engaged_count: 4 });
  const rates = { bounce_rate: 1, engagement_rate: 1, complaint_rate: 0 };
  expect(listStats("l", ["2026-03-01"], [late], null)).toMatchObject(rates);
});

test("no rate is below 0 when a bounce of days before the window is taken back in it", () => {
  const late = day("2026-03-01", { sent_count: 2, delivered_count: 2, bounce_count: -1, complaint_count: 1 });
  expect(listStats("l", ["2026-03-01"], [late], null)).toMatchObject({ bounce_rate: 0, complaint_rate: 0.5 });
});

test("a list without any mail has the best health score", () => {
  expect(listStats("l", [], [day("2026-03-01", { subscribed: 1 })], null).health_score).toBe(100);
});
