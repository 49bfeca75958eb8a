import sql from "sql-template-tag";
import { beforeAll, beforeEach, expect, test } from "vitest";
import type { LeasedMessage } from "#delivery/message/message.ts";
import { writeResultBatch } from "#delivery/worker/result-writer.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { asWorkspaceId, newId, nilId } from "#platform/ids.ts";
import { insertDrafts } from "#sending/acceptance/accept-messages-statement.ts";
import { testDatabase } from "#test/support/database.ts";
import { draft, nobodyElse } from "#test/support/drafts.ts";
import { leaseMessages, leaseOrder } from "#test/support/lease-order.ts";
import { untilWaiting } from "#test/support/waiting.ts";
import { requeue, resultOfSmtp } from "./decide-result.ts";
import { leaseFromLines } from "./lease-store.ts";
import { LineTurns } from "./line-turns.ts";
import { releaseHeld } from "./queue-store.ts";

const db = await testDatabase();
const workspaceId = asWorkspaceId(newId());
const order = leaseOrder();
const elsewhere = ["198.51.100.7", "127.0.0.0/8"];
const here = ["192.0.2.1"];

let id: string;
beforeAll(() =>
  db.run(sql`insert into workspaces (id, name, created_at) values (${workspaceId}, 'Test', now())`),
);
beforeEach(async () => {
  await db.run(sql`truncate delivery_queue, messages, message_contents, message_events, routed_workspaces`);
  const accepted = draft(workspaceId, "ann@example.test");
  await insertDrafts(db, [accepted]);
  id = accepted.message.id;
});

async function lease(networks: readonly string[], saturated: readonly string[] = []) {
  const [message] = await leaseMessages(db, { ...order, networks, saturated });
  return message;
}
const holdBack = async (seconds = 0) => {
  const message = await lease(elsewhere);
  if (message) await writeResultBatch(db, [requeue(message, new Date(), seconds, "192.0.2.1")], nobodyElse);
};

test("a message reserved for a source address is leased by the machine that has it", async () => {
  await holdBack();
  expect(await lease(elsewhere)).toBeUndefined();
  expect(await lease(here)).toMatchObject({ message_id: id, source_ip: "192.0.2.1", attempts: 0 });
});

test("mail about accounts, whose workspace is the first possible one, is leased among the others", async () => {
  const [reset, other] = [
    draft(asWorkspaceId(nilId), "bob@example.test"),
    draft(workspaceId, "cy@example.test"),
  ];
  await insertDrafts(db, [reset, other]);
  const first = { workspace_id: asWorkspaceId(nilId), campaign_id: nilId, starts_at: new Date(0) };
  const held = new Set<string>();
  for (const starts of [[], [first]]) {
    await db.run(sql`update delivery_queue set due_at = now() - interval '1 second'`);
    const ten = { ...order, networks: here, limit: 10 };
    const leased = await leaseFromLines(db, ten, await new LineTurns().next(db, ten, starts));
    const ids = leased.map(({ message_id }) => message_id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const one of ids) held.add(one);
    expect(ids).toContain(reset.message.id);
  }
  expect([...held].sort()).toEqual([id, reset.message.id, other.message.id].sort());
});

test("after two minutes any machine may lease it", async () => {
  await holdBack();
  await db.run(sql`update delivery_queue set due_at = now() - interval '121 seconds'`);
  expect(await lease(elsewhere)).toMatchObject({ message_id: id });
});

test("a retry is reserved for the source address only if that was chosen", async () => {
  const refused = { outcome: "refused", stage: "rcpt", code: 450, enhanced: "4.7.1", text: "later" } as const;
  const attempt = { result: refused, mxHost: null, sourceIp: "192.0.2.1" };
  const putOff = async (isSourceChosen: boolean) => {
    const message = await lease(here);
    if (message) {
      await writeResultBatch(
        db,
        [resultOfSmtp(message, { ...attempt, isSourceChosen }, new Date(), 0)],
        nobodyElse,
      );
    }
    await db.run(sql`update delivery_queue set due_at = now()`);
  };
  await putOff(true);
  expect(await lease(elsewhere)).toBeUndefined();
  await putOff(false);
  expect(await lease(elsewhere)).toMatchObject({ message_id: id, source_ip: null });
});

test("a message that waits for an address is due when its workspace's routing changes", async () => {
  await holdBack(3_600);
  expect(await releaseHeld(db, asWorkspaceId(newId()), nilId)).toBeNull();
  expect(await lease(here)).toBeUndefined();
  expect(await releaseHeld(db, workspaceId, nilId)).toBe(id);
  expect(await lease(elsewhere)).toMatchObject({ message_id: id, source_ip: null });
});

const changeRouting = (tx: Queryable = db) =>
  tx.run(sql`
    insert into routed_workspaces as r (workspace_id, version) values (${workspaceId}, 1)
    on conflict (workspace_id) do update set version = r.version + 1`);
const putBackUntilTomorrow = (message: LeasedMessage) =>
  writeResultBatch(db, [requeue(message, new Date(), 80_000, "192.0.2.1")], nobodyElse);

test("a message leased before the routing changed does not wait for an address of the old routing", async () => {
  await changeRouting();
  const before = await lease(elsewhere);
  if (before === undefined) return expect.unreachable();
  await changeRouting();
  expect(await releaseHeld(db, workspaceId, nilId)).toBeNull();
  await putBackUntilTomorrow(before);
  const after = await lease(elsewhere);
  expect(after).toMatchObject({ message_id: id, source_ip: null, routing_version: 2 });
  if (after) await putBackUntilTomorrow(after);
  expect(await lease(here)).toBeUndefined();
  expect(await releaseHeld(db, workspaceId, nilId)).toBe(id);
});

test("a message requeued while the routing changes does not wait for an address of the old routing", async () => {
  await changeRouting();
  const message = await lease(elsewhere);
  if (message === undefined) return expect.unreachable();
  let putBack: Promise<void> | undefined;
  await db.transaction(async (tx) => {
    await changeRouting(tx);
    putBack = putBackUntilTomorrow(message);
    await untilWaiting(db, 1);
  });
  await putBack;
  expect(await lease(elsewhere)).toMatchObject({ message_id: id, source_ip: null });
});

test("waiting messages are made due in parts, in the order of ids", async () => {
  const others = ["bob", "cid"].map((name) => draft(workspaceId, `${name}@example.test`));
  await insertDrafts(db, others);
  await db.run(sql`update delivery_queue set source_ip = '192.0.2.1', due_at = now() + interval '1 day'`);
  const ids = [id, ...others.map(({ message }) => message.id)].sort();
  expect(await releaseHeld(db, workspaceId, nilId, 2)).toBe(ids[1]);
  const left = await db.rows<{ message_id: string }>(sql`
    select message_id from delivery_queue where source_ip is not null and due_at > now()`);
  expect(left.map(({ message_id }) => message_id)).toEqual(ids.slice(2));
  expect(await releaseHeld(db, workspaceId, ids[1] ?? nilId, 2)).toBe(ids[2]);
  expect(await releaseHeld(db, workspaceId, ids[2] ?? nilId, 2)).toBeNull();
});

test("a saturated lane of a workspace with its own routing holds back that workspace only", async () => {
  await db.run(sql`insert into routed_workspaces (workspace_id, version) values (${workspaceId}, 3)`);
  expect(await lease(here, [`${workspaceId} example.test`])).toBeUndefined();
  expect(await lease(here, ["example.test", `${newId()} example.test`])).toMatchObject({
    routing_version: 3,
  });
});
