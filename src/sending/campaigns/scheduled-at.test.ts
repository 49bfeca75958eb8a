import { expect, test } from "vitest";
import { readScheduledAt } from "./scheduled-at.ts";

const at = (text: string, zone = "UTC") => readScheduledAt(text, zone).toISOString();

test.each([
  ["a time of the workspace's zone", "2027-01-31T09:00", "America/New_York", "2027-01-31T14:00:00.000Z"],
  ["one with a blank in the middle", "2027-01-31 09:00:30", "UTC", "2027-01-31T09:00:30.000Z"],
  ["a day", "2027-01-31", "Asia/Kathmandu", "2027-01-30T18:15:00.000Z"],
  [
    "a time with an offset, whatever the zone",
    "2027-01-31T09:00+05:45",
    "America/New_York",
    "2027-01-31T03:15:00.000Z",
  ],
  ["a time in UTC", "2027-01-31T09:00:00Z", "America/New_York", "2027-01-31T09:00:00.000Z"],
  [
    "a time that is skipped: as much later",
    "2027-03-14T02:30",
    "America/New_York",
    "2027-03-14T07:30:00.000Z",
  ],
  ["a time that comes twice: the first", "2027-11-07T01:30", "America/New_York", "2027-11-07T05:30:00.000Z"],
  ["a step of half an hour", "2027-10-03T02:15", "Australia/Lord_Howe", "2027-10-02T15:45:00.000Z"],
  ["a day that is missing", "2011-12-30T12:00", "Pacific/Apia", "2011-12-30T22:00:00.000Z"],
  ["day, month and year with dots", "31.01.2027 09:00", "America/New_York", "2027-01-31T14:00:00.000Z"],
  ["a month by its name", "Jan 31, 2027 9:00 AM", "America/New_York", "2027-01-31T14:00:00.000Z"],
  ["seconds since 1970", "1801400400", "America/New_York", "2027-01-31T13:00:00.000Z"],
  ["the past", "1999-12-31T23:59", "UTC", "1999-12-31T23:59:00.000Z"],
  ["the year 9999", "9999-12-31T23:59", "UTC", "9999-12-31T23:59:00.000Z"],
])("%s is understood", (_what, text, zone, moment) => {
  expect(at(text, zone)).toBe(moment);
});

test.each([
  "tomorrow",
  "31.02.2027",
  "2027-02-30T10:00",
  "2027-01-31T25:00",
  "2027-01-31T09:00[Mars/Base]",
  "12:00",
  "-000001-01-01",
  "0000-12-31",
  "0001-01-01T00:00+05:00",
  "9999-12-31T23:59:59-05:00",
])("%s is refused", (text) => {
  expect(() => at(text)).toThrow("scheduled_at must be a date and time");
});

test("a day that could be a month is refused with what to write", () => {
  expect(() => at("03/04/2027")).toThrow("scheduled_at must be unambiguous");
});
