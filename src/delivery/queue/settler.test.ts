import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { insertBareWorkspace } from "../../../test/support/bare-server.ts";
import { testDatabase } from "../../../test/support/database.ts";
import { draft, nobodyElse } from "../../../test/support/drafts.ts";
import type { OnMoved } from "../../messages/outcome.ts";
import { createDatabase } from "../../platform/database/pool.ts";
import { asWorkspaceId, newId } from "../../platform/ids.ts";
import { createLog } from "../../platform/log.ts";
import { insertDrafts } from "../../sending/insert-drafts.ts";
import { conclude } from "./conclusion.ts";
import { openJournal, readJournal } from "./journal.ts";
import { leaseMessages } from "./leases.ts";
import { Settler, settle } from "./settler.ts";

test("without the database a result waits in memory and in the journal, and nobody waits for it without end", async () => {
  const db = createDatabase("postgresql://127.0.0.1:1/nowhere", { size: 1, name: "test", onError: () => {} });
  const folder = await mkdtemp(join(tmpdir(), "posthaste-journals-"));
  const owner = { workerId: newId(), pid: process.pid };
  const settler = new Settler(db, openJournal(folder, owner), createLog("silent"), nobodyElse);
  const settlement = {
    workspaceId: asWorkspaceId(newId()),
    messageId: newId(),
    leaseNumber: 1,
    attempts: 1,
    dueAt: null,
    isDelivered: false,
  };
  settler.add({ settlement, outcome: null });
  expect(await settler.flushed(50)).toBe(false);
  expect(settler.unsettled).toEqual([settlement]);
  expect(await Array.fromAsync(readJournal(folder, owner))).toEqual([{ settlement, outcome: null }]);
});

/** A message that was refused, settled by whom `onMoved` reacts. */
async function settleRefused(onMoved: OnMoved): Promise<void> {
  const db = await testDatabase();
  await insertDrafts(db, [draft(await insertBareWorkspace(db), "ada@example.test")]);
  const order = { priority: 0, limit: 1, bytes: 1_000_000, seconds: 60, saturated: [] } as const;
  const [message] = await leaseMessages(db, { workerId: newId(), ...order });
  const result = { outcome: "refused", stage: "data", code: 503, enhanced: "5.5.1", text: "no" } as const;
  const attempt = { message: message ?? expect.fail("nothing is leased"), result, mxHost: "mx.test" };
  await settle(db, [conclude(attempt, new Date(), 0)], onMoved);
}

test("one of two settlers who wait for each other, whom PostgreSQL ends, settles again", async () => {
  let tries = 0;
  await settleRefused(async () => {
    tries += 1;
    if (tries === 1) throw Object.assign(new Error("deadlock detected"), { code: "40P01" });
  });
  expect(tries).toBe(2);
});
