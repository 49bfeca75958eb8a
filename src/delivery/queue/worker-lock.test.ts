import { expect, onTestFinished, test } from "vitest";
import { newId } from "#platform/ids.ts";
import { testDatabase } from "#test/support/database.ts";
import { eventually } from "#test/support/eventually.ts";
import { takeWorkerLock, workerLockHolder } from "#test/support/take-worker-lock.ts";
import { holdWorkerLock, tryWorkerLock } from "./worker-lock.ts";

const db = await testDatabase();

test("a lock whose session went silent is lost, and taken again", async () => {
  const workerId = newId();
  let renewals = 0;
  const mark = await holdWorkerLock(db, workerId, () => {
    renewals += 1;
  });
  onTestFinished(() => mark.end());
  await mark.check();
  expect([mark.isHeld, renewals]).toEqual([true, 0]);
  const { pid } = await workerLockHolder(db);
  process.kill(pid, "SIGSTOP");
  try {
    await mark.check();
    await eventually("the mark to be missed", async () => !mark.isHeld);
  } finally {
    process.kill(pid, "SIGCONT");
  }
  await eventually("the mark to be back", async () => mark.isHeld);
  expect(renewals).toBe(1);
  expect(await tryWorkerLock(db, workerId)).toBe(false);
});

test("a lock that waits for a recovery of its worker is given up when the worker stops", async () => {
  const mark = await holdWorkerLock(db, newId());
  const giveBack = await takeWorkerLock(db);
  onTestFinished(giveBack);
  expect(mark.isHeld).toBe(false);
  await mark.end();
});
