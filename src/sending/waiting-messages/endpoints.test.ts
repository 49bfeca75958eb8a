import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { settleLeases } from "#delivery/queue/settle-leases-store.ts";
import { newId } from "#platform/ids.ts";
import { insertDrafts } from "#sending/acceptance/accept-messages-statement.ts";
import { draft } from "#test/support/drafts.ts";
import { leaseMessages } from "#test/support/lease-order.ts";
import { startService } from "#test/support/service.ts";

const service = await startService();
const { call, database, workspaceId } = service;

/** A message that waits an hour for its second attempt. */
async function deferred(): Promise<string> {
  const one = draft(workspaceId, "ada@people.test");
  await insertDrafts(database, [one]);
  const { id } = one.message;
  await database.run(sql`
    update delivery_queue set attempts = 1, due_at = now() + interval '1 hour' where message_id = ${id}`);
  await database.run(sql`
    update messages set status = 'deferred', attempts = 1, next_attempt_at = now() + interval '1 hour' where id = ${id}`);
  return id;
}

const post = (id: string, act: "retry" | "cancel", key = service.key) =>
  call("POST", `/messages/${id}/${act}`, undefined, { key });
const queued = (id: string) =>
  database.row<{ is_due: boolean; attempts: number }>(sql`
    select due_at <= now() as is_due, attempts from delivery_queue where message_id = ${id}`);
const lease = () =>
  leaseMessages(database, {
    workerId: newId(),
    priority: 0,
    limit: 50,
    bytes: 1_000_000,
    seconds: 60,
    saturated: [],
  });

test("a retried message is due now, and its attempts still count", async () => {
  const id = await deferred();
  const { status, body } = await post(id, "retry");
  expect([status, body.data]).toEqual([
    200,
    { id, attempts: 1, next_attempt_at: expect.stringMatching(/Z$/) },
  ]);
  expect(await queued(id)).toEqual({ is_due: true, attempts: 1 });
  expect((await call("GET", `/messages/${id}`)).body.data.next_attempt_at).toBe(body.data.next_attempt_at);
});

test("a cancelled message is never leased again, and its timeline says why", async () => {
  const id = await deferred();
  expect((await post(id, "cancel")).body.data).toEqual({ id, status: "cancelled" });
  expect(await queued(id)).toBeUndefined();
  const { data } = (await call("GET", `/messages/${id}`)).body;
  expect(data).toMatchObject({ status: "cancelled", next_attempt_at: null });
  expect(data.timeline.at(-1)).toMatchObject({ type: "cancelled", detail: "Cancelled on request" });
});

test("what was charged for a message that no server saw is refunded, once", async () => {
  const one = draft(workspaceId, "eve@people.test");
  await insertDrafts(database, [one]);
  const refunds = () =>
    database.row<{ units: number }>(sql`
      select coalesce(sum(quantity), 0)::int as units from meter_entries
      where workspace_id = ${workspaceId} and quantity < 0`);
  const before = (await refunds())?.units ?? 0;
  expect((await post(one.message.id, "cancel")).status).toBe(200);
  expect((await post(one.message.id, "cancel")).status).toBe(409);
  expect((await refunds())?.units).toBe(before - 1);
});

test("a message that is being sent is neither cancelled nor retried, and is delivered", async () => {
  const id = await deferred();
  await post(id, "retry");
  const held = (await lease()).find(({ message_id }) => message_id === id);
  for (const act of ["retry", "cancel"] as const) {
    const { status, body } = await post(id, act);
    expect([status, body.code]).toEqual([409, "CONFLICT"]);
    expect(body.error).toContain("being sent");
  }
  const settled = await settleLeases(database, [
    {
      workspaceId,
      messageId: id,
      leaseNumber: held?.lease_number ?? 0,
      attempts: 2,
      dueAt: null,
      decidedAt: new Date(),
      isDelivered: true,
    },
  ]);
  expect(settled.size).toBe(1);
});

test("a cancel and a lease at the same time: exactly one of them has the message", async () => {
  const ids: string[] = [];
  for (let at = 0; at < 10; at += 1) {
    const id = await deferred();
    await post(id, "retry");
    ids.push(id);
  }
  const [leased, ...answers] = await Promise.all([lease(), ...ids.map((id) => post(id, "cancel"))]);
  const taken = new Set(leased?.map(({ message_id }) => message_id));
  for (const [at, id] of ids.entries()) {
    expect([id, answers[at]?.status]).toEqual([id, taken.has(id) ? 409 : 200]);
  }
});

test("a message that has ended is refused with its state", async () => {
  const id = await deferred();
  await post(id, "cancel");
  const { status, body } = await post(id, "retry");
  expect([status, body.error]).toEqual([409, "The message does not wait any more: it is cancelled"]);
});

test("a message of a paused campaign is not tried, and the answer says why", async () => {
  const id = await deferred();
  const campaignId = newId();
  await database.run(sql`
    insert into campaigns (workspace_id, id, name, subject, from_email, message_type, recipient_type, use_custom_headers,
      status, created_at, updated_at)
    values (${workspaceId}, ${campaignId}, 'Spring', 'Hello', 'a@b.test', 'email', 'mailing_list', false, 'paused', now(), now())`);
  await database.run(
    sql`update messages set source = 'campaign', origin_id = ${campaignId} where id = ${id}`,
  );
  const { status, body } = await post(id, "retry");
  expect([status, body.error]).toEqual([409, "The message waits because its campaign is paused"]);
  expect(await queued(id)).toEqual({ is_due: false, attempts: 1 });
  // Paid for, so the delivery workers send it, too.
  await database.run(sql`
    update campaigns set pause_reason = 'insufficient_balance' where id = ${campaignId}`);
  expect((await post(id, "retry")).status).toBe(200);
  expect((await queued(id))?.is_due).toBe(true);
});

test("neither works for another workspace, or with the right to read alone", async () => {
  const id = await deferred();
  const { key } = await service.newWorkspace();
  const reader = await service.newKey(["reports:read"]);
  for (const act of ["retry", "cancel"] as const) {
    expect((await post(id, act, key)).status).toBe(404);
    expect((await post(id, act, reader)).status).toBe(403);
  }
  expect(await queued(id)).toEqual({ is_due: false, attempts: 1 });
});
