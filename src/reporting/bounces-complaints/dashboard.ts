/**
 * The figures of the bounces and complaints dashboard. Rates, trends, domains and sources cover the window; `last_24_hours`
 * to `last_30_days` cover their own span; totals are of all time.
 */

import { type Static, Type } from "typebox";
import { messageSources } from "#messages/message/status.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { fraction } from "#platform/fraction.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { described } from "#platform/shapes.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { totalsEver } from "#reporting/counters/by-origin-store.ts";
import { attemptedOf, bouncesOf, deliveredOf, percentOf } from "#reporting/counters/rates.ts";
import { totals } from "#reporting/counters/totals-store.ts";
import { countEvents, type EventDay, listBouncingDomains, listEventDays } from "./event-counts-store.ts";

const MOST_DOMAINS = 10;
/** In days. */
const SPANS = [1, 7, 30];

const Percent = Type.Number({ description: "Of all in the window, 0 to 100." });
const LocalDate = Type.String({ format: "date", description: "In the workspace's time zone." });
const spanFields = {
  last_24_hours: Type.Integer({ description: "Number in the last 24 hours." }),
  last_7_days: Type.Integer({ description: "Number in the last 7 days." }),
  last_30_days: Type.Integer({ description: "Number in the last 30 days." }),
};

export const BouncesComplaints = Type.Object(
  {
    window_days: Type.Integer({ description: "As applied." }),
    bounce_stats: Type.Object(
      {
        total_bounces: Type.Integer({ description: "Of all time, as are the three that follow." }),
        hard_bounces: Type.Integer({ description: "Bounces with the address at fault." }),
        soft_bounces: Type.Integer({ description: "Bounces that may pass, such as a full mailbox." }),
        block_bounces: Type.Integer({ description: "Refusals of the sender or the content." }),
        bounce_rate: Type.Number({
          description: "Bounced messages per attempted message, 0 to 1, of those accepted in the window.",
        }),
        ...spanFields,
      },
      { description: "Numbers and rate of bounces." },
    ),
    complaint_stats: Type.Object(
      {
        total_complaints: Type.Integer({ description: "Of all time." }),
        complaint_rate: Type.Number({
          description: "Complaints per delivered message, 0 to 1, of those accepted in the window.",
        }),
        ...spanFields,
      },
      { description: "Number and rate of complaints." },
    ),
    bounce_trends: Type.Array(
      Type.Object({
        date: described(LocalDate, "The day, in the workspace's time zone."),
        hard: Type.Integer({ description: "Bounces with the address at fault." }),
        soft: Type.Integer({ description: "Bounces that may pass." }),
        block: Type.Integer({ description: "Refusals of the sender or the content." }),
        total: Type.Integer({ description: "All bounces of the day." }),
      }),
      { description: "Days without a bounce are left out." },
    ),
    complaint_trends: Type.Array(
      Type.Object({
        date: described(LocalDate, "The day, in the workspace's time zone."),
        total: Type.Integer({ description: "Complaints of the day." }),
      }),
      {
        description: "Days without a complaint are left out.",
      },
    ),
    top_bounce_domains: Type.Array(
      Type.Object({
        domain: Type.String({ description: "The recipient domain." }),
        count: Type.Integer({ description: "Number of bounces." }),
        percent: described(Percent, "Share of all bounces, 0 to 100."),
      }),
      { description: "The ten recipient domains with the most bounces." },
    ),
    complaint_sources: Type.Array(
      Type.Object({
        source: Type.Enum([...messageSources], { description: "What the messages were sent by." }),
        count: Type.Integer({ description: "Number of complaints." }),
        percent: described(Percent, "Share of all complaints, 0 to 100."),
      }),
      { description: "Complaints by what the messages were sent by." },
    ),
  },
  { $id: "BouncesComplaints" },
);

/** @param now end of the window, and of `last_24_hours` to `last_30_days` */
export async function bouncesComplaintsOf(
  db: Queryable,
  { workspaceId, timezone }: { readonly workspaceId: WorkspaceId; readonly timezone: string },
  window_days: number,
  now: Date,
): Promise<Static<typeof BouncesComplaints>> {
  const before = (days: number) => new Date(now.getTime() - days * DAY_MS);
  const window = before(window_days);
  const [ever, accepted, days, [day, week, month], domains] = await Promise.all([
    totalsEver(db, workspaceId),
    totals(db, workspaceId, { from: window, to: null }),
    listEventDays(db, workspaceId, timezone, { from: window, to: now }),
    countEvents(db, workspaceId, SPANS.map(before)),
    listBouncingDomains(db, workspaceId, window, MOST_DOMAINS),
  ]);
  const bounces = sum(days, (one) => one.hard + one.soft + one.block);
  return {
    window_days,
    bounce_stats: {
      total_bounces: bouncesOf(ever),
      hard_bounces: ever.hard_bounces,
      soft_bounces: ever.soft_bounces,
      block_bounces: ever.block_bounces,
      bounce_rate: fraction(accepted.bounced, attemptedOf(accepted)),
      last_24_hours: day?.bounces ?? 0,
      last_7_days: week?.bounces ?? 0,
      last_30_days: month?.bounces ?? 0,
    },
    complaint_stats: {
      total_complaints: ever.complaints,
      complaint_rate: fraction(accepted.complained, deliveredOf(accepted)),
      last_24_hours: day?.complaints ?? 0,
      last_7_days: week?.complaints ?? 0,
      last_30_days: month?.complaints ?? 0,
    },
    ...trends(days),
    top_bounce_domains: domains.map(({ domain, count }) => ({
      domain,
      count,
      percent: percentOf(count, bounces),
    })),
    complaint_sources: sourcesOf(days),
  };
}

const sum = (days: readonly EventDay[], read: (day: EventDay) => number) =>
  days.reduce((total, day) => total + read(day), 0);

function trends(
  days: readonly EventDay[],
): Pick<Static<typeof BouncesComplaints>, "bounce_trends" | "complaint_trends"> {
  const dates = [...Map.groupBy(days, ({ date }) => date)].map(([date, ofDate]) => {
    const [hard, soft, block] = [
      sum(ofDate, (day) => day.hard),
      sum(ofDate, (day) => day.soft),
      sum(ofDate, (day) => day.block),
    ];
    return { date, hard, soft, block, complaints: sum(ofDate, (day) => day.complaints) };
  });
  return {
    bounce_trends: dates
      .map(({ complaints: _complaints, ...day }) => ({ ...day, total: day.hard + day.soft + day.block }))
      .filter(({ total }) => total > 0),
    complaint_trends: dates
      .map(({ date, complaints: total }) => ({ date, total }))
      .filter(({ total }) => total > 0),
  };
}

function sourcesOf(days: readonly EventDay[]): Static<typeof BouncesComplaints>["complaint_sources"] {
  const all = sum(days, (day) => day.complaints);
  return [...Map.groupBy(days, ({ source }) => source)]
    .map(([source, ofSource]) => {
      const count = sum(ofSource, (day) => day.complaints);
      return { source, count, percent: percentOf(count, all) };
    })
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => b.count - a.count);
}
