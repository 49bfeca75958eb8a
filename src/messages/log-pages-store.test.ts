import sql from "sql-template-tag";
import { beforeAll, expect, test } from "vitest";
import type { WorkspaceId } from "#platform/ids.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { applyDeltas } from "./counters/apply-deltas-store.ts";
import { addAcceptedDeltasSql } from "./counters/deltas-store.ts";
import { countMessages } from "./log-counts-store.ts";
import type { LogFilter } from "./log-filter-store.ts";
import { findMessagePage } from "./log-pages-store.ts";
import { MOST_SEARCHED, searchMessages } from "./log-search-store.ts";

const db = await testDatabase();
const MESSAGES = 25_000;
const page = { limit: 20, offset: 0 };
let workspaceId: WorkspaceId;

/** Of some hours, from three sources. Each is counted half a second before its id: some on the other side of a quarter-hour. */
beforeAll(async () => {
  workspaceId = await insertBareWorkspace(db);
  const from = Date.UTC(2026, 9, 1, 12);
  await db.run(sql`
    insert into messages (workspace_id, id, source, origin_name, from_email, localpart, domain, subject, status,
      created_at, updated_at)
    select ${workspaceId}, (lpad(to_hex(ms), 12, '0') || '70008' || lpad(to_hex(number), 15, '0'))::uuid,
      (array['api', 'smtp', 'platform'])[1 + number % 3], 'Key', 'shop@sender.test', 'Person.' || number, 'a.test', 'Hello',
      case when number % 10 = 0 then 'suppressed' else 'queued' end, at, at
    from (
      select number, ${from}::bigint + number * 700 as ms, to_timestamp((${from}::bigint + number * 700 - 500) / 1000.0) as at
      from generate_series(1, ${MESSAGES}::int) number) numbers`);
  await db.run(addAcceptedDeltasSql(sql`messages`));
});

test.each<LogFilter>([
  {},
  { source: "api" },
  { source: "platform" },
  { status: "queued" },
  { status: "suppressed" },
  { status: "delivered" },
  { source: "smtp", status: "queued" },
])("pages of %o are those of the whole list, however deep, and none is missing", async (filter) => {
  const { source = null, status = null } = filter;
  const rows = await db.rows<{ id: string }>(sql`
    select id from messages
    where source = coalesce(${source}, source) and status = coalesce(${status}, status) order by id desc`);
  const all = rows.map(({ id }) => id);
  expect(await countMessages(db, workspaceId, filter)).toBe(all.length);
  for (const offset of [
    0,
    7,
    4_000,
    19_999,
    20_000,
    20_610,
    21_317,
    22_222,
    23_999,
    MESSAGES - 5,
    MESSAGES,
    1_000_000_000,
  ]) {
    const ids = await findMessagePage(db, workspaceId, filter, { limit: 20, offset });
    expect(ids, `from ${offset}`).toEqual(all.slice(offset, offset + 20));
  }
});

const search = (email: string, filter: LogFilter = {}) =>
  searchMessages(db, workspaceId, { ...filter, email }, page);

test("a part of an address is searched among the newest, and the answer says since when", async () => {
  const found = await search(`PERSON.${MESSAGES - 1}@a`);
  expect(found).toMatchObject({ total: 1, ids: [expect.any(String)] });
  const [oldest] = await db.rows<{ created_at: Date }>(sql`
    select created_at from messages order by id desc limit 1 offset ${MOST_SEARCHED - 1}`);
  expect(found.since).toEqual(oldest?.created_at);
  expect(await search("person.11@a")).toMatchObject({ total: 0, ids: [] });
});

test("fewer than are looked at are searched to the end", async () => {
  const { total, since } = await search("person.1", { status: "suppressed" });
  expect({ total, since }).toEqual({ total: 1_111, since: null });
});

test("a whole address is found wherever it is, in any case", async () => {
  expect((await search("PERSON.10@A.test")).total).toBe(1);
  await db.run(sql`update messages set status = 'delivered' where localpart = 'Person.11'`);
  expect((await search("person.11@a.test")).total).toBe(1);
  expect((await search("person.11@a.test", { source: "platform" })).total).toBe(1);
  expect((await search("person.11@a.test", { source: "api" })).total).toBe(0);
  expect((await search("person.11@a.test", { status: "queued" })).total).toBe(0);
});

test("a whole address that ends others' finds these among the newest, too, and every message once", async () => {
  const ends = `${MESSAGES}@a.test`;
  await db.run(sql`
    update messages set localpart = case when localpart = 'Person.12' then ${String(MESSAGES)} else localpart end,
      status = 'delivered'
    where localpart in ('Person.12', ${`Person.${MESSAGES}`}, ${`Person.${MESSAGES - 1}`})`);
  const [newest, oldest] = [await search(ends), await search("person.13@a.test")];
  const rows = await db.rows<{ id: string }>(sql`
    select id from messages where localpart in (${String(MESSAGES)}, ${`Person.${MESSAGES}`}) order by id desc`);
  expect(newest).toMatchObject({ ids: rows.map(({ id }) => id), total: 2 });
  const second = await searchMessages(db, workspaceId, { email: ends }, { limit: 1, offset: 1 });
  expect(second).toMatchObject({ ids: [rows[1]?.id], total: 2 });
  expect(newest.since).toEqual(oldest.since);
  expect(await search(ends, { status: "delivered" })).toMatchObject({ total: 2, since: null });
});

test("an international domain is found in either script", async () => {
  await db.run(sql`
    update messages set localpart = 'vö', domain = 'xn--bcher-kva.test' where localpart = ${`Person.${MESSAGES - 2}`}`);
  for (const text of ["vö@bücher.test", "@BÜCHER", "vö", "xn--bcher-kva"]) {
    expect((await search(text)).total, text).toBe(1);
  }
});

test("nothing of another workspace is found", async () => {
  const other = await insertBareWorkspace(db);
  expect(await findMessagePage(db, other, {}, page)).toEqual([]);
  expect(await countMessages(db, other, {})).toBe(0);
  for (const email of ["person", "person.10@a.test"]) {
    expect(await searchMessages(db, other, { email }, page)).toEqual({ ids: [], total: 0, since: null });
  }
});

test("what was taken out of the log is not in the total, though the counters have it", async () => {
  await applyDeltas(db, 1_000_000);
  await db.run(sql`delete from messages where created_at < '2026-10-01 13:00Z'`);
  const left = await db.row<{ count: number }>(
    sql`select count(*) as count from messages where source = 'api'`,
  );
  expect(await countMessages(db, workspaceId, { source: "api" })).toBe(left?.count);
});
