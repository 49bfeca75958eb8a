/** The counts of a campaign hour by hour, cumulative. */

import { HOUR_MS } from "#platform/time-units.ts";
import type { CampaignHour } from "./store.ts";

/** The series ends after 30 days. */
const MOST_HOURS = 30 * 24;

export interface ActivityHour {
  readonly time: Date;
  readonly sent: number;
  readonly opens: number;
  readonly clicks: number;
  readonly unsubscribes: number;
  readonly complaints: number;
}

/**
 * Every hour from the hour of `sentAt` to the last one with a count, at most 30 days; later counts are not included.
 * @param hours oldest first
 */
export function activitySeries(sentAt: Date | null, hours: readonly CampaignHour[]): ActivityHour[] {
  const last = hours.at(-1);
  if (sentAt === null || last === undefined) return [];
  const first = Math.floor(sentAt.getTime() / HOUR_MS) * HOUR_MS;
  const byTime = new Map(hours.map((hour) => [hour.hour.getTime(), hour]));
  const length = Math.min(MOST_HOURS, (last.hour.getTime() - first) / HOUR_MS + 1);
  const series: ActivityHour[] = [];
  let sum = { sent: 0, opens: 0, clicks: 0, unsubscribes: 0, complaints: 0 };
  for (let at = 0; at < length; at++) {
    const time = first + at * HOUR_MS;
    const hour = byTime.get(time);
    if (hour !== undefined) sum = added(sum, hour);
    series.push({ time: new Date(time), ...sum });
  }
  return series;
}

type Sums = Omit<ActivityHour, "time">;

function added(sum: Sums, hour: Sums): Sums {
  return {
    sent: sum.sent + hour.sent,
    opens: sum.opens + hour.opens,
    clicks: sum.clicks + hour.clicks,
    unsubscribes: sum.unsubscribes + hour.unsubscribes,
    complaints: sum.complaints + hour.complaints,
  };
}
