/** The expiry of a key: an ISO 8601 time, in UTC when it names no offset. */
import { Temporal } from "temporal-polyfill";
import { invalid } from "#platform/errors.ts";

/** The last moment of the four-digit years of ISO 8601 and RFC 3339. */
const LAST_MOMENT = Date.UTC(10_000, 0, 1) - 1;

/** @throws ApiError VALIDATION_ERROR for what is not a time, or not later than `now` */
export function readExpiry(text: string, now: Date): Date {
  const expiry = readInstant(text);
  if (expiry === undefined || expiry.getTime() > LAST_MOMENT) {
    const message = "expires_at must be an ISO 8601 date such as 2030-01-31T12:00:00Z";
    throw invalid({ field: "expires_at", message });
  }
  if (expiry <= now) throw invalid({ field: "expires_at", message: "expires_at must be in the future" });
  return expiry;
}

/** An ISO 8601 time, in UTC when it names no offset; undefined for other texts. */
function readInstant(text: string): Date | undefined {
  const readers = [
    () => Temporal.Instant.from(text),
    () => Temporal.PlainDateTime.from(text).toZonedDateTime("UTC"),
  ];
  for (const read of readers) {
    try {
      return new Date(read().epochMilliseconds);
    } catch (fault) {
      if (!(fault instanceof RangeError)) throw fault;
    }
  }
  return undefined;
}
