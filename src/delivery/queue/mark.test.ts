import sql from "sql-template-tag";
import { expect, onTestFinished, test } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { newId } from "../../platform/ids.ts";
import { isUnmarked, markAlive } from "./mark.ts";

const db = await testDatabase();

/** Who has the one mark there is. */
async function holder(): Promise<{ readonly pid: number; readonly key: number }> {
  const held = await db.row<{ pid: number; key: number }>(sql`
    select pid, (classid::bigint << 32) | objid::bigint as key from pg_locks
    where locktype = 'advisory' and granted
      and database = (select oid from pg_database where datname = current_database())`);
  if (held === undefined) throw new Error("nobody has a mark");
  return held;
}

test("a mark whose session went silent counts no more, and is made anew", async () => {
  const workerId = newId();
  let renewals = 0;
  const mark = await markAlive(db, workerId, () => {
    renewals += 1;
  });
  onTestFinished(() => mark.end());
  await mark.check();
  expect([mark.isThere, renewals]).toEqual([true, 0]);
  const { pid } = await holder();
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
  const { pid, key } = await holder();
  const taker = await db.openSession();
  onTestFinished(() => taker.end());
  const taken = taker.query(sql`select pg_advisory_lock(${key})`);
  await db.run(sql`select pg_terminate_backend(${pid})`);
  await taken;
  await eventually("the mark to be missed", async () => !mark.isThere);
  await mark.end();
});
