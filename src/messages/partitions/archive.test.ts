import pg from "pg";
import sql from "sql-template-tag";
import { afterAll, expect, inject, test } from "vitest";
import { findMessage } from "#messages/store.ts";
import { newId } from "#platform/ids.ts";
import { insertDrafts } from "#sending/acceptance/accept-messages-statement.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { draft } from "#test/support/drafts.ts";
import { idOfTime } from "#test/support/id-of-time.ts";
import { moveOldPartitions } from "./archive.ts";
import { ensurePartitions } from "./create-partitions.ts";
import { removeOldPartitions } from "./retention.ts";

const tablespace = `Archive of ${newId()}`;
const admin = new pg.Client({ connectionString: inject("serverUrl") });
await admin.connect();
await admin.query("set allow_in_place_tablespaces = on");
await admin.query(`create tablespace "${tablespace}" location ''`);
// Registered before the database's own, so that it runs when the database is gone.
afterAll(async () => {
  await admin.query(`drop tablespace "${tablespace}"`);
  await admin.end();
});
const db = await testDatabase();
const workspaceId = await insertBareWorkspace(db);

const archive = { tablespace, days: 3 };
const now = new Date("2031-03-10T12:00:00Z");
const notStopped = new AbortController().signal;
const move = (at = now) => moveOldPartitions(db, archive, at, notStopped);

const days = ["2031-03-05", "2031-03-06", "2031-03-07"];
await ensurePartitions(db, new Date("2031-03-05T00:00:00Z"));
const ids = days.map((day) => idOfTime(new Date(`${day}T23:00:00Z`)));
await insertDrafts(
  db,
  ids.map((id) => draft(workspaceId, "ada@a.test", { id, html: "x".repeat(10_000) })),
);

/** Names of the tables and indexes of March 2031 that are in the tablespace. */
async function archived(): Promise<string[]> {
  const rows = await db.rows<{ name: string }>(sql`
    select c.relname as name from pg_class c join pg_tablespace t on t.oid = c.reltablespace
    where t.spcname = ${tablespace} and c.relname like '%\\_2031\\_%' order by 1`);
  return rows.map(({ name }) => name);
}

test("a table in use stays, others move meanwhile, and the next call moves it", async () => {
  const reading = Promise.withResolvers<void>();
  const hasBegun = Promise.withResolvers<void>();
  const reader = db.transaction(async (tx) => {
    await tx.run(sql`lock table messages_2031_03_05 in access share mode`);
    hasBegun.resolve();
    await reading.promise;
  });
  await hasBegun.promise;
  await expect(move()).rejects.toMatchObject({ errors: [{ code: "55P03" }] });
  const moved = await archived();
  expect(moved).toContain("message_events_2031_03_06");
  expect(moved.filter((name) => name.startsWith("messages_"))).toEqual([]);
  reading.resolve();
  await reader;
  await move();
  expect(await archived()).toContain("messages_2031_03_05");
});

test("days of that age are there with all their indexes, and younger ones are not", async () => {
  const moved = await archived();
  expect(moved.filter((name) => name.startsWith("messages_2031"))).toEqual(
    ["2031_03_05", "2031_03_06"].flatMap((day) => [
      `messages_${day}`,
      `messages_${day}_pkey`,
      `messages_${day}_workspace_id_hashtext_id_idx`,
      `messages_${day}_workspace_id_source_status_id_idx`,
    ]),
  );
  expect(moved.filter((name) => name.startsWith("submissions_2031"))).toHaveLength(4);
  expect(moved.filter((name) => name.includes("03_07"))).toEqual([]);
});

test("messages are found there, change and are dropped as before", async () => {
  const [first = "", , last = ""] = ids;
  expect(await findMessage(db, workspaceId, first)).toMatchObject({ id: first, status: "queued" });
  expect(
    await db.run(sql`
      update messages set status = 'delivered' where workspace_id = ${workspaceId} and id = ${first}`),
  ).toBe(1);
  await db.run(sql`delete from delivery_queue`);
  await removeOldPartitions(db, { contents: null, log: 3 }, now);
  expect((await archived()).filter((name) => name.startsWith("messages_"))).toEqual([]);
  expect(await findMessage(db, workspaceId, first)).toBeUndefined();
  expect(await findMessage(db, workspaceId, last)).toMatchObject({ id: last });
});

test("a call that is stopped leaves the rest to the next one", async () => {
  const later = new Date("2031-03-11T12:00:00Z");
  await expect(moveOldPartitions(db, archive, later, AbortSignal.abort())).rejects.toMatchObject({
    seconds: 1,
  });
  expect(await archived()).not.toContain("messages_2031_03_07");
  await move(later);
  expect(await archived()).toContain("messages_2031_03_07");
});

test("without such a tablespace the sentence names the setting", async () => {
  await expect(moveOldPartitions(db, { tablespace: "gone", days: 3 }, now, notStopped)).rejects.toThrow(
    /^MESSAGE_ARCHIVE_TABLESPACE: there is no tablespace gone/,
  );
});
