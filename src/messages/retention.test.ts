import sql, { raw } from "sql-template-tag";
import { expect, test } from "vitest";
import { firstIdAt, newId } from "#platform/ids.ts";
import { insertDrafts } from "#sending/acceptance/accept-messages-statement.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { draft } from "#test/support/drafts.ts";
import { ensurePartitions } from "./create-partitions.ts";
import { removeOldPartitions } from "./retention.ts";

const db = await testDatabase();
const workspaceId = await insertBareWorkspace(db);
const count = async (table: string) =>
  (await db.row<{ rows: number }>(sql`select count(*) as rows from ${raw(table)}`))?.rows;
const accept = (time: Date) => {
  const id = `${firstIdAt(time).slice(0, 14)}7${newId().slice(15)}`;
  return insertDrafts(db, [draft(workspaceId, "ada@a.test", { id, createdAt: time })]);
};

test("contents go after their days and the log after its own, by whole months, but for what still waits", async () => {
  await ensurePartitions(db, new Date("2030-01-01T00:00:00Z"));
  await accept(new Date("2030-01-15T00:00:00Z"));
  await accept(new Date("2030-02-15T00:00:00Z"));
  const retention = { contents: 30, log: 180 };
  const at = (time: string) => removeOldPartitions(db, retention, new Date(time));
  const years = (names: string[]) => names.filter((name) => name.includes("_2030_"));

  expect(years(await at("2030-03-02T23:59:00Z"))).toEqual([]);
  expect(years(await at("2030-03-03T00:00:00Z"))).toEqual([]);
  await db.run(
    sql`delete from delivery_queue where message_id < ${firstIdAt(new Date("2030-02-01T00:00:00Z"))}`,
  );
  expect(years(await at("2030-03-02T23:59:00Z"))).toEqual([]);
  expect(years(await at("2030-03-03T00:00:00Z"))).toEqual([
    "message_contents_2030_01",
    "submissions_2030_01",
  ]);
  expect([await count("messages"), await count("message_contents")]).toEqual([2, 1]);

  await db.run(sql`delete from delivery_queue`);
  expect(years(await at("2030-08-01T00:00:00Z"))).toEqual([
    "message_contents_2030_02",
    "message_contents_2030_03",
    "submissions_2030_02",
    "submissions_2030_03",
    "message_events_2030_01",
    "message_labels_2030_01",
    "messages_2030_01",
    "smtp_openings_2030_01",
  ]);
  expect(await count("messages")).toBe(1);
});

test("without days everything is kept", async () => {
  await ensurePartitions(db, new Date("2031-01-01T00:00:00Z"));
  expect(
    await removeOldPartitions(db, { contents: null, log: null }, new Date("2050-01-01T00:00:00Z")),
  ).toEqual([]);
});
