/**
 * When a campaign is to go out. A time with an offset is that moment; one without is a time of the workspace's zone. Where
 * clocks are put forward and the time does not exist, it moves forward by the same step (02:30 becomes 03:30); where they
 * are put back and it comes twice, the first one is meant (RFC 5545 section 3.3.5). What is stored is the moment: a change
 * of the workspace's zone does not move it.
 */
import { Temporal } from "temporal-polyfill";
import { invalid } from "../../../platform/errors.ts";

const form = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)[ ]?(Z|[+-]\d{2}:?\d{2})?)?$/i;

/** A day alone begins at midnight. @throws ApiError VALIDATION_ERROR */
export function readScheduledAt(text: string, timeZone: string): Date {
  const [, day, time = "00:00", offset] = form.exec(text.trim()) ?? [];
  try {
    if (day === undefined) throw new RangeError("no date");
    const moment =
      offset === undefined
        ? Temporal.PlainDateTime.from(`${day}T${time}`).toZonedDateTime(timeZone, {
            disambiguation: "compatible",
          })
        : Temporal.Instant.from(`${day}T${time}${offset.toUpperCase()}`);
    const at = new Date(moment.epochMilliseconds);
    // A zone may push it out of the years that have four digits, and what is shown could not be given back.
    const year = at.getUTCFullYear();
    if (year < 1 || year > 9999) throw new RangeError("no such year");
    return at;
  } catch (fault) {
    if (!(fault instanceof RangeError)) throw fault;
    throw invalid({
      field: "scheduled_at",
      message:
        "scheduled_at must be a date and time such as 2027-01-31T09:00, or with an offset 2027-01-31T09:00:00+01:00",
    });
  }
}
