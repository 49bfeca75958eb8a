import { spawnSync } from "node:child_process";
import { mkdtemp, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { resultOfSmtp } from "#delivery/queue/decide-result.ts";
import { HeldMessages } from "#delivery/queue/held-messages.ts";
import { asWorkspaceId, newId } from "#platform/ids.ts";
import { createLog } from "#platform/log/log.ts";
import { insertDrafts } from "#sending/acceptance/accept-messages-statement.ts";
import { testDatabase } from "#test/support/database.ts";
import { draft, nobodyElse } from "#test/support/drafts.ts";
import { leaseMessages, leaseOrder } from "#test/support/lease-order.ts";
import { Heartbeat } from "./heartbeat.ts";
import { Journal } from "./journal.ts";
import { Recovery } from "./recovery.ts";

const db = await testDatabase();
const log = createLog("silent");
const workspaceId = asWorkspaceId(newId());

async function leaseOne(workerId: string) {
  await insertDrafts(db, [draft(workspaceId, "ada@example.test")]);
  const [message] = await leaseMessages(db, leaseOrder({ workerId }));
  return message ?? expect.fail("a lease is wanted");
}

test("a worker extends its leases while it replays a dead worker's journal, and runs one recovery at a time", async () => {
  const journalFolder = await mkdtemp(join(tmpdir(), "posthaste-journals-"));
  const [dead, workerId] = [newId(), newId()];
  const learned = await leaseOne(dead);
  const result = { outcome: "accepted", code: 250, enhanced: null, text: "ok" } as const;
  new Journal(journalFolder, { workerId: dead, pid: spawnSync("true").pid }).append(
    resultOfSmtp(learned, { result, mxHost: "mx" }, new Date(), 0),
  );
  const held = new HeldMessages();
  held.add(await leaseOne(workerId), 0);
  const recovery = new Recovery({ db, journalFolder, workerId, log, onMoved: nobodyElse });
  const lock = { check: async () => {} };
  const heartbeat = new Heartbeat({ db, workerId, held, writer: { unwritten: [] }, lock, recovery, log });

  const obstacle = await db.connect();
  await obstacle.query("begin");
  await obstacle.query(sql`select from messages where id = ${learned.message_id} for update`);
  for (let beats = 1; beats <= 2; beats++) {
    await db.run(sql`update delivery_queue set due_at = now() where leased_by = ${workerId}`);
    await heartbeat.beat();
    const kept = sql`select from delivery_queue where leased_by = ${workerId} and due_at > now()`;
    expect(await db.rows(kept)).toHaveLength(1);
  }
  const underWay = recovery.run();
  expect(recovery.run()).toBe(underWay);
  expect(await readdir(journalFolder)).toHaveLength(1);
  await obstacle.query("commit");
  obstacle.release();
  await underWay;
  expect(await readdir(journalFolder)).toEqual([]);
});
