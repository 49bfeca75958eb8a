/** Reads a text that has the format `date-time`. */
import { invalid } from "#platform/errors.ts";

/** Follows the name of the field. */
export const momentWords = "must be a date with time and zone, such as 2027-01-31T12:00:00Z";

/**
 * The format allows a second 60 and a time zone in brackets, which Date does not read. In the input of a job an unreadable
 * date becomes null.
 * @throws ApiError VALIDATION_ERROR for such a text
 */
export function readMoment(text: string, field: string): Date {
  const moment = new Date(text);
  if (Number.isNaN(moment.getTime())) throw invalid({ field, message: `${field} ${momentWords}` });
  return moment;
}
