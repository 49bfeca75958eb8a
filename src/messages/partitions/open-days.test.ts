import sql from "sql-template-tag";
import { beforeAll, expect, test } from "vitest";
import { applyDeltas } from "#messages/counters/apply-deltas-store.ts";
import { findMessagePage } from "#messages/log-pages-store.ts";
import { recordEngagements } from "#messages/record-engagement.ts";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import { findMessage, listEvents, listMessages, saveShownValues } from "#messages/store.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { firstIdAt, type WorkspaceId } from "#platform/ids.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { insertDrafts } from "#sending/acceptance/accept-messages-statement.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { draft, nobodyElse } from "#test/support/drafts.ts";
import { idOfTime } from "#test/support/id-of-time.ts";
import { leaseMessages, leaseOrder } from "#test/support/lease-order.ts";
import { outcomeOf } from "#test/support/outcomes.ts";
import { ensurePartitions } from "./create-partitions.ts";

const db = await testDatabase();
const DAYS = 30;
/** Today, the day before, the four that follow, the default partition, and room for a test over midnight. */
const FEW = 8;
const now = Date.now();
const at = (ms: number) => idOfTime(new Date(ms));
let workspaceId: WorkspaceId;
let ids: string[];

beforeAll(async () => {
  for (let day = DAYS; day > 0; day -= 5) await ensurePartitions(db, new Date(now - day * DAY_MS));
  workspaceId = await insertBareWorkspace(db);
  const accept = (time: number) => {
    const id = at(time);
    return insertDrafts(db, [draft(workspaceId, "ada@a.test", { id, createdAt: new Date(time) })]);
  };
  for (let day = DAYS; day > 1; day--) await accept(now - day * DAY_MS);
  await db.run(sql`delete from delivery_queue`);
  await db.run(sql`update messages set status = 'delivered' where id < ${firstIdAt(new Date(now - DAY_MS))}`);
  ids = Array.from({ length: 30 }, (_, number) => at(now - 60_000 + number));
  await insertDrafts(
    db,
    ids.map((id) => draft(workspaceId, "bob@a.test", { id })),
  );
  while ((await applyDeltas(db, 1_000)) > 0);
});

/** How many partitions of one table `work` locks at most; those that a statement opens are locked. */
async function openedBy(work: (tx: Queryable) => Promise<unknown>): Promise<number> {
  return db.transaction(async (tx) => {
    await work(tx);
    const row = await tx.row<{ most: number }>(sql`
      select coalesce(max(partitions), 0)::int as most from (
        select i.inhparent, count(distinct l.relation) as partitions
        from pg_locks l join pg_inherits i on i.inhrelid = l.relation join pg_class c on c.oid = l.relation
        where l.pid = pg_backend_pid() and c.relkind = 'r' group by 1) of_table`);
    return row?.most ?? 0;
  });
}

const page = { limit: 20, offset: 0 };
const noted = () => ids.slice(0, 5).map((messageId) => ({ workspaceId, messageId }));

test.each<[string, (tx: Queryable) => Promise<unknown>]>([
  ["accepting", (tx) => insertDrafts(tx, [draft(workspaceId, "eve@a.test")])],
  ["leasing", (tx) => leaseMessages(tx, leaseOrder())],
  [
    "recording outcomes",
    (tx) =>
      recordOutcomes(
        tx,
        noted().map((one) => outcomeOf(one, "delivered")),
        nobodyElse,
      ),
  ],
  [
    "recording opens",
    (tx) =>
      recordEngagements(
        tx,
        noted().map((one) => ({
          ...one,
          kind: "opened",
          time: new Date(),
          times: 1,
          linkIndex: null,
          target: null,
          userAgent: "Mozilla",
          machineSign: null,
        })),
        async () => {},
      ),
  ],
  [
    "keeping values",
    (tx) =>
      saveShownValues(
        tx,
        noted().map((one) => ({ ...one, values: "{}" })),
      ),
  ],
  ["showing a message", (tx) => findMessage(tx, workspaceId, ids[0] ?? "")],
  ["showing its timeline", (tx) => listEvents(tx, workspaceId, ids[0] ?? "")],
  ["a page of the log", (tx) => findMessagePage(tx, workspaceId, {}, page)],
  ["a page of a status", (tx) => findMessagePage(tx, workspaceId, { status: "queued" }, page)],
  ["a page of a channel", (tx) => findMessagePage(tx, workspaceId, { source: "api" }, page)],
  ["the messages of a page", (tx) => listMessages(tx, workspaceId, ids)],
])("%s opens the days that it needs, however many the log has", async (_name, work) => {
  expect(await openedBy(work)).toBeLessThanOrEqual(FEW);
});

test("a filter that few messages match finds them on the days that the counters name", async () => {
  const old = at(now - 28 * DAY_MS);
  await insertDrafts(db, [
    draft(workspaceId, "old@a.test", { id: old, source: "smtp", createdAt: new Date(now - 28 * DAY_MS) }),
  ]);
  while ((await applyDeltas(db, 1_000)) > 0);
  const find = (tx: Queryable) => findMessagePage(tx, workspaceId, { source: "smtp" }, page);
  expect(await find(db)).toEqual([old]);
  // Also the first days of the log.
  expect(await openedBy(find)).toBeLessThanOrEqual(FEW + 4);
});
