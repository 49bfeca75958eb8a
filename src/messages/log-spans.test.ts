import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { applyDeltas } from "./counters/apply-deltas-store.ts";
import { addAcceptedDeltasSql, addStatusDeltasSql } from "./counters/deltas-store.ts";
import { findMessages } from "./find-messages.ts";
import { findMessagePage } from "./log-pages-store.ts";
import { scanMessages } from "./log-scan-store.ts";
import type { MessageSource } from "./message/status.ts";

const db = await testDatabase();

/**
 * Accepts queued messages, one in each second from a time on, and counts them. Returns their ids, newest first.
 * @param leased whether delivery has leased them
 * @param lagMs how much later their ids are generated
 */
async function accept(
  workspaceId: WorkspaceId,
  from: Date,
  messages: number,
  {
    leased = false,
    source = "api",
    lagMs = 0,
  }: { readonly leased?: boolean; readonly source?: MessageSource; readonly lagMs?: number } = {},
): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(sql`
    insert into messages (workspace_id, id, source, origin_name, from_email, localpart, domain, subject, status,
      created_at, updated_at)
    select ${workspaceId}, (lpad(to_hex((extract(epoch from at) * 1000)::bigint + ${lagMs}::bigint), 12, '0') || '70008000000000000000')::uuid,
      ${source}, 'Key', 'shop@sender.test', 'person', 'a.test', 'Hello', 'queued', at, at
    from (
      select ${from}::timestamptz + number * interval '1 second' as at
      from generate_series(1, ${messages}::int) number) times
    returning id`);
  const ids = rows.map(({ id }) => id).sort();
  await db.run(addAcceptedDeltasSql(sql`(select * from messages where id = any (${ids}::uuid[])) m`));
  await applyDeltas(db, 1_000_000);
  await db.run(sql`
    insert into delivery_queue (workspace_id, message_id, priority, domain, bytes, due_at, expires_at, leased_by)
    select ${workspaceId}, id, 0, 'a.test', 1, now(), now(), ${newId()}
    from unnest(${leased ? ids : []}::uuid[]) id`);
  return ids.reverse();
}

test("a filtered list that a cursor continues goes on to its very end", async () => {
  const workspaceId = await insertBareWorkspace(db);
  const ids = [
    ...(await accept(workspaceId, new Date("2026-10-02T12:05:00Z"), 30)),
    ...(await accept(workspaceId, new Date("2026-10-01T12:05:00Z"), 30)),
  ];
  for (const filter of [{ status: "queued" }, { source: "api" }] as const) {
    for (const at of [5, 28, 29, 35, 58]) {
      const page = { limit: 20, offset: 0, after: ids[at] ?? "" };
      const rest = ids.slice(at + 1, at + 21);
      expect(await findMessagePage(db, workspaceId, filter, page), `after ${at}`).toEqual(rest);
      const found = await scanMessages(db, workspaceId, { ...filter, domain: "a.test" }, page);
      expect(found.ids, `searched after ${at}`).toEqual(rest);
    }
  }
});

test("a filtered list has the messages of all sources, however far apart their days are", async () => {
  const workspaceId = await insertBareWorkspace(db);
  const ids = [
    ...(await accept(workspaceId, new Date("2026-03-20T12:05:00Z"), 3, { source: "platform" })),
    ...(await accept(workspaceId, new Date("2026-03-12T12:05:00Z"), 3, { source: "smtp" })),
    // Before the end of the quarter-hour in which a cursor is: the counters do not tell of it.
    ...(await accept(workspaceId, new Date("2026-03-12T12:04:30Z"), 3, { source: "campaign" })),
    ...(await accept(workspaceId, new Date("2026-02-01T12:05:00Z"), 3, { source: "platform" })),
    ...(await accept(workspaceId, new Date("2026-01-05T12:05:00Z"), 3)),
  ];
  for (const limit of [1, 2, 4, 20]) {
    const read: string[] = [];
    for (let after: string | undefined; read.length < ids.length; after = read.at(-1)) {
      const page = { limit, offset: 0, ...(after && { after }) };
      const { ids: some, total } = await findMessages(db, workspaceId, { status: "queued" }, page);
      expect(total).toBe(ids.length);
      if (some.length === 0) break;
      read.push(...some);
    }
    expect(read, `${limit} a page`).toEqual(ids);
  }
  const searched = { status: "queued", domain: "a.test" } as const;
  expect((await findMessages(db, workspaceId, searched, { limit: 20, offset: 0 })).ids).toEqual(ids);
});

test("a message is at the place of its id, though it is counted among earlier ones of another source", async () => {
  const workspaceId = await insertBareWorkspace(db);
  // Counters of three hours begin at noon.
  const early = new Date("2026-03-12T11:59:55Z");
  const [late] = await accept(workspaceId, early, 1, { source: "smtp", lagMs: 10_500 });
  const others = await accept(workspaceId, new Date("2026-03-12T12:00:00Z"), 20);
  const { ids } = await findMessages(db, workspaceId, { status: "queued" }, { limit: 15, offset: 0 });
  expect(ids).toEqual([...others.slice(0, 14), late]);
});

test("messages in delivery, which show another status, hide no older ones", async () => {
  const workspaceId = await insertBareWorkspace(db);
  await accept(workspaceId, new Date("2026-10-02T12:05:00Z"), 30, { leased: true });
  const older = await accept(workspaceId, new Date("2026-10-01T12:05:00Z"), 3);
  const page = { limit: 20, offset: 0 };
  expect(await findMessagePage(db, workspaceId, { status: "queued" }, page)).toEqual(older);
});

test("a filtered page is full however many of its messages change their status meanwhile", async () => {
  const workspaceId = await insertBareWorkspace(db);
  const older = await accept(workspaceId, new Date("2026-02-01T12:05:00Z"), 20);
  const newer = await accept(workspaceId, new Date("2026-02-11T12:05:00Z"), 20);
  const page = { limit: 20, offset: 0 };
  let isRead = false;
  const change = async () => {
    for (let [from, to] = ["queued", "cancelled"]; !isRead; [from, to] = [to, from]) {
      await db.run(sql`
        with moved as (
          update messages set status = ${to}, previous_status = ${from}
          where workspace_id = ${workspaceId} and id = any (${newer}::uuid[]) returning *
        ), counted as (
          select *, now() as time, null::text as bounce_type, null::text as category
          from moved)
        ${addStatusDeltasSql(sql`counted`)}`);
    }
  };
  const read = async () => {
    for (let times = 0; times < 60; times++) {
      const { ids, total } = await findMessages(db, workspaceId, { status: "queued" }, page);
      expect([
        { ids: older, total: 20 },
        { ids: newer, total: 40 },
      ]).toContainEqual({ ids, total });
    }
  };
  await Promise.all([change(), read().finally(() => (isRead = true))]);
});
