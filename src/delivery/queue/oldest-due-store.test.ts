import sql, { type Sql } from "sql-template-tag";
import { beforeEach, expect, test } from "vitest";
import type { Queryable } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { startService } from "#test/support/service.ts";
import { oldestDueSeconds } from "./oldest-due-store.ts";

const service = await startService();
const { database: db } = service;
beforeEach(() => db.run(sql`truncate delivery_queue`));

/** @param ago seconds since it is due */
function queue(workspaceId: WorkspaceId, ago: number, { priority = 1, campaignId = newId() } = {}) {
  return db.run(sql`
    insert into delivery_queue (workspace_id, message_id, campaign_id, priority, domain, bytes, expires_at, due_at)
    values (${workspaceId}, ${newId()}, ${campaignId}, ${priority}, 'example.test', 100, now(),
      now() - make_interval(secs => ${ago}))`);
}
const minutesLate = async (priority: 0 | 1, halted: readonly string[] = []) =>
  Math.floor((await oldestDueSeconds(db, priority, halted)) / 60);

test("the longest waiting message of all workspaces and campaigns counts, each priority separately", async () => {
  const [one, other] = [
    (await service.newWorkspace()).workspaceId,
    (await service.newWorkspace()).workspaceId,
  ];
  expect([await minutesLate(0), await minutesLate(1)]).toEqual([0, 0]);
  await queue(one, 60, { priority: 0 });
  for (const ago of [120, 300, -600]) await queue(one, ago);
  await queue(other, 1_200);
  await queue(other, -600, { priority: 0 });
  expect([await minutesLate(0), await minutesLate(1)]).toEqual([1, 20]);
});

test("messages that are leased or due later, of suspended workspaces and of paused campaigns are not late", async () => {
  const { workspaceId } = await service.newWorkspace();
  const suspended = (await service.newWorkspace()).workspaceId;
  await db.run(sql`update workspaces set is_suspended = true where id = ${suspended}`);
  const campaignId = newId();
  await queue(workspaceId, -60);
  await queue(workspaceId, 600, { campaignId });
  await queue(suspended, 600);
  expect([await minutesLate(1), await minutesLate(1, [campaignId])]).toEqual([10, 0]);
});

test("its cost follows the lines and not the messages", async () => {
  const { workspaceId } = await service.newWorkspace();
  const pagesOf = async (messages: number) => {
    await db.run(sql`truncate delivery_queue`);
    await db.run(sql`
      insert into delivery_queue (workspace_id, message_id, campaign_id, priority, domain, bytes, expires_at, due_at)
      select ${workspaceId}, gen_random_uuid(), campaign_id, 1, 'example.test', 100, now(), now() - make_interval(secs => n)
      from (select gen_random_uuid() as campaign_id from generate_series(1, 100)) c, generate_series(1, ${messages}::int) n`);
    await db.run(sql`vacuum analyze delivery_queue`);
    return pagesRead();
  };
  const few = await pagesOf(2);
  expect(await pagesOf(200)).toBeLessThan(few * 3);
});

/** The pages that the statement reads. */
async function pagesRead(): Promise<number> {
  let pages = Number.NaN;
  const explaining: Queryable = {
    ...db,
    row: async <Row>(statement: Sql) => {
      const explained = await db.row<{ "QUERY PLAN": [{ Plan: Record<string, number> }] }>(
        sql`explain (analyze, buffers, format json) ${statement}`,
      );
      pages = explained?.["QUERY PLAN"][0].Plan["Shared Hit Blocks"] ?? Number.NaN;
      return db.row<Row>(statement);
    },
  };
  await oldestDueSeconds(explaining, 1, []);
  return pages;
}
