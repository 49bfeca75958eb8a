import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { testDatabase } from "#test/support/database.ts";
import { readHourlyCap, readPlanName, readTimezone } from "./workspace.ts";

const db = await testDatabase();

test("every time zone that is taken is one that PostgreSQL knows", async () => {
  const rows = await db.rows<{ name: string }>(sql`select name from pg_timezone_names`);
  const known = new Set(rows.map(({ name }) => name));
  const zones = ["UTC", ...Intl.supportedValuesOf("timeZone")];
  expect(zones.map(readTimezone).filter((zone) => !known.has(zone))).toEqual([]);
});

test.each(["Asia/Kolkata", "US/Pacific", "America/Argentina/Buenos_Aires", "Etc/GMT+3"])(
  "%s is a time zone",
  (zone) => {
    expect(readTimezone(zone)).toBe(zone);
  },
);

test.each(["", "Mars/Olympus", "+02:00", "PST", "CET-1", "SystemV/PST8", "Europe/Paris ", "Etc/Unknown"])(
  "%j is refused as a time zone",
  (zone) => {
    expect(() => readTimezone(zone)).toThrow("IANA");
  },
);

test.each(["Free", "", "premium", "constructor"])("%j is refused as a plan", (plan) => {
  expect(() => readPlanName(plan)).toThrow("free, growth, scale, enterprise");
});

test("an hourly cap is a positive whole number that the column holds, or none", () => {
  expect([readHourlyCap("none"), readHourlyCap("1"), readHourlyCap("2147483647")]).toEqual([
    "none",
    1,
    2_147_483_647,
  ]);
  for (const refused of ["", "0", "-1", "1.5", "1e3", "0x10", " 5", "2147483648", "null"]) {
    expect(() => readHourlyCap(refused), refused).toThrow("whole number");
  }
});
