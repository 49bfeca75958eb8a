/** `from` and `to` of the history: whole days, the last one included. */
import { Temporal } from "temporal-polyfill";
import { invalid } from "#platform/errors.ts";
import { startOfDay } from "#platform/http/request/day-range.ts";

/**
 * The moments between which days lie in a time zone.
 * @throws ApiError VALIDATION_ERROR when the last day is before the first
 */
export function momentsOf(
  from: Temporal.PlainDate | undefined,
  to: Temporal.PlainDate | undefined,
  timezone: string,
): { readonly since: Date | undefined; readonly before: Date | undefined } {
  if (from && to && Temporal.PlainDate.compare(from, to) > 0) {
    throw invalid({ field: "to", message: "to must not be before from" });
  }
  const begin = (day: Temporal.PlainDate | undefined) => day && startOfDay(day, timezone);
  return { since: begin(from), before: begin(to?.add({ days: 1 })) };
}
