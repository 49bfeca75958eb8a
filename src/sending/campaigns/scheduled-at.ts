/**
 * When a campaign is to go out. A time with an offset is that moment; one without is a time of the workspace's zone, and a
 * day alone begins at midnight (platform/dates/date-reader.ts). What is stored is the moment: a change of the workspace's
 * zone does not move it.
 */
import { DateReader, dateFaults } from "#platform/dates/date-reader.ts";
import { invalid } from "#platform/errors.ts";

/** @throws ApiError VALIDATION_ERROR */
export function readScheduledAt(text: string, timeZone: string): Date {
  const dates = new DateReader({ timeZone });
  const reading = dates.read(text);
  // A zero date, such as 0001-01-01, says no time.
  const at = reading.kind === "nothing" ? undefined : dates.momentOf(reading);
  if (at !== undefined) return at;
  const isDate = reading.kind === "fault" && reading.fault !== "unreadable";
  const message = isDate
    ? dateFaults[reading.fault]
    : "must be a date and time such as 2027-01-31T09:00, or with an offset 2027-01-31T09:00:00+01:00";
  throw invalid({ field: "scheduled_at", message: `scheduled_at ${message}` });
}
