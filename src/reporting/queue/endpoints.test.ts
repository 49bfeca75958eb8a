import sql from "sql-template-tag";
import { expect, onTestFinished, test } from "vitest";
import { deleteHold, insertHold } from "#delivery/hold/store.ts";
import { newId, timeOfId } from "#platform/ids.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { reportScene } from "#test/support/report-scene.ts";
import { startService } from "#test/support/service.ts";
import { plans } from "#workspace/billing/plans.ts";
import { changeWorkspace } from "#workspace/change-workspace.ts";

const service = await startService();
const { database: db, clock } = service;
const now = new Date("2026-06-15T12:00:00Z");
clock.set(now);
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1_000);

/** Puts the row of the queue into the state that the delivery worker leaves after a deferral. */
const requeue = (id: string, dueAt: Date) =>
  db.run(sql`update delivery_queue set attempts = 1, due_at = ${dueAt} where message_id = ${id}`);

test("an empty queue has no lanes and no times", async () => {
  const { get } = await reportScene(service);
  const none = { messages: 0, p50_seconds: null, p95_seconds: null };
  expect(await get("/queue")).toEqual({
    messages: 0,
    is_complete: true,
    lanes: [],
    time_to_deliver: { transactional: none, bulk: none },
  });
});

test("messages are grouped by the lane that deferred them, with the newest reply, the next attempt and the limits", async () => {
  const { get, send } = await reportScene(service);
  const slow = { mxHost: "gmail-smtp-in.l.google.com", code: 421, enhancedCode: "4.7.28" };
  const first = await send("deferred", {
    ...slow,
    to: "ann@gmail.test",
    acceptedAt: ago(600),
    time: ago(500),
  });
  const second = await send("deferred", {
    ...slow,
    to: "bob@firm.test",
    acceptedAt: ago(300),
    time: ago(200),
    detail: "421 4.7.28 slow down",
  });
  const gone = { mxHost: null, code: null, detail: "connection timed out" };
  const third = await send("deferred", { ...gone, to: "eve@away.test", acceptedAt: ago(100), time: ago(90) });
  await send("queued", { to: "new@gmail.test", acceptedAt: ago(10) });
  await requeue(first, ago(-60));
  await requeue(second, ago(-30));
  await requeue(third, ago(-90));
  const { messages, is_complete, lanes } = await get("/queue");
  expect({ messages, is_complete }).toEqual({ messages: 4, is_complete: true });
  expect(lanes).toMatchObject([
    {
      lane: "google",
      waiting: 3,
      in_delivery: 0,
      deferred: 2,
      oldest_at: timeOfId(first).toISOString(),
      cause: "reply",
      reply: {
        code: 421,
        enhanced_code: "4.7.28",
        text: "421 4.7.28 slow down",
        time: ago(200).toISOString(),
      },
      limits: { connections: 5, messages_per_connection: 50, is_per_site: false },
      domains: [
        { domain: "gmail.test", waiting: 2, deferred: 1 },
        { domain: "firm.test", waiting: 1, next_attempt_at: ago(-30).toISOString() },
      ],
    },
    {
      lane: null,
      cause: "unreachable",
      limits: null,
      reply: { text: "connection timed out", mx_host: null },
    },
  ]);
});

test("what waits for a sending IP, and what a worker has taken, is told apart", async () => {
  const { get, send } = await reportScene(service);
  const held = await send("queued", { to: "ann@held.test" });
  const taken = await send("queued", { to: "ann@taken.test" });
  await db.run(sql`update delivery_queue set source_ip = '192.0.2.1' where message_id = ${held}`);
  await db.run(sql`update delivery_queue set leased_by = ${newId()} where message_id = ${taken}`);
  const [{ domains }] = (await get("/queue")).lanes;
  expect(domains).toMatchObject([
    { domain: "held.test", waiting: 1, in_delivery: 0, cause: "sending_ip" },
    { domain: "taken.test", waiting: 0, in_delivery: 1, cause: "first_attempt", next_attempt_at: null },
  ]);
});

