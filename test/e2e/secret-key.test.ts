import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startProgram } from "../support/program.ts";
import { openScene } from "../support/scene.ts";

test("a machine that made a key of its own does not start on another's database, and says what to do", async () => {
  await using scene = await openScene({});
  const dataDir = await mkdtemp(join(tmpdir(), "posthaste-other-key-"));
  onTestFinished(() => rm(dataDir, { recursive: true, maxRetries: 5 }));
  const settings = { BOOTSTRAP_API_KEY: `efk_${"e2e0".repeat(10)}`, DATABASE_URL: scene.database.url };
  const start = startProgram({ ...settings, DATA_DIR: dataDir }, ["serve", "--roles", "api"]);
  await expect(start).rejects.toThrow(/error: the database belongs to another secret key/);
  expect(scene.program.isRunning).toBe(true);
});
