import { expect, onTestFinished, test } from "vitest";
import { newId } from "#platform/ids.ts";
import { testDatabase } from "#test/support/database.ts";
import { eventually } from "#test/support/eventually.ts";
import { markHolder, takeMark } from "#test/support/take-mark.ts";
import { isUnmarked, markAlive } from "./worker-lock.ts";

const db = await testDatabase();

test("a mark whose session went silent counts no more, and is made anew", async () => {
  const workerId = newId();
  let renewals = 0;
  const mark = await markAlive(db, workerId, () => {
    renewals += 1;
  });
  onTestFinished(() => mark.end());
  await mark.check();
  expect([mark.isThere, renewals]).toEqual([true, 0]);
  const { pid } = await markHolder(db);
  process.kill(pid, "SIGSTOP");
  try {
    await mark.check();
    await eventually("the mark to be missed", async () => !mark.isThere);
  } finally {
    process.kill(pid, "SIGCONT");
  }
  await eventually("the mark to be back", async () => mark.isThere);
  expect(renewals).toBe(1);
  expect(await isUnmarked(db, workerId)).toBe(false);
});

test("a mark that waits for whoever recovers its worker is given up at once when the worker stops", async () => {
  const mark = await markAlive(db, newId());
  const giveBack = await takeMark(db);
  onTestFinished(giveBack);
  expect(mark.isThere).toBe(false);
  await mark.end();
});
