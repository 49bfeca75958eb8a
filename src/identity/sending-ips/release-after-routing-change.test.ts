import sql from "sql-template-tag";
import { beforeEach, expect, test } from "vitest";
import { releaseHeld } from "#delivery/queue/queue-store.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { createLog } from "#platform/log/log.ts";
import { insertDrafts } from "#sending/acceptance/accept-messages-statement.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { draft } from "#test/support/drafts.ts";
import { beginRoutingChange, type ReleaseSome, releaseHeldBackMail } from "./release-after-routing-change.ts";

const db = await testDatabase();
const log = createLog("silent");
let workspaceId: WorkspaceId;

beforeEach(async () => {
  await db.run(sql`truncate delivery_queue, messages, message_contents, routed_workspaces`);
  await db.run(sql`delete from graphile_worker._private_jobs`);
  workspaceId = await insertBareWorkspace(db);
  await insertDrafts(
    db,
    ["ann", "bob", "cid"].map((name) => draft(workspaceId, `${name}@example.test`)),
  );
  await db.run(sql`update delivery_queue set source_ip = '192.0.2.1', due_at = now() + interval '1 day'`);
});

const change = () => db.transaction((tx) => beginRoutingChange(tx, workspaceId));
const oneByOne: ReleaseSome = (workspace, after) => releaseHeld(db, workspace, after, 1);
const work = (releaseSome = oneByOne, signal = new AbortController().signal) =>
  releaseHeldBackMail({ db, releaseSome }).run({ signal, log });
const heldBack = async () =>
  (await db.rows(sql`select from delivery_queue where source_ip is not null and due_at > now()`)).length;
const tasks = async () =>
  (
    await db.rows(
      sql`select from graphile_worker.jobs where key = 'every:release-held-back-mail' and run_at <= now()`,
    )
  ).length;

test("a change that commits leaves its work in the queue, one that does not leaves none", async () => {
  const undone = db.transaction(async (tx) => {
    await beginRoutingChange(tx, workspaceId);
    throw new Error("refused");
  });
  await expect(undone).rejects.toThrow("refused");
  expect(await tasks()).toBe(0);
  await work();
  expect(await heldBack()).toBe(3);
  await change();
  expect(await tasks()).toBe(1);
  await work();
  expect(await heldBack()).toBe(0);
});

test("work that is cut short is done by whoever comes next, and once it is done by nobody", async () => {
  await change();
  const stop = new AbortController();
  const stopped = work(async (...asked) => {
    stop.abort();
    return oneByOne(...asked);
  }, stop.signal);
  await expect(stopped).rejects.toThrow("aborted");
  expect(await heldBack()).toBe(2);
  await work();
  expect(await heldBack()).toBe(0);
  await work(() => expect.unreachable());
});

test("a change while an earlier one is worked off is worked off as well", async () => {
  await change();
  let isChanged = false;
  await work(async (...asked) => {
    if (!isChanged) await change();
    isChanged = true;
    return oneByOne(...asked);
  });
  await db.run(sql`update delivery_queue set source_ip = '192.0.2.1', due_at = now() + interval '1 day'`);
  await work();
  expect(await heldBack()).toBe(0);
});
