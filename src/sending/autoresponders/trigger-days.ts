/**
 * The moments of a date trigger: each day of the workspace's zone has one. Where clocks are put forward over it, it moves
 * forward by as much; where it comes twice, the first is meant (campaigns/lifecycle/scheduled-at.ts).
 */
import { Temporal } from "temporal-polyfill";
import { readScheduledAt } from "#sending/campaigns/scheduled-at.ts";

/** After an outage: mail of a day whose moment lies further back is left out. */
const MISSED_AFTER_MS = 24 * 60 * 60 * 1_000;

/** A date and a time of the workspace's zone. */
export interface DayClock {
  /** HH:MM */
  readonly at: string;
  readonly timezone: string;
}

/** When a day (`YYYY-MM-DD`) has its moment. */
export function momentOf(day: string, { at, timezone }: DayClock): Date {
  return readScheduledAt(`${day}T${at}`, timezone);
}

/** The newest day whose moment has come. */
export function lastDay(now: Date, clock: DayClock): string {
  const today = dayAt(now, clock);
  return (momentOf(today.toString(), clock) <= now ? today : today.subtract({ days: 1 })).toString();
}

/** The days after `done` whose moment has come, the oldest first. */
export function dueDays(done: string, now: Date, clock: DayClock): string[] {
  const today = dayAt(now, clock);
  return [today.subtract({ days: 1 }).toString(), today.toString()].filter((day) => {
    const late = now.getTime() - momentOf(day, clock).getTime();
    return day > done && late >= 0 && late <= MISSED_AFTER_MS;
  });
}

/** The days of a year (`MM-DD`) that are celebrated on this day: on 28 February, too, those of the 29th where it is missing. */
export function daysOfYear(day: string): string[] {
  const monthDay = day.slice(5);
  return monthDay === "02-28" && !Temporal.PlainDate.from(day).inLeapYear ? [monthDay, "02-29"] : [monthDay];
}

function dayAt(now: Date, { timezone }: DayClock): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(timezone).toPlainDate();
}
