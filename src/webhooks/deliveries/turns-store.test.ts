import sql from "sql-template-tag";
import { beforeEach, expect, test } from "vitest";
import type { Queryable } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { testDatabase } from "#test/support/database.ts";
import { LineScans, queueRequestedTurns, takeTurns } from "./turns-store.ts";

const db = await testDatabase();
const now = new Date();
const earlier = (seconds: number) => new Date(now.getTime() - seconds * 1_000);
const newWorkspaceId = () => newId() as WorkspaceId;
/** Moved by each look at it, so that scans take time. */
let time: number;
let scans: LineScans;

beforeEach(async () => {
  await db.run(sql`truncate webhook_turns, webhook_turn_requests`);
  time = 0;
  scans = new LineScans(() => (time += 100));
});

/** Requests of as many workspaces. */
const requestMany = (count: number, into: Queryable = db) =>
  into.run(sql`
    insert into webhook_turn_requests (workspace_id, due_at)
    select gen_random_uuid(), ${now} from generate_series(1, ${count}::integer)`);

const queued = async () =>
  (await db.row<{ count: number }>(sql`select count(*)::int from webhook_turns`))?.count;

/** Puts a workspace into the line. */
async function insertTurn(turnAt: Date): Promise<WorkspaceId> {
  const id = newWorkspaceId();
  await db.run(sql`insert into webhook_turns (workspace_id, turn_at) values (${id}, ${turnAt})`);
  return id;
}

const take = () => db.transaction((tx) => takeTurns(tx, now, 10, scans));

test("scans that begin where the last one ended find all requests, and those that come after it", async () => {
  await requestMany(30_000);
  for (const expected of [14_000, 28_000, 30_000]) {
    await queueRequestedTurns(db, now, 14_000, scans);
    expect(await queued()).toBe(expected);
  }
  await requestMany(10);
  await queueRequestedTurns(db, now, 14_000, scans);
  expect(await queued()).toBe(30_010);
});

test("a request with an id long before the position is found by the next scan from the start", async () => {
  await db.transaction(async (tx) => {
    await requestMany(1, tx);
    await requestMany(30_000);
    await queueRequestedTurns(db, now, 40_000, scans);
  });
  await queueRequestedTurns(db, now, 40_000, scans);
  expect(await queued()).toBe(30_000);
  time += 60_000;
  await queueRequestedTurns(db, now, 40_000, scans);
  expect(await queued()).toBe(30_001);
});

test("a request in a page that a vacuum has freed is found by the next scan", async () => {
  await requestMany(30_000);
  await queueRequestedTurns(db, now, 40_000, scans);
  await db.run(sql`vacuum webhook_turn_requests`);
  await requestMany(1);
  await queueRequestedTurns(db, now, 40_000, scans);
  expect(await queued()).toBe(30_001);
});

test("a turn somewhat before the first one is taken at once, an earlier one by the next scan from the start", async () => {
  const first = await insertTurn(earlier(10));
  expect(await take()).toEqual([first]);
  const near = await insertTurn(earlier(10.5));
  const far = await insertTurn(earlier(60));
  expect(await take()).toEqual([near, first]);
  time += 60_000;
  expect(await take()).toEqual([far, near, first]);
});

test("a turn that another sender had locked or moved does not hide those before it from the next scan", async () => {
  const first = await insertTurn(earlier(60));
  const second = await insertTurn(earlier(10));
  await db.transaction(async (other) => {
    expect(await takeTurns(other, now, 1)).toEqual([first]);
    expect(await take()).toEqual([second]);
  });
  expect(await take()).toEqual([first, second]);
});
