import { describe, expect, test } from "vitest";
import { daysOfYear, dueDays, lastDay, momentOf } from "./trigger-days.ts";

const berlin = { at: "09:00", timezone: "Europe/Berlin" };
const time = (text: string) => new Date(text);

describe("the moment of a day", () => {
  test("is a time of the workspace's zone, in winter and in summer", () => {
    expect(momentOf("2027-01-10", berlin)).toEqual(time("2027-01-10T08:00:00Z"));
    expect(momentOf("2027-07-10", berlin)).toEqual(time("2027-07-10T07:00:00Z"));
  });

  test("moves forward over a gap, and is the first of two", () => {
    expect(momentOf("2027-03-28", { ...berlin, at: "02:30" })).toEqual(time("2027-03-28T01:30:00Z"));
    expect(momentOf("2027-10-31", { ...berlin, at: "02:30" })).toEqual(time("2027-10-31T00:30:00Z"));
  });
});

describe("the days whose moment has come", () => {
  test("are none before it, one after it, and none once that is done", () => {
    expect(dueDays("2027-01-09", time("2027-01-10T07:59:59Z"), berlin)).toEqual([]);
    expect(dueDays("2027-01-09", time("2027-01-10T08:00:00Z"), berlin)).toEqual(["2027-01-10"]);
    expect(dueDays("2027-01-10", time("2027-01-10T20:00:00Z"), berlin)).toEqual([]);
  });

  test("are those of the zone, on the other side of the date line too", () => {
    const auckland = { at: "00:30", timezone: "Pacific/Auckland" };
    expect(dueDays("2027-01-09", time("2027-01-09T11:30:00Z"), auckland)).toEqual(["2027-01-10"]);
  });

  test("go back one day after an outage, and no further", () => {
    expect(dueDays("2027-01-05", time("2027-01-10T07:00:00Z"), berlin)).toEqual(["2027-01-09"]);
    expect(dueDays("2027-01-05", time("2027-01-10T09:00:00Z"), berlin)).toEqual(["2027-01-10"]);
  });

  test("begin after the newest that has passed", () => {
    expect(lastDay(time("2027-01-10T07:59:00Z"), berlin)).toBe("2027-01-09");
    expect(lastDay(time("2027-01-10T08:00:00Z"), berlin)).toBe("2027-01-10");
  });
});

test("29 February is celebrated on the 28th where there is none", () => {
  expect(daysOfYear("2027-02-28")).toEqual(["02-28", "02-29"]);
  expect(daysOfYear("2028-02-28")).toEqual(["02-28"]);
  expect(daysOfYear("2028-02-29")).toEqual(["02-29"]);
  expect(daysOfYear("2027-03-01")).toEqual(["03-01"]);
});
