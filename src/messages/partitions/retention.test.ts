import sql, { raw } from "sql-template-tag";
import { expect, test } from "vitest";
import { firstIdAt } from "#platform/ids.ts";
import { insertDrafts } from "#sending/acceptance/accept-messages-statement.ts";
import { findKeptMessage } from "#sending/message-content/store.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { draft } from "#test/support/drafts.ts";
import { idOfTime } from "#test/support/id-of-time.ts";
import { ensurePartitions } from "./create-partitions.ts";
import { removeOldPartitions } from "./retention.ts";

const db = await testDatabase();
const workspaceId = await insertBareWorkspace(db);
const count = async (table: string) =>
  (await db.row<{ rows: number }>(sql`select count(*) as rows from ${raw(table)}`))?.rows;
const accept = (time: Date) => {
  const id = idOfTime(time);
  return insertDrafts(db, [draft(workspaceId, "ada@a.test", { id, createdAt: time })]);
};

test("contents go after their days and the log after its own, by whole days, but for what still waits", async () => {
  await ensurePartitions(db, new Date("2030-01-14T00:00:00Z"));
  await accept(new Date("2030-01-15T00:00:00Z"));
  await accept(new Date("2030-01-17T00:00:00Z"));
  const retention = { contents: 30, log: 180 };
  const of2030 = async (time: string) =>
    (await removeOldPartitions(db, retention, new Date(time))).filter((name) => name.includes("_2030_"));

  expect(await of2030("2030-02-13T23:59:00Z")).toEqual([]);
  expect(await of2030("2030-02-14T00:00:00Z")).toEqual(["message_contents_2030_01_14"]);
  expect(await of2030("2030-02-15T00:00:00Z")).toEqual([]);
  await db.run(
    sql`delete from delivery_queue where message_id < ${firstIdAt(new Date("2030-01-16T00:00:00Z"))}`,
  );
  expect(await of2030("2030-02-14T23:59:00Z")).toEqual(["submissions_2030_01_14"]);
  expect(await of2030("2030-02-15T00:00:00Z")).toEqual([
    "message_contents_2030_01_15",
    "submissions_2030_01_15",
  ]);
  expect([await count("messages"), await count("message_contents")]).toEqual([2, 1]);

  await db.run(sql`delete from delivery_queue`);
  const dropped = await of2030("2030-07-15T00:00:00Z");
  expect(dropped.filter((name) => !name.startsWith("message_contents") && !name.startsWith("sub"))).toEqual([
    "message_events_2030_01_14",
    "message_labels_2030_01_14",
    "messages_2030_01_14",
    "smtp_openings_2030_01_14",
    "message_events_2030_01_15",
    "message_labels_2030_01_15",
    "messages_2030_01_15",
    "smtp_openings_2030_01_15",
  ]);
  expect([await count("messages"), await count("message_contents")]).toEqual([1, 0]);
});

test("rows of days that had no partition in time are deleted when they are as old", async () => {
  await accept(new Date("2029-05-01T12:00:00Z"));
  await accept(new Date("2029-05-02T12:00:00Z"));
  await accept(new Date("2029-05-03T12:00:00Z"));
  await db.run(
    sql`delete from delivery_queue where message_id < ${firstIdAt(new Date("2029-05-03T00:00:00Z"))}`,
  );
  const rows = async () => [await count("messages_default"), await count("message_contents_default")];
  expect(await rows()).toEqual([3, 3]);
  await removeOldPartitions(db, { contents: 1, log: 2 }, new Date("2029-05-03T18:00:00Z"));
  expect(await rows()).toEqual([2, 1]);
  await removeOldPartitions(db, { contents: 1, log: 2 }, new Date("2029-06-01T00:00:00Z"));
  expect(await rows()).toEqual([1, 1]);
  await db.run(sql`delete from delivery_queue`);
  await removeOldPartitions(db, { contents: 1, log: 2 }, new Date("2029-06-01T00:00:00Z"));
  expect(await rows()).toEqual([0, 0]);
});

test("the submission of a message that is queued since midnight stays, although it is of the day before", async () => {
  await ensurePartitions(db, new Date("2027-03-01T00:00:00Z"));
  const submission = {
    id: idOfTime(new Date("2027-03-01T23:59:59.999Z")),
    raw: Buffer.from("Subject: Hello\r\n\r\nHello\r\n"),
  };
  const createdAt = new Date("2027-03-02T00:00:00.001Z");
  const id = idOfTime(createdAt);
  await insertDrafts(db, [draft(workspaceId, "ada@a.test", { id, createdAt, html: null, submission })]);
  const remove = () => removeOldPartitions(db, { contents: 1, log: null }, new Date("2027-03-20T00:00:00Z"));
  const kept = async () => (await remove()).filter((name) => name.startsWith("submissions_2027"));
  expect(await kept()).toEqual([]);
  expect(await findKeptMessage(db, workspaceId, id)).toMatchObject({
    has_content: true,
    raw: submission.raw,
  });
  await db.run(sql`delete from delivery_queue`);
  expect(await kept()).toHaveLength(5);
});

test("a log that is being read as a whole keeps its days until later, after one wait for each table", async () => {
  await ensurePartitions(db, new Date("2028-01-01T00:00:00Z"));
  const reading = Promise.withResolvers<void>();
  const hasBegun = Promise.withResolvers<void>();
  const reader = db.transaction(async (tx) => {
    await tx.run(sql`lock table messages, message_events, smtp_openings in access share mode`);
    hasBegun.resolve();
    await reading.promise;
  });
  await hasBegun.promise;
  const now = new Date("2028-08-01T00:00:00Z");
  const remove = () => removeOldPartitions(db, { contents: null, log: 180 }, now);
  await expect(remove()).rejects.toMatchObject({
    errors: [{ code: "55P03" }, { code: "55P03" }, { code: "55P03" }],
  });
  reading.resolve();
  await reader;
  expect((await remove()).filter((name) => name.includes("_2028_"))).toHaveLength(15);
});

test("without days everything is kept", async () => {
  await ensurePartitions(db, new Date("2031-01-01T00:00:00Z"));
  expect(
    await removeOldPartitions(db, { contents: null, log: null }, new Date("2050-01-01T00:00:00Z")),
  ).toEqual([]);
});
