import { expect, test } from "vitest";
import { readExpiry } from "./read-expiry.ts";

const now = new Date("2026-03-29T00:30:00Z");

test.each([
  ["2026-03-29T00:30:00.001Z", "2026-03-29T00:30:00.001Z"],
  ["2030-01-31T12:00:00Z", "2030-01-31T12:00:00.000Z"],
  ["2030-01-31T12:00:00+02:00", "2030-01-31T10:00:00.000Z"],
  ["2030-01-31T12:00:00.123456", "2030-01-31T12:00:00.123Z"],
  ["2030-01-31", "2030-01-31T00:00:00.000Z"],
  ["2028-02-29T00:00Z", "2028-02-29T00:00:00.000Z"],
  // Two o'clock in Paris, which that morning does not have: an offset is arithmetic, not a wall clock.
  ["2026-03-29T02:30:00+01:00", "2026-03-29T01:30:00.000Z"],
])("%s is %s", (text, moment) => {
  expect(readExpiry(text, now).toISOString()).toBe(moment);
});

test.each(["2026-03-29T00:30:00Z", "2026-03-29T01:30:00+01:00", "2026-03-28", "1999-12-31T23:59:59Z"])(
  "%s is refused because it is not ahead",
  (text) => {
    expect(() => readExpiry(text, now)).toThrow("in the future");
  },
);

test.each([
  "",
  "tomorrow",
  "1893456000",
  "2030",
  "2030-02-30T00:00:00Z",
  "2030-01-31T25:00:00Z",
  "2030-01-31T12:00:00+99:00",
  "2030-01-31T12:00:00Z and more",
  "31/01/2030",
  "+012030-01-31T00:00:00Z",
  `2030-01-31T12:00:00.${"0".repeat(10_000)}Z`,
])("%j is refused because it is no date", (text) => {
  expect(() => readExpiry(text, now)).toThrow("ISO 8601");
});
