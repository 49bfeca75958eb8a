import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { testDatabase } from "#test/support/database.ts";
import { type EndedDeliveries, recordEnded } from "./store.ts";

const db = await testDatabase();

test("processes that count failures of the same webhooks at once do not deadlock", async () => {
  const workspaceId = newId() as WorkspaceId;
  await db.run(sql`insert into workspaces (id, name) values (${workspaceId}, 'Test')`);
  const ended = Array.from({ length: 2_000 }, (): EndedDeliveries => {
    return { workspaceId, webhookId: newId(), hasSucceeded: false, failures: 1, reason: "" };
  });
  await db.run(sql`
    insert into webhooks (workspace_id, id, url, events, is_active, secret, created_at, updated_at)
    select ${workspaceId}, id, 'https://hooks.test/', '{*}', true, '', now(), now()
    from unnest(${ended.map(({ webhookId }) => webhookId)}::uuid[]) as w (id)`);
  await db.run(sql`analyze webhooks`);
  const orders = [ended, ended.toReversed(), ended, ended.toReversed()];
  const counted = orders.map((order) => recordEnded(db, order, { most: 30, now: new Date() }));
  const faults = (await Promise.allSettled(counted)).filter(({ status }) => status === "rejected");
  expect(faults).toEqual([]);
  const [failures] = await db.rows(sql`select distinct consecutive_failures from webhooks`);
  expect(failures).toEqual({ consecutive_failures: 4 });
});
