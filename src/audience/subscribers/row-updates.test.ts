import sql from "sql-template-tag";
import { expect, test } from "vitest";
import type { Queryable } from "#platform/database/pool.ts";
import { addPeople, findMiscounts, newList } from "#test/support/audience.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { countEngagements } from "./engagement-store.ts";
import { countMailOfPeople } from "./mail-counters-store.ts";

const db = await testDatabase();
const workspaceId = await insertBareWorkspace(db);
const list = await newList(db, workspaceId);
await addPeople(
  db,
  workspaceId,
  list,
  Array.from({ length: 50 }, (_, at) => ({
    email: `person${at}@people.test`,
    custom_fields: { city: "Rome" },
  })),
);
const people = await db.rows<{ id: string }>(sql`select id from subscribers order by id`);

/** Rows of a table that the transaction has updated, and those of them without a new entry in any index. */
async function updatesOf(tx: Queryable, table: string) {
  return await tx.row<{ all: number; hot: number }>(sql`
    select pg_stat_get_xact_tuples_updated(${table}::regclass)::int as all,
      pg_stat_get_xact_tuples_hot_updated(${table}::regclass)::int as hot`);
}

test("a message changes no row of people, and adds no entry to any index", async () => {
  await db.transaction(async (tx) => {
    const mail = sql`(
      select ${workspaceId}::uuid as workspace_id, id as subscriber_id, now() as time, 1 as sent, 1 as delivered,
        0 as bounced, 0 as complained
      from unnest(${people.slice(0, 10).map(({ id }) => id)}::uuid[]) p (id))`;
    await countMailOfPeople(tx, mail);
    expect(await updatesOf(tx, "subscribers")).toEqual({ all: 0, hot: 0 });
    expect(await updatesOf(tx, "subscriber_stats")).toEqual({ all: 10, hot: 10 });
  });
});

test("an open adds no entry to the indexes of people", async () => {
  const openedAt = new Date();
  const opens = people.slice(0, 3).map(({ id: subscriberId }) => ({
    workspaceId,
    subscriberId,
    mailingListId: list,
    opens: 1,
    clicks: 0,
    openedAt,
    clickedAt: null,
    isFirstOpen: true,
    isFirstClick: false,
    isFirst: true,
    score: 25,
  }));
  await db.transaction(async (tx) => {
    await countEngagements(tx, opens, openedAt);
    expect(await updatesOf(tx, "subscribers")).toEqual({ all: 3, hot: 3 });
  });
  expect(await findMiscounts(db)).toEqual([]);
});
