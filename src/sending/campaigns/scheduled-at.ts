/**
 * Reads the time of a scheduled campaign. A time without an offset is in the workspace's time zone, and a date without a
 * time means midnight (platform/dates/date-reader.ts). The instant is stored, so a later change of the workspace's time zone
 * does not move it.
 */
import { DateReader, dateFaults } from "#platform/dates/date-reader.ts";
import { invalid } from "#platform/errors.ts";

/** @throws ApiError VALIDATION_ERROR */
export function readScheduledAt(text: string, timeZone: string): Date {
  const dates = new DateReader({ timeZone });
  const reading = dates.read(text);
  // A zero date, such as 0001-01-01, is no time.
  const at = reading.kind === "nothing" ? undefined : dates.momentOf(reading);
  if (at !== undefined) return at;
  const isDate = reading.kind === "fault" && reading.fault !== "unreadable";
  const message = isDate
    ? dateFaults[reading.fault]
    : "must be a date and time such as 2027-01-31T09:00, or with an offset 2027-01-31T09:00:00+01:00";
  throw invalid({ field: "scheduled_at", message: `scheduled_at ${message}` });
}
