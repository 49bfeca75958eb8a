import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { nobodyElse } from "../../test/support/drafts.ts";
import { createDatabase } from "../platform/database/pool.ts";
import { asWorkspaceId, newId } from "../platform/ids.ts";
import { createLog } from "../platform/log.ts";
import { openJournal, readJournal } from "./journal.ts";
import { Settler } from "./settler.ts";

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
