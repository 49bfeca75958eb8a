/**
 * Periods of allowances: those of a subscription are counted from its start, all others are calendar months. They are
 * in UTC, like the ledger, whatever the workspace's time zone.
 */
import { Temporal } from "temporal-polyfill";

export const billingIntervals = ["monthly", "yearly"] as const;
export type BillingInterval = (typeof billingIntervals)[number];

/** From `start` up to, not including, `end`. */
export interface Period {
  readonly start: Date;
  readonly end: Date;
}

export function calendarMonth(now: Date): Period {
  const month = (offset: number) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset));
  return { start: month(0), end: month(1) };
}

/**
 * The period that contains `now`, of those that follow each other from `anchor`. A day that a month lacks becomes its
 * last day, without moving later months: 31 January, 28 February, 31 March.
 */
export function periodAt(anchor: Date, interval: BillingInterval, now: Date): Period {
  const first = Temporal.Instant.fromEpochMilliseconds(anchor.getTime()).toZonedDateTimeISO("UTC");
  const current = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO("UTC");
  const unit = interval === "monthly" ? "months" : "years";
  const at = (count: number) => first.add({ [unit]: count });
  let count = first.until(current, { largestUnit: unit })[unit];
  while (Temporal.ZonedDateTime.compare(at(count + 1), current) <= 0) count++;
  return { start: dateOf(at(count)), end: dateOf(at(count + 1)) };
}

function dateOf(time: Temporal.ZonedDateTime): Date {
  return new Date(time.epochMilliseconds);
}
