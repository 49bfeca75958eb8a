import sql, { raw } from "sql-template-tag";
import { beforeEach, expect, test } from "vitest";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import { findMessage, listEvents } from "#messages/store.ts";
import { firstIdAt, type WorkspaceId } from "#platform/ids.ts";
import { insertDrafts } from "#sending/acceptance/accept-messages-statement.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { draft, nobodyElse } from "#test/support/drafts.ts";
import { idOfTime } from "#test/support/id-of-time.ts";
import { outcomeOf } from "#test/support/outcomes.ts";
import { ensurePartitions } from "./create-partitions.ts";

const db = await testDatabase();
const workspaceId = await insertBareWorkspace(db);
let year = 2040;
beforeEach(() => {
  year += 1;
});

const tables = { messages: "id", message_contents: "message_id", message_events: "message_id" } as const;

/** The partitions that the rows of a table since the beginning of `year` lie in. */
async function places(table: keyof typeof tables): Promise<string[]> {
  const rows = await db.rows<{ place: string }>(sql`
    select tableoid::regclass::text as place from ${raw(table)}
    where ${raw(tables[table])} >= ${firstIdAt(new Date(Date.UTC(year)))} order by place`);
  return rows.map(({ place }) => place);
}

/** A message of that moment, with its contents and one event. */
async function message(time: Date): Promise<{ id: string; workspaceId: WorkspaceId }> {
  const id = idOfTime(time);
  await insertDrafts(db, [draft(workspaceId, "ada@a.test", { id, createdAt: time })]);
  const outcome = outcomeOf({ workspaceId, messageId: id }, "delivered", { time, detail: "" });
  await recordOutcomes(db, [outcome], nobodyElse);
  return { id, workspaceId };
}

test("today and the four days that follow get partitions, over the end of a year too, and only once", async () => {
  const now = new Date(Date.UTC(year, 11, 29, 23));
  await ensurePartitions(db, now);
  await ensurePartitions(db, now);
  for (const day of [29, 30, 31, 32, 33, 34]) await message(new Date(Date.UTC(year, 11, day, 12)));
  expect(await places("messages")).toEqual([
    `messages_${year}_12_29`,
    `messages_${year}_12_30`,
    `messages_${year}_12_31`,
    `messages_${year + 1}_01_01`,
    `messages_${year + 1}_01_02`,
    "messages_default",
  ]);
  year += 1;
});

test("machines that start at once do not get in each other's way", async () => {
  const now = new Date(Date.UTC(year, 3, 1));
  await Promise.all([1, 2, 3].map(() => ensurePartitions(db, now)));
  await message(now);
  expect(await places("messages")).toEqual([`messages_${year}_04_01`]);
});

test("rows that found no partition move into it, all that belongs to them, and are found as before", async () => {
  const inDay = await message(new Date(Date.UTC(year, 5, 30, 23, 59, 59)));
  await message(new Date(Date.UTC(year, 9, 1)));
  const before = await findMessage(db, workspaceId, inDay.id);
  for (const table of Object.keys(tables) as (keyof typeof tables)[]) {
    expect(await places(table)).toEqual([`${table}_default`, `${table}_default`]);
  }
  await ensurePartitions(db, new Date(Date.UTC(year, 5, 30)));
  for (const table of Object.keys(tables) as (keyof typeof tables)[]) {
    expect(await places(table)).toEqual([`${table}_${year}_06_30`, `${table}_default`]);
  }
  expect(await findMessage(db, workspaceId, inDay.id)).toEqual(before);
  expect(await listEvents(db, workspaceId, inDay.id)).toMatchObject([{ type: "delivered" }]);
  expect(
    await db.row(sql`
      select count(*)::int as rows, count(distinct m.id)::int as messages from messages m
      where id = ${inDay.id}`),
  ).toEqual({ rows: 1, messages: 1 });
});

test("a partition is like the others: the same constraints hold", async () => {
  await ensurePartitions(db, new Date(Date.UTC(year, 0, 1)));
  const { id } = await message(new Date(Date.UTC(year, 0, 1)));
  await expect(
    db.run(sql`insert into messages select * from messages where id = ${id}`),
  ).rejects.toMatchObject({ code: "23505" });
  await expect(db.run(sql`update messages set status = 'lost' where id = ${id}`)).rejects.toMatchObject({
    code: "23514",
  });
});

test("a default partition that is in use is not waited for; the other tables get theirs, and mail goes on", async () => {
  const now = new Date(Date.UTC(year, 7, 1));
  const busy = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const reader = db.transaction(async (tx) => {
    await tx.run(sql`lock table message_events_default in access share mode`);
    locked.resolve();
    await busy.promise;
  });
  await locked.promise;
  const fault = await ensurePartitions(db, now).catch((thrown: unknown) => thrown);
  // One wait, and not one for each day.
  expect(fault).toMatchObject({ errors: [{ code: "55P03" }] });
  busy.resolve();
  await reader;
  await message(now);
  expect(await places("messages")).toEqual([`messages_${year}_08_01`]);
  expect(await places("message_events")).toEqual(["message_events_default"]);
  await ensurePartitions(db, now);
  expect(await places("message_events")).toEqual([`message_events_${year}_08_01`]);
});
