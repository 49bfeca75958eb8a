import { mkdir, mkdtemp, readdir, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { removeLeftovers, tempFolder } from "./temp-files.ts";

const dataDir = await mkdtemp(join(tmpdir(), "posthaste-scratch-"));
afterAll(() => rm(dataDir, { recursive: true }));

test("files of a killed process are deleted after a day", async () => {
  expect(await removeLeftovers(dataDir)).toBe(0);
  for (const [name, hours] of [
    ["old", 25],
    ["fresh", 23],
  ] as const) {
    const path = join(tempFolder(dataDir), name);
    await mkdir(path, { recursive: true });
    await utimes(path, 0, Date.now() / 1_000 - hours * 3_600);
  }
  expect(await removeLeftovers(dataDir)).toBe(1);
  expect(await readdir(tempFolder(dataDir))).toEqual(["fresh"]);
});
