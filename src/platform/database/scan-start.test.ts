import { beforeEach, expect, test } from "vitest";
import { ScanStart } from "./scan-start.ts";

let time: number;
let scans: ScanStart<number>;

beforeEach(() => {
  time = 0;
  scans = new ScanStart(() => time);
});

/** A scan of this duration, up to the position. @returns where the scan began */
const scan = (tookMs: number, position: number | undefined) =>
  scans.scan(async (from) => {
    time += tookMs;
    return [from, position] as const;
  });

test("a scan begins where the one before it ended", async () => {
  expect(await scan(100, 7)).toBeUndefined();
  expect(await scan(1, 9)).toBe(7);
  expect(await scan(1, 11)).toBe(9);
});

test("a scan that found nothing leaves the position", async () => {
  await scan(100, 7);
  await scan(1, undefined);
  expect(await scan(1, undefined)).toBe(7);
});

test("a scan begins at the start again after twenty times as long as the last one from there took", async () => {
  await scan(100, 7);
  time += 1_999;
  expect(await scan(1, 9)).toBe(7);
  expect(await scan(100, 11)).toBeUndefined();
  expect(await scan(1, 13)).toBe(11);
});

test("a scan begins at the start again after a minute at most", async () => {
  await scan(10_000, 7);
  time += 59_999;
  expect(await scan(1, 9)).toBe(7);
  expect(await scan(1, 11)).toBeUndefined();
});

test("a scan that failed is made again from where it began", async () => {
  await scan(100, 7);
  await expect(
    scans.scan(() => {
      throw new Error("the database is away");
    }),
  ).rejects.toThrow("the database is away");
  expect(await scan(1, 9)).toBe(7);
});

test("after a scan from the start that failed, the next ones begin at the position", async () => {
  await scan(100, 7);
  time += 2_000;
  await expect(
    scans.scan(async (from) => {
      time += 30_000;
      throw new Error(`from ${from}: the statement took too long`);
    }),
  ).rejects.toThrow("from undefined: the statement took too long");
  expect(await scan(1, 9)).toBe(7);
  time += 60_000;
  expect(await scan(1, 11)).toBeUndefined();
});
