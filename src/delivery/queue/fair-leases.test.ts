import sql from "sql-template-tag";
import { beforeEach, expect, test } from "vitest";
import type { LeasedMessage } from "#delivery/message/message.ts";
import { asWorkspaceId, newId, nilId, type WorkspaceId } from "#platform/ids.ts";
import { testDatabase } from "#test/support/database.ts";
import { leaseMessages, leaseOrder } from "#test/support/lease-order.ts";
import type { LeaseOrder } from "./lease-order.ts";
import { QueueCursor } from "./queue-cursor.ts";

const db = await testDatabase();
const [busy, other] = [asWorkspaceId(newId()), asWorkspaceId(newId())];

beforeEach(() => db.run(sql`truncate delivery_queue, messages`));

/** Due messages of one line, a second apart. */
async function wait(
  workspaceId: WorkspaceId,
  count: number,
  { campaignId = nilId, domain = "example.test", agoSeconds = 3_600, bytes = 100 } = {},
) {
  await db.run(sql`
    with mail as (
      insert into messages (workspace_id, id, source, origin_name, from_email, localpart, domain, subject, created_at, updated_at)
      select ${workspaceId}, gen_random_uuid(), 'api', '', 'shop@sender.test', 'user' || n, ${domain}, '', now(), now()
      from generate_series(1, ${count}::integer) n
      returning id, localpart
    )
    insert into delivery_queue (workspace_id, message_id, campaign_id, priority, domain, bytes, expires_at, due_at)
    select ${workspaceId}, id, ${campaignId}, 1, ${domain}, ${bytes}, now() + interval '3 days',
      now() - make_interval(secs => ${agoSeconds}::float8 - substr(localpart, 5)::integer)
    from mail`);
}

const orderOf = (change: Partial<LeaseOrder> = {}) => leaseOrder({ priority: 1, limit: 24, ...change });
const lease = (change: Partial<LeaseOrder> = {}) => leaseMessages(db, orderOf(change));
const countOf = (messages: readonly { workspace_id: WorkspaceId }[], workspaceId: WorkspaceId) =>
  messages.filter((message) => message.workspace_id === workspaceId).length;

test("a workspace with thousands of due messages leaves room for another workspace's first messages in the next batch", async () => {
  await wait(busy, 3_000);
  await wait(other, 5, { agoSeconds: 10 });
  const batch = await lease();
  expect([countOf(batch, busy), countOf(batch, other)]).toEqual([19, 5]);
});

test("workspaces get equal shares of a batch, however many campaigns one of them has", async () => {
  for (let n = 0; n < 12; n++) await wait(busy, 30, { campaignId: newId() });
  await wait(other, 30, { campaignId: newId() });
  const batch = await lease();
  expect(countOf(batch, busy)).toBe(12);
  expect(countOf(batch, other)).toBe(12);
});

test("workspaces get equal shares of the bytes of a batch", async () => {
  await wait(busy, 100);
  await wait(other, 100, { agoSeconds: 10 });
  const batch = await lease({ bytes: 1_000 });
  expect([countOf(batch, busy), countOf(batch, other)]).toEqual([5, 5]);
});

/** Leases with one worker until it has looked at every line and found nothing; the messages of each lease. */
async function leaseAll(order: LeaseOrder): Promise<LeasedMessage[][]> {
  const cursor = new QueueCursor();
  const batches: LeasedMessage[][] = [];
  for (;;) {
    const batch = await cursor.lease(db, order);
    if (batch.length > 0) batches.push(batch);
    else if (!cursor.isMidRound) return batches;
  }
}
const idsOf = (batches: readonly (readonly LeasedMessage[])[]) =>
  new Set(batches.flat().map(({ message_id }) => message_id));

test("of a workspace with more lines than a batch has room for, all are leased in turns", async () => {
  for (let n = 0; n < 30; n++) await wait(busy, 2, { campaignId: newId() });
  const batches = await leaseAll(orderOf());
  expect(Math.max(...batches.map(({ length }) => length))).toBeLessThanOrEqual(24);
  expect([idsOf(batches).size, batches.flat().length]).toEqual([60, 60]);
});

test("a workspace with more lines than a batch has room for leaves room for the lines of others", async () => {
  for (let n = 0; n < 30; n++) await wait(busy, 20, { campaignId: newId() });
  await wait(other, 40);
  const [first = [], second = []] = await leaseAll(orderOf());
  expect([countOf(first, other), countOf(second, other)]).toEqual([12, 12]);
});

/** A message for each of many workspaces, in the order of their ids. */
async function waitEach(count: number, { isDue = true, of = 1 } = {}): Promise<void> {
  await db.run(sql`
    with mail as (
      insert into messages (workspace_id, id, source, origin_name, from_email, localpart, domain, subject, created_at, updated_at)
      select lpad(to_hex(n), 32, '0')::uuid, gen_random_uuid(), 'api', '', 'shop@sender.test', 'ann', 'example.test', '', now(), now()
      from generate_series(1, ${count}::integer) n, generate_series(1, ${of}::integer)
      returning workspace_id, id
    )
    insert into delivery_queue (workspace_id, message_id, priority, domain, bytes, expires_at, due_at)
    select workspace_id, id, 1, 'example.test', 100, now() + interval '3 days',
      now() + ${isDue ? "-1 minute" : "1 hour"}::interval
    from mail`);
}

