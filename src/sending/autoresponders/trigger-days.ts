/**
 * The instants of a date trigger: its time on each day of the workspace's time zone. A time that the clock change skips is
 * moved forward by the change; of a time that occurs twice, the first counts (campaigns/scheduled-at.ts).
 */
import { Temporal } from "temporal-polyfill";
import { DAY_MS } from "#platform/time-units.ts";
import { readScheduledAt } from "#sending/campaigns/scheduled-at.ts";

/** After an outage, days whose trigger time is further back are not processed. */
const MISSED_AFTER_MS = DAY_MS;

/** A time of day in a time zone. */
export interface DayClock {
  /** HH:MM */
  readonly at: string;
  readonly timezone: string;
}

/** The instant of the trigger on a day (`YYYY-MM-DD`). */
export function momentOf(day: string, { at, timezone }: DayClock): Date {
  return readScheduledAt(`${day}T${at}`, timezone);
}

/** The newest day whose trigger time has passed. */
export function lastDay(now: Date, clock: DayClock): string {
  const today = dayAt(now, clock);
  return (momentOf(today.toString(), clock) <= now ? today : today.subtract({ days: 1 })).toString();
}

/** The days after `done` whose trigger time has passed, oldest first. */
export function dueDays(done: string, now: Date, clock: DayClock): string[] {
  const today = dayAt(now, clock);
  return [today.subtract({ days: 1 }).toString(), today.toString()].filter((day) => {
    const late = now.getTime() - momentOf(day, clock).getTime();
    return day > done && late >= 0 && late <= MISSED_AFTER_MS;
  });
}

/** The anniversaries (`MM-DD`) that fall on this day. 28 February includes the 29th in years without it. */
export function daysOfYear(day: string): string[] {
  const monthDay = day.slice(5);
  return monthDay === "02-28" && !Temporal.PlainDate.from(day).inLeapYear ? [monthDay, "02-29"] : [monthDay];
}

function dayAt(now: Date, { timezone }: DayClock): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(timezone).toPlainDate();
}
