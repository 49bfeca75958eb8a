import sql from "sql-template-tag";
import { beforeEach, expect, test } from "vitest";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { newCampaign } from "#test/support/campaigns.ts";
import { testDatabase } from "#test/support/database.ts";
import { untilWaiting } from "#test/support/waiting.ts";
import { deletePurgedCampaign } from "./purge-deleted-store.ts";
import { removeCampaign } from "./store.ts";

const db = await testDatabase();
let workspaceId: WorkspaceId;
let id: string;
beforeEach(async () => {
  workspaceId = await insertBareWorkspace(db);
  id = await newCampaign(db, workspaceId, null);
});

/** Begun, and paused, as far as a deletion looks. */
async function beginAndPause(tx: Queryable): Promise<void> {
  await tx.run(sql`update campaigns set status = 'paused' where id = ${id}`);
  await tx.run(sql`insert into campaign_counters (workspace_id, campaign_id) values (${workspaceId}, ${id})`);
}
const rows = () =>
  db.rows(sql`select status, deleted_at is not null as "isDeleted" from campaigns where id = ${id}`);

test("a campaign that begins while it is being deleted is only marked", async () => {
  const locked = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const begun = db.transaction(async (tx) => {
    await beginAndPause(tx);
    locked.resolve();
    await release.promise;
  });
  await locked.promise;
  const removed = db.transaction((tx) => removeCampaign(tx, workspaceId, id, new Date()));
  await untilWaiting(db, 1);
  release.resolve();
  await begun;
  expect(await removed).toBe(true);
  expect(await rows()).toEqual([{ status: "cancelled", isDeleted: true }]);
});

test("what is left of a campaign goes with it where it was deleted, and never otherwise", async () => {
  await beginAndPause(db);
  const forget = () =>
    db.transaction((tx) => deletePurgedCampaign(tx, { workspace_id: workspaceId, campaign_id: id }));
  await forget();
  expect(await rows()).toEqual([{ status: "paused", isDeleted: false }]);
  await db.run(sql`update campaigns set deleted_at = now() where id = ${id}`);
  await forget();
  expect(await rows()).toEqual([]);
});