test("of more workspaces than a batch has room for, each has had its turn before one has its third", async () => {
  await waitEach(60, { of: 5 });
  const cursor = new QueueCursor();
  const turns = new Map<WorkspaceId, number>();
  const order = orderOf();
  while (turns.size < 60) {
    for (const id of new Set((await cursor.lease(db, order)).map(({ workspace_id }) => workspace_id))) {
      turns.set(id, (turns.get(id) ?? 0) + 1);
      expect(turns.get(id)).toBeLessThan(3);
    }
  }
});

test("a message behind thousands of lines with nothing due is leased before the round is over", async () => {
  await waitEach(2_500, { isDue: false });
  await wait(other, 1);
  expect((await leaseAll(orderOf())).flat()).toHaveLength(1);
});

test("lines behind blocked ones are leased, and a round over blocked lines ends", async () => {
  for (let n = 0; n < 40; n++) await wait(asWorkspaceId(newId()), 2, { domain: "full.test" });
  await wait(asWorkspaceId(newId()), 3);
  const batches = await leaseAll(orderOf({ saturated: ["full.test"] }));
  expect(batches.flat().map(({ domain }) => domain)).toEqual(Array(3).fill("example.test"));
});

test("two workers lease all messages, none of them twice", async () => {
  await waitEach(100, { of: 3 });
  const [first, second] = await Promise.all([leaseAll(orderOf()), leaseAll(orderOf())]);
  const ids = [...idsOf(first), ...idsOf(second)];
  expect([ids.length, new Set(ids).size]).toEqual([300, 300]);
});

test("no message is leased twice, and within a line the oldest goes first", async () => {
  await wait(busy, 50);
  const [first, second] = [await lease(), await lease()];
  const places = [...first, ...second].map(({ localpart }) => Number(localpart.slice(4)));
  expect(places.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 48 }, (_, at) => at + 1));
  expect(Math.max(...first.map(({ localpart }) => Number(localpart.slice(4))))).toBe(24);
});

test("messages of a saturated lane or a paused campaign leave their room to others", async () => {
  const campaignId = newId();
  await wait(busy, 30, { campaignId });
  await wait(other, 30, { domain: "full.test" });
  await wait(other, 3);
  const batch = await lease({ saturated: ["full.test"], halted: [campaignId] });
  expect(batch.map(({ domain }) => domain)).toEqual(Array(3).fill("example.test"));
});

const MIB = 1024 * 1024;
const share = { messages: 20, bytes: 64 * MIB, held: [], full: [], crowded: [] };
const ample = { bytes: 128 * MIB, share };

test("a workspace's large messages take no more than its share of bytes, and other workspaces' mail is leased with them", async () => {
  await wait(busy, 10, { bytes: 25 * MIB });
  await wait(other, 10);
  const batch = await lease(ample);
  expect([countOf(batch, busy), countOf(batch, other)]).toEqual([2, 10]);
});

test("a workspace's held messages count towards its share", async () => {
  await wait(busy, 10, { bytes: 25 * MIB });
  const held = [{ workspaceId: busy, messages: 1, bytes: 30 * MIB }];
  expect(await lease({ ...ample, share: { ...share, held } })).toHaveLength(1);
  const more = [{ workspaceId: busy, messages: 1, bytes: 50 * MIB }];
  expect(await lease({ ...ample, share: { ...share, held: more } })).toHaveLength(0);
});

test("one message is leased, however large it is", async () => {
  await wait(busy, 2, { bytes: 90 * MIB });
  expect(await lease(ample)).toHaveLength(1);
});

test("a workspace with large held messages still gets its small ones leased, before and after them", async () => {
  await wait(busy, 5, { bytes: 25 * MIB });
  await wait(busy, 5, { agoSeconds: 10 });
  const held = [{ workspaceId: busy, messages: 3, bytes: 64 * MIB }];
  const batch = await lease({ ...ample, share: { ...share, held, crowded: [busy] } });
  expect(batch.map(({ bytes }) => bytes)).toEqual([100, 100, 100, 100, 100]);
});

test("a workspace holds no more messages than its share, and a full one takes no room of a batch", async () => {
  await wait(busy, 100);
  await wait(other, 100);
  const held = [{ workspaceId: busy, messages: 15, bytes: 1 }];
  const batch = await lease({ ...ample, share: { ...share, held } });
  expect(countOf(batch, busy)).toBe(5);
  const next = await lease({ ...ample, share: { ...share, messages: 100, full: [busy] } });
  expect(countOf(next, other)).toBe(24);
});

test("large messages do not displace small ones, whatever workspace sends them", async () => {
  for (let n = 0; n < 5; n++) await wait(asWorkspaceId(newId()), 4, { bytes: 25 * MIB });
  await wait(other, 4, { agoSeconds: 10 });
  const batch = await lease({ ...ample, limit: 60 });
  expect(countOf(batch, other)).toBe(4);
  expect(batch.filter(({ is_large: isLarge }) => isLarge)).toHaveLength(5);
});

test("the content of a large message is not in the lease", async () => {
  await wait(busy, 1, { bytes: 100 * 1024 });
  await wait(busy, 1, { bytes: 100 * 1024 + 1 });
  const sizes = (await lease(ample)).map(({ bytes, is_large: isLarge }) => [bytes, isLarge]);
  expect(Object.fromEntries(sizes)).toEqual({ 102400: false, 102401: true });
});

test("a line with many messages gets the room of each lease while a round passes lines with nothing due", async () => {
  await waitEach(3_000, { isDue: false });
  await wait(busy, 200);
  const cursor = new QueueCursor();
  let empty = 0;
  for (let count = 0; count < 200; ) {
    const { length } = await cursor.lease(db, orderOf());
    count += length;
    if (length === 0) empty++;
  }
  // Those of the first round, before the line was found.
  expect(empty).toBeLessThanOrEqual(3);
});
