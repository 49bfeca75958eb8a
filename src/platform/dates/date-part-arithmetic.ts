/** Arithmetic on the parts of a date: year, month and day, the time of day, offsets from UTC. */

import { HOUR_MS, MINUTE_MS } from "#platform/time-units.ts";
import { namedOffsets } from "./date-words.ts";

/** Year, month, day; the year may be shortened to two digits. */
export type DateParts = readonly [year: number, month: number, day: number];

/** The offset or name of a time zone after a time: "utc", "+02:00", "gmt+2". */
export const zoneOffset = new RegExp(
  `^ *(?:(${Object.keys(namedOffsets).join("|")})(?![a-z]))? ?(?:([+-])(\\d{1,2})(?::?(\\d{2}))?(?!\\d)(?: (?:utc|gmt)(?![a-z]))?)?`,
);

/** Dates that programs write for "no date". Microsoft counts days from 30 December 1899. */
export function isZero([year, month, day]: DateParts): boolean {
  if (month === 0 && day === 0) return true;
  if (year <= 1) return month === 1 && day === 1;
  if (day === 0) return year === 1900 && month === 1;
  return year === 1899 && month === 12 && day === 30;
}

/** Midnight of the day as if in UTC, in milliseconds; undefined if the day does not exist, such as 31 February. */
export function localOf([year, month, day]: DateParts): number | undefined {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const isDay = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && year >= 1;
  return isDay ? date.getTime() : undefined;
}

export function partsOf(found: readonly (string | undefined)[]): DateParts {
  return [Number(found[1]), Number(found[2]), Number(found[3])];
}

/** Milliseconds since midnight; undefined for an invalid time. 24:00 is the end of the day. */
export function timeOf(
  hour = "0",
  minute = "0",
  second = "0",
  fraction = "0",
  half?: string,
): number | undefined {
  const [h, m, s] = [Number(hour), Number(minute || 0), Math.min(59, Number(second || 0))];
  if (m > 59 || Number(second) > 60) return undefined;
  const millis = Number(fraction.padEnd(3, "0").slice(0, 3));
  const rest = m * MINUTE_MS + s * 1_000 + millis;
  if (half === undefined) return h < 24 || (h === 24 && rest === 0) ? h * HOUR_MS + rest : undefined;
  // "14:30 PM" is redundant, but clear.
  if (h > 12 && half === "p" && h < 24) return h * HOUR_MS + rest;
  return h <= 12 ? ((h % 12) + (half === "p" ? 12 : 0)) * HOUR_MS + rest : undefined;
}

/** Milliseconds; undefined without an offset, NaN for an impossible one. */
export function zoneOffsetOf(text: string): number | undefined {
  const [, name, sign, hours, minutes] = zoneOffset.exec(text) ?? [];
  if (sign !== undefined) return offsetParts(sign, hours, minutes);
  return name === undefined ? undefined : (namedOffsets[name] ?? 0) * HOUR_MS;
}

export function offsetParts(sign?: string, hours = "0", minutes = "0"): number | undefined {
  if (sign === undefined) return undefined;
  const [h, m] = [Number(hours), Number(minutes)];
  if (h > 23 || m > 59) return Number.NaN;
  return (sign === "-" ? -1 : 1) * (h * HOUR_MS + m * MINUTE_MS);
}

/** A year from two digits, as in PostgreSQL and POSIX: 70 to 99 are 1970 to 1999. */
export function wholeYear(year: number): number {
  return year + (year >= 70 ? 1_900 : 2_000);
}
