import { describe, expect, it } from "vitest";
import { momentOf, wallOf } from "./times.ts";

describe("momentOf", () => {
  it.each([
    ["2026-12-01T09:00", "Europe/Berlin", "2026-12-01T08:00:00.000Z"],
    ["2026-07-01T09:00", "Europe/Berlin", "2026-07-01T07:00:00.000Z"],
    ["2026-07-01T00:15", "Pacific/Kiritimati", "2026-06-30T10:15:00.000Z"],
    ["2026-03-29T02:30", "Europe/Berlin", "2026-03-29T01:30:00.000Z"],
    ["2026-10-25T02:30", "Europe/Berlin", "2026-10-25T00:30:00.000Z"],
    ["2026-11-01T01:30", "America/Los_Angeles", "2026-11-01T08:30:00.000Z"],
  ])("%s in %s", (wall, zone, moment) => {
    expect(momentOf(wall, zone)).toBe(moment);
  });
});

describe("wallOf", () => {
  it("is what a clock shows", () => {
    expect(wallOf("2026-12-01T08:00:00.000Z", "Asia/Kolkata")).toBe("2026-12-01T13:30");
  });
});