test("what stops all mail of the workspace is the cause: a hold of sending, or its suspension", async () => {
  const { get, send, workspaceId } = await reportScene(service);
  const { get: getOther, send: sendOther } = await reportScene(service);
  const first = await send("deferred", {
    mxHost: "gmail-smtp-in.l.google.com",
    code: 421,
    to: "ann@gmail.test",
  });
  await requeue(first, ago(-60));
  await sendOther("queued");
  await insertHold(db, null);
  expect((await get("/queue")).lanes).toMatchObject([
    { cause: "sending_held", reply: { code: 421 }, domains: [{ cause: "sending_held" }] },
  ]);
  await changeWorkspace(db, workspaceId, { is_suspended: true }, { clock, plans });
  clock.advance(3_000);
  onTestFinished(() => clock.set(now));
  expect((await get("/queue")).lanes).toMatchObject([
    { cause: "workspace_suspended", domains: [{ cause: "workspace_suspended" }] },
  ]);
  expect((await getOther("/queue")).lanes).toMatchObject([{ cause: "sending_held" }]);
  await deleteHold(db);
  expect((await getOther("/queue")).lanes).toMatchObject([{ cause: "first_attempt" }]);
});

test("scheduled mail waits for its time, from which its delivery is measured", async () => {
  const { get, send } = await reportScene(service);
  const schedule = (id: string, at: Date) =>
    db.run(sql`
      update messages set email_details = jsonb_build_object('recipient_type', 'to', 'scheduled_at', ${at.toISOString()}::text)
      where id = ${id}`);
  const later = await send("queued", { to: "ann@later.test" });
  await schedule(later, ago(-3_600));
  await db.run(sql`update delivery_queue set due_at = ${ago(-3_600)} where message_id = ${later}`);
  const due = await send("queued", { to: "ann@both.test" });
  await db.run(sql`update delivery_queue set due_at = ${ago(10)} where message_id = ${due}`);
  const also = await send("queued", { to: "bob@both.test" });
  await schedule(also, ago(-3_600));
  await db.run(sql`update delivery_queue set due_at = ${ago(-3_600)} where message_id = ${also}`);
  expect((await get("/queue")).lanes).toMatchObject([
    {
      cause: "first_attempt",
      domains: [
        { domain: "both.test", cause: "first_attempt" },
        { domain: "later.test", cause: "scheduled", next_attempt_at: ago(-3_600).toISOString() },
      ],
    },
  ]);
  await schedule(await send("delivered", { acceptedAt: ago(1_000), time: ago(95) }), ago(100));
  const { transactional } = (await get("/queue")).time_to_deliver;
  expect(transactional).toEqual({ messages: 1, p50_seconds: 5, p95_seconds: 5 });
});

test("times of delivery are those of the last day, transactional mail apart from bulk mail", async () => {
  const { get, send } = await reportScene(service);
  for (const seconds of [1, 2, 3, 4, 100]) {
    await send("delivered", { acceptedAt: ago(1_000), time: ago(1_000 - seconds) });
  }
  const message = { source: "campaign", originId: newId(), originName: "Spring" } as const;
  await send("delivered", { message, acceptedAt: ago(1_000), time: ago(400) });
  const { transactional, bulk } = (await get("/queue")).time_to_deliver;
  expect(transactional).toMatchObject({ messages: 5, p50_seconds: 3 });
  expect(transactional.p95_seconds).toBeCloseTo(80.8);
  expect(bulk).toEqual({ messages: 1, p50_seconds: 600, p95_seconds: 600 });
  clock.set(new Date(Date.now() + 2 * DAY_MS));
  onTestFinished(() => clock.set(now));
  expect((await get("/queue")).time_to_deliver.transactional.messages).toBe(0);
});

test("nothing is shown of another workspace, nor without the permission", async () => {
  const theirs = await reportScene(service);
  await theirs.send("queued");
  const { get } = await reportScene(service);
  expect((await get("/queue")).messages).toBe(0);
  const key = await service.newKey(["campaigns:read"]);
  expect((await service.call("GET", "/queue", undefined, { key })).status).toBe(403);
});
