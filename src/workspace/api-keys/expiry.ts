/** When a key ends: an ISO 8601 moment, in UTC when it names no offset (contract, section 2). */
import { Temporal } from "temporal-polyfill";
import { invalid } from "#platform/errors.ts";

/** The last year that ISO 8601 and RFC 3339 write without an agreement. */
const LAST_MOMENT = Date.UTC(10_000, 0, 1) - 1;

/** @throws ApiError VALIDATION_ERROR for what is no date, and for a moment that is not ahead of `now`. */
export function readExpiry(text: string, now: Date): Date {
  const expiry = readInstant(text);
  if (expiry === undefined || expiry.getTime() > LAST_MOMENT) {
    const message = "expires_at must be an ISO 8601 date such as 2030-01-31T12:00:00Z";
    throw invalid({ field: "expires_at", message });
  }
  if (expiry <= now) throw invalid({ field: "expires_at", message: "expires_at must be in the future" });
  return expiry;
}

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
