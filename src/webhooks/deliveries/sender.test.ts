import sql from "sql-template-tag";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { deleteHold, insertHold } from "#delivery/hold/store.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { createLog } from "#platform/log/log.ts";
import { KeptConnections } from "#platform/network/kept-connections.ts";
import { createSecrets } from "#platform/secrets/secrets.ts";
import { apiCaller } from "#test/support/api-caller.ts";
import { eventually } from "#test/support/eventually.ts";
import { SECRET_KEY, startService } from "#test/support/service.ts";
import { webhookLimits } from "#test/support/webhook-limits.ts";
import { answerWith, startReceiver, type WebhookReceiver } from "#test/support/webhook-receiver.ts";
import { announce } from "#webhooks/events/announce.ts";
import { createReceiver } from "#webhooks/post-to-receiver.ts";
import { secretContext } from "#webhooks/signature.ts";
import { plans } from "#workspace/billing/plans.ts";
import { changeWorkspace } from "#workspace/change-workspace.ts";
import { leaseDeliveries } from "./lease-store.ts";
import { MOST_FAILURES, RETRY_AFTER_MS, WebhookSender } from "./sender.ts";
import { settleDeliveries } from "./settle-store.ts";
import {
  KEPT_DAYS,
  removeOld,
  removeOldWebhookDeliveries,
  SwitchOffOverfullWebhooks,
} from "./switch-off-overfull-and-remove-old.ts";
import { queueRequestedTurns } from "./turns-store.ts";

const service = await startService({ env: { ALLOW_PRIVATE_WEBHOOKS: "true" } });
const { database: db, clock } = service;
const receiver = await startReceiver();
afterAll(() => receiver.close());
const results: string[] = [];
const deps = {
  db,
  clock,
  log: createLog("silent"),
  secrets: createSecrets(SECRET_KEY),
  post: createReceiver({
    resolver: service.dns.resolver,
    allowPrivate: true,
    timeoutMs: 2_000,
    connections: new KeptConnections(),
  }),
  onAttempt: (result: string) => void results.push(result),
};
const signal = new AbortController().signal;

/** Sends the due deliveries and waits for their results. */
async function work(): Promise<number> {
  const sender = new WebhookSender(deps);
  const count = await sender.sendDue();
  await sender.settled();
  return count;
}

async function workUntilDone(): Promise<void> {
  while ((await work()) > 0);
}

async function newScene(to: Pick<WebhookReceiver, "url"> = receiver) {
  const { workspaceId, key } = await service.newWorkspace();
  const call = apiCaller(() => service.url, key);
  const add = async (url = to.url) => (await call("POST", "/webhooks", { url, events: ["*"] })).body.data;
  const webhook = await add();
  const path = `/webhooks/${webhook.id}`;
  return {
    workspaceId,
    call,
    add,
    webhook,
    path,
    read: async () => (await call("GET", path)).body.data,
    deliveries: async (query = "") => (await call("GET", `${path}/deliveries${query}`)).body.data.deliveries,
  };
}

/** Announces campaign.sent events. */
const happen = (workspaceId: WorkspaceId, times = 1) =>
  db.transaction((tx) =>
    announce(
      tx,
      Array.from({ length: times }, () => ({
        workspaceId,
        type: "campaign.sent" as const,
        time: clock.now(),
        data: { campaign_id: workspaceId, name: "Spring" },
      })),
    ),
  );

beforeEach(async () => {
  await db.run(sql`truncate webhook_deliveries, webhook_leases, webhook_turns, webhook_turn_requests`);
  receiver.arrived.length = 0;
  results.length = 0;
  receiver.answer = answerWith(204);
});

test("an event is delivered with a signature, and its delivery is listed", async () => {
  const { workspaceId, webhook, deliveries } = await newScene();
  await happen(workspaceId);
  expect(await work()).toBe(1);
  const [arrived] = receiver.arrived;
  const [delivery] = await deliveries();
  expect(
    new Webhook(webhook.secret).verify(arrived?.body ?? "", arrived?.headers as Record<string, string>),
  ).toEqual({
    type: "campaign.sent",
    timestamp: clock.now().toISOString(),
    data: { campaign_id: workspaceId, name: "Spring" },
  });
  expect(arrived?.headers).toMatchObject({ "webhook-id": delivery.id, "content-type": "application/json" });
  expect(delivery).toMatchObject({
    type: "campaign.sent",
    status: "delivered",
    attempts: 1,
    status_code: 204,
    error: null,
    next_attempt_at: null,
    attempted_at: clock.now().toISOString(),
  });
  expect(await work()).toBe(0);
});

test("while sending is held, a delivery waits; after the release it is made once", async () => {
  const { workspaceId, deliveries } = await newScene();
  await db.transaction((tx) => insertHold(tx, null));
  await happen(workspaceId);
  expect(await work()).toBe(0);
  expect(await deliveries()).toMatchObject([{ status: "pending", attempts: 0 }]);
  await db.transaction(deleteHold);
  expect([await work(), await work()]).toEqual([1, 0]);
  expect(receiver.arrived).toHaveLength(1);
});

test("what the receiver answered last is kept, in text, up to 16 KiB, and 1 KiB of a success", async () => {
  const { workspaceId, call, path, deliveries } = await newScene();
  receiver.answer = (response) =>
    response
      .writeHead(500, { "content-type": "text/plain" })
      .end(Buffer.from("no \0 r\u00f6\u00dfe \xff", "latin1"));
  await happen(workspaceId);
  await work();
  const [{ id }] = await deliveries();
  const read = async () => (await call("GET", `${path}/deliveries/${id}`)).body.data;
  const first = await read();
  expect(first).toMatchObject({ id, status: "pending", status_code: 500, body: { type: "campaign.sent" } });
  expect(first.answer).toEqual({
    content_type: "text/plain",
    body: "no \uFFFD r\uFFFD\uFFFDe \uFFFD",
    is_cut: false,
  });
  receiver.answer = (response) => response.writeHead(500).end("\u00e9".repeat(10_000));
  clock.advance(RETRY_AFTER_MS[0] ?? 0);
  await work();
  const { answer } = await read();
  expect(answer).toEqual({ content_type: null, body: "\u00e9".repeat(8_192), is_cut: true });
  receiver.answer = (response) => response.writeHead(200).end("\u00e9".repeat(600));
  await call("POST", `${path}/deliveries/${id}/replay`);
  await work();
  expect((await read()).answer).toEqual({ content_type: null, body: "\u00e9".repeat(512), is_cut: true });
  receiver.answer = answerWith(204);
  await call("POST", `${path}/deliveries/${id}/replay`);
  await work();
  expect((await read()).answer).toEqual({ content_type: null, body: "", is_cut: false });
});

test("all failed deliveries are replayed at once, or those of an event and a time; others stay as they are", async () => {
  const { workspaceId, call, path, deliveries } = await newScene();
  clock.set(new Date());
  await happen(workspaceId, 3);
  await db.run(sql`update webhook_deliveries set status = 'failed', next_attempt_at = null, tries = 11`);
  const from = new Date(clock.now().getTime() + 10_000).toISOString();
  clock.advance(20_000);
  await happen(workspaceId, 2);
  await db.run(sql`
    update webhook_deliveries set status = 'failed', next_attempt_at = null where status = 'pending'`);
  await happen(workspaceId);
  await work();
  receiver.arrived.length = 0;
  const replay = async (body?: object) => (await call("POST", `${path}/deliveries/replay`, body)).body.data;
  expect(await replay({ event: "message.bounced" })).toEqual({ replayed: 0, has_more: false });
  expect(await replay({ event: "campaign.sent", from })).toEqual({ replayed: 2, has_more: false });
  await workUntilDone();
  expect(receiver.arrived).toHaveLength(2);
  expect(await replay({ to: from })).toEqual({ replayed: 3, has_more: false });
  await workUntilDone();
  expect(await replay()).toEqual({ replayed: 0, has_more: false });
  expect((await deliveries("?status=delivered")).length).toBe(6);
  expect(receiver.arrived).toHaveLength(5);
});

test("retries come after 30 s, 1, 2, 5, 15, 30 min, 1, 2, 6 and 24 h, with the same id; then the delivery has failed", async () => {
  const { workspaceId, read, deliveries } = await newScene();
  receiver.answer = answerWith(500);
  await happen(workspaceId);
  await work();
  const seconds = [30, 60, 120, 300, 900, 1_800, 3_600, 7_200, 21_600, 86_400];
  expect(RETRY_AFTER_MS).toEqual(seconds.map((second) => second * 1_000));
  for (const second of seconds) {
    const [waiting] = await deliveries();
    expect(waiting).toMatchObject({ status: "pending", error: "HTTP 500", status_code: 500 });
    expect(Date.parse(waiting.next_attempt_at) - clock.now().getTime()).toBe(second * 1_000);
    clock.advance(second * 1_000 - 1);
    expect(await work()).toBe(0);
    clock.advance(1);
    expect(await work()).toBe(1);
  }
  expect(await deliveries()).toMatchObject([{ status: "failed", attempts: 11, next_attempt_at: null }]);
  expect(results).toEqual([...seconds.map(() => "retried"), "given_up"]);
  expect(new Set(receiver.arrived.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  expect(new Set(receiver.arrived.map(({ headers }) => headers["webhook-timestamp"])).size).toBe(11);
  expect(await read()).toMatchObject({ consecutive_failures: 1, is_active: true });
});

/** The state after all retries but the last. */
const beforeLastTry = () => db.run(sql`update webhook_deliveries set tries = ${RETRY_AFTER_MS.length}`);

test("thirty deliveries given up in a row switch a webhook off; switched on again, it gets the pending ones with a reset count", async () => {
  const { workspaceId, call, path, read, deliveries } = await newScene();
  receiver.answer = answerWith(503);
  await happen(workspaceId, MOST_FAILURES - 1);
  await beforeLastTry();
  await workUntilDone();
  expect(await read()).toMatchObject({ consecutive_failures: 29, is_active: true, disabled_reason: null });
  await happen(workspaceId, 1);
  await beforeLastTry();
  await workUntilDone();
  expect(await read()).toMatchObject({
    consecutive_failures: 30,
    is_active: false,
    disabled_reason: "30 deliveries in a row were given up; the last error: HTTP 503",
  });
  await happen(workspaceId);
  expect(await deliveries("?status=pending")).toEqual([]);
  const [failed] = await deliveries("?status=failed");
  expect((await call("POST", `${path}/deliveries/${failed.id}/replay`)).status).toBe(409);
  expect((await call("PATCH", path, { is_active: true })).body.data).toMatchObject({
    consecutive_failures: 0,
    is_active: true,
    disabled_reason: null,
  });
});

test("a successful delivery in between resets the count of failures", async () => {
  const { workspaceId, read } = await newScene();
  receiver.answer = answerWith(503);
  await happen(workspaceId, 5);
  await beforeLastTry();
  await workUntilDone();
  expect(await read()).toMatchObject({ consecutive_failures: 5 });
  receiver.answer = answerWith(200);
  await happen(workspaceId);
  await workUntilDone();
  expect(await read()).toMatchObject({ consecutive_failures: 0 });
});

test("a replay has the same id and all retries", async () => {
  const { workspaceId, call, path, deliveries } = await newScene();
  receiver.answer = answerWith(500);
  await happen(workspaceId);
  await beforeLastTry();
  await workUntilDone();
  const [failed] = await deliveries();
  expect(failed.status).toBe("failed");
  const replayed = await call("POST", `${path}/deliveries/${failed.id}/replay`);
  expect([replayed.status, replayed.body.data]).toMatchObject([200, { id: failed.id, status: "pending" }]);
  await work();
  expect(await deliveries()).toMatchObject([{ status: "pending", attempts: 2 }]);
  receiver.answer = answerWith(200);
  clock.advance(30_000);
  await work();
  expect(await deliveries()).toMatchObject([{ status: "delivered", attempts: 3 }]);
  expect(new Set(receiver.arrived.map(({ headers }) => headers["webhook-id"]))).toEqual(new Set([failed.id]));
});

test("a delivery in progress cannot be replayed", async () => {
  const { workspaceId, call, path, deliveries } = await newScene();
  await happen(workspaceId);
  await lease();
  const [{ id }] = await deliveries();
  expect((await call("POST", `${path}/deliveries/${id}/replay`)).status).toBe(409);
});

describe("a webhook with too many pending deliveries", () => {
  const HOUR = 3_600_000;
  const bounds = { most: 40, mostOverdue: 20, overdueMs: 6 * HOUR };
  const newTask = () => new SwitchOffOverfullWebhooks(deps, bounds);

  test("is switched off with a reason; one with fewer is not", async () => {
    const task = newTask();
    const [full, other] = [await newScene(), await newScene()];
    await happen(full.workspaceId, 40);
    await happen(other.workspaceId, 20);
    await task.run();
    expect(await full.read()).toMatchObject({ is_active: true });
    await happen(full.workspaceId);
    await task.run();
    expect(await full.read()).toMatchObject({
      is_active: false,
      disabled_reason:
        "events arrive faster than the receiver takes them: more than 40 deliveries are pending",
    });
    await happen(full.workspaceId);
    expect(await full.deliveries("?limit=100")).toHaveLength(41);
    clock.advance(7 * HOUR);
    await task.run();
    expect(await other.read()).toMatchObject({ is_active: true, disabled_reason: null });
  });

  test("is switched off earlier when the oldest is long overdue; switched on again, it has an hour to catch up", async () => {
    const task = newTask();
    const { workspaceId, call, path, read } = await newScene();
    await happen(workspaceId, 21);
    clock.advance(6 * HOUR - 1);
    await task.run();
    expect(await read()).toMatchObject({ is_active: true });
    clock.advance(1);
    await task.run();
    const off = {
      is_active: false,
      disabled_reason:
        "events arrive faster than the receiver takes them: more than 20 deliveries are pending, the oldest for more than 6 hours",
    };
    expect(await read()).toMatchObject(off);
    await call("PATCH", path, { is_active: true });
    clock.advance(HOUR - 1);
    await task.run();
    expect(await read()).toMatchObject({ is_active: true });
    clock.advance(1);
    await task.run();
    expect(await read()).toMatchObject(off);
  });

  test("is left alone while sending is held, and has an hour to catch up after the release", async () => {
    const task = newTask();
    const { workspaceId, read, deliveries } = await newScene();
    await happen(workspaceId, 21);
    await insertHold(db, null);
    clock.advance(KEPT_DAYS * 24 * HOUR + 1);
    await task.run();
    const context = { signal: new AbortController().signal, log: createLog("silent") };
    await removeOldWebhookDeliveries(deps).run(context);
    await deleteHold(db);
    clock.advance(HOUR - 1);
    await task.run();
    expect(await read()).toMatchObject({ is_active: true });
    expect(await deliveries("?limit=100")).toHaveLength(21);
    clock.advance(1);
    await task.run();
    expect(await read()).toMatchObject({ is_active: false });
  });

  test("has an hour to catch up after an outage of the service", async () => {
    const { workspaceId, read } = await newScene();
    await happen(workspaceId, 21);
    clock.advance(7 * HOUR);
    const task = newTask();
    clock.advance(HOUR - 1);
    await task.run();
    expect(await read()).toMatchObject({ is_active: true });
    clock.advance(1);
    await task.run();
    expect(await read()).toMatchObject({ is_active: false });
  });

  test("has an hour to catch up after its workspace was suspended", async () => {
    const task = newTask();
    const { workspaceId, read } = await newScene();
    await happen(workspaceId, 21);
    const setSuspended = (is_suspended: boolean) =>
      changeWorkspace(db, workspaceId, { is_suspended }, { clock, plans });
    await setSuspended(true);
    clock.advance(7 * HOUR);
    await setSuspended(false);
    clock.advance(HOUR - 1);
    await task.run();
    expect(await read()).toMatchObject({ is_active: true });
    clock.advance(1);
    await task.run();
    expect(await read()).toMatchObject({ is_active: false });
  });

  test("is found among many whose deliveries wait: in each run if its oldest is overdue, else by turns", async () => {
    const task = new SwitchOffOverfullWebhooks(deps, bounds, 2);
    const others = await workspacesOf(6, receiver.url);
    const [farOver, overdue] = [await newScene(), await newScene()];
    for (const workspaceId of others) await happen(workspaceId);
    await happen(overdue.workspaceId, 21);
    clock.advance(6 * HOUR);
    await happen(farOver.workspaceId, 41);
    await task.run();
    expect(await overdue.read()).toMatchObject({ is_active: false });
    for (let run = 0; run < 4; run++) await task.run();
    expect(await farOver.read()).toMatchObject({ is_active: false });
  });
});

async function lease() {
  const now = clock.now();
  await queueRequestedTurns(db, now, 1_000);
  const until = new Date(now.getTime() + 60_000);
  return db.transaction((tx) => leaseDeliveries(tx, { now, until, most: 100, ...webhookLimits }));
}

test("a delivery leased by a killed process is sent with the same id when the lease has expired", async () => {
  const { workspaceId, deliveries } = await newScene();
  await happen(workspaceId);
  const [held] = await lease();
  expect(await work()).toBe(0);
  clock.advance(60_000);
  expect(await work()).toBe(1);
  expect(receiver.arrived[0]?.headers["webhook-id"]).toBe(held?.id);
  expect(await deliveries()).toMatchObject([{ status: "delivered", attempts: 1 }]);
});

test("a result after the lease has expired is discarded", async () => {
  const { workspaceId, deliveries } = await newScene();
  await happen(workspaceId);
  let isFirst = true;
  receiver.answer = (response, arrived) => {
    if (!isFirst) return answerWith(200)(response, arrived);
    isFirst = false;
    clock.advance(60_000);
    void work().then(() => answerWith(500)(response, arrived));
  };
  await work();
  expect(receiver.arrived).toHaveLength(2);
  expect(await deliveries()).toMatchObject([{ status: "delivered", attempts: 1, status_code: 200 }]);
});

test("results that cannot be written at once are written later, and the delivery is made once", async () => {
  const { workspaceId, deliveries } = await newScene();
  await happen(workspaceId);
  const failed = Promise.withResolvers<void>();
  const output = { write: () => failed.resolve() };
  const sender = new WebhookSender({ ...deps, log: createLog("error", { format: "json", output }) });
  receiver.answer = (response, arrived) =>
    void db
      .run(sql`alter table webhook_leases rename to elsewhere`)
      .then(() => answerWith(200)(response, arrived));
  await sender.sendDue();
  await failed.promise;
  await db.run(sql`alter table elsewhere rename to webhook_leases`);
  await sender.settled();
  expect(await deliveries()).toMatchObject([{ status: "delivered", attempts: 1 }]);
  expect(receiver.arrived).toHaveLength(1);
});

test("a result of a lease that expired before a replay is discarded", async () => {
  const { workspaceId, call, path, deliveries } = await newScene();
  await happen(workspaceId);
  const [late] = await lease();
  if (late === undefined) throw new Error("nothing was leased");
  clock.advance(60_000);
  expect((await call("POST", `${path}/deliveries/${late.id}/replay`)).status).toBe(200);
  const time = clock.now();
  const end = {
    status: "failed",
    nextAttemptAt: null,
    statusCode: 500,
    error: "HTTP 500",
    answer: null,
  } as const;
  expect(await settleDeliveries(db, [{ lease: late, ...end, durationMs: 1, time }])).toEqual([]);
  expect(await deliveries()).toMatchObject([{ status: "pending", attempts: 0 }]);
  expect(await work()).toBe(1);
  expect(await deliveries()).toMatchObject([{ status: "delivered", attempts: 1 }]);
});

/** Workspaces with one webhook each. */
async function workspacesOf(count: number, url: string): Promise<WorkspaceId[]> {
  const made = Array.from({ length: count }, () => ({
    workspaceId: newId() as WorkspaceId,
    webhookId: newId(),
  }));
  const secrets = made.map(({ webhookId }) => deps.secrets.seal("whsec_AAAA", secretContext(webhookId)));
  await db.run(sql`
    with made as (
      select * from unnest(${made.map(({ workspaceId }) => workspaceId)}::uuid[],
        ${made.map(({ webhookId }) => webhookId)}::uuid[], ${secrets}::bytea[]) as s (workspace_id, id, secret)
    ), added as (insert into workspaces (id, name) select workspace_id, 'Test' from made)
    insert into webhooks (workspace_id, id, url, events, is_active, secret, created_at, updated_at)
    select workspace_id, id, ${url}, '{*}', true, secret, now(), now() from made`);
  return made.map(({ workspaceId }) => workspaceId);
}

describe("fairness", () => {
  test("a webhook has at most ten attempts at a time and a workspace forty, on all machines together", async () => {
    const { workspaceId, add } = await newScene();
    for (let more = 0; more < 4; more++) await add();
    await happen(workspaceId, 15);
    const leased = await lease();
    const perWebhook = Map.groupBy(leased, ({ webhook_id }) => webhook_id);
    expect(leased).toHaveLength(40);
    for (const group of perWebhook.values()) expect(group.length).toBeLessThanOrEqual(10);
    expect(await lease()).toEqual([]);
  });

  test("a webhook whose receiver does not answer has one attempt at a time until it does", async () => {
    const { workspaceId } = await newScene();
    await happen(workspaceId, 50);
    receiver.answer = (response) => response.destroy();
    const sender = new WebhookSender(deps);
    const counts: number[] = [];
    const send = async () => {
      counts.push(await sender.sendDue());
      await sender.settled();
      clock.advance(500);
    };
    await send();
    await send();
    receiver.answer = answerWith(500);
    await send();
    await send();
    expect(counts).toEqual([10, 1, 1, 10]);
  });

  test("receivers that do not answer, however many, leave places to other webhooks", async () => {
    const slow = await startReceiver();
    slow.answer = (response) => response.destroy();
    const post = createReceiver({
      resolver: service.dns.resolver,
      allowPrivate: true,
      connections: new KeptConnections(),
    });
    const sender = new WebhookSender({ ...deps, post });
    const stuck = await workspacesOf(300, slow.url);
    for (const workspaceId of stuck) await happen(workspaceId, 20);
    for (let round = 0; round < 6; round++) {
      await sender.sendDue();
      await sender.settled();
      clock.advance(500);
    }
    slow.arrived.length = 0;
    slow.answer = () => {};
    const quick = await newScene();
    await happen(quick.workspaceId, 25);
    await eventually("the deliveries of the quick webhook", async () => {
      await sender.sendDue();
      clock.advance(20);
      return receiver.arrived.length === 25;
    });
    expect(slow.arrived.length).toBeLessThanOrEqual(100);
    await slow.close();
    await sender.settled();
  });

  test("receivers that answer just before the deadline, however many, leave places to quick ones", async () => {
    const { url } = receiver;
    const slowUrl = "https://slow.test/";
    let slowInProgress = 0;
    let isSlowOver = Promise.withResolvers<void>();
    const post: typeof deps.post = async (attempt) => {
      if (attempt.url === url) return deps.post(attempt);
      slowInProgress += 1;
      await isSlowOver.promise;
      slowInProgress -= 1;
      return { isDelivered: true, statusCode: 204, error: null, durationMs: 9_900, answer: null };
    };
    const sender = new WebhookSender({ ...deps, post });
    for (const workspaceId of await workspacesOf(60, slowUrl)) await happen(workspaceId, 40);
    // Until the first answers, the service does not know them.
    await sender.sendDue();
    isSlowOver.resolve();
    await sender.settled();
    isSlowOver = Promise.withResolvers();
    for (let look = 0; look < 20; look++) {
      await sender.sendDue();
      clock.advance(500);
    }
    const quick = await newScene();
    await happen(quick.workspaceId, 200);
    await eventually("the deliveries of the quick webhook", async () => {
      await sender.sendDue();
      clock.advance(20);
      return receiver.arrived.length === 200;
    });
    expect(slowInProgress).toBeGreaterThan(100);
    expect(slowInProgress).toBeLessThanOrEqual(150);
    isSlowOver.resolve();
    await sender.settled();
  });

  test("a receiver that never answers does not delay other webhooks", async () => {
    const slow = await startReceiver();
    slow.answer = () => {};
    const [stuck, quick] = [await newScene(slow), await newScene()];
    await happen(stuck.workspaceId, 500);
    clock.advance(1_000);
    await happen(quick.workspaceId, 25);
    const sender = new WebhookSender(deps);
    sender.start();
    await eventually("the deliveries of the quick webhook", async () => {
      clock.advance(20);
      return receiver.arrived.length === 25;
    });
    expect(receiver.arrived).toHaveLength(25);
    expect(slow.arrived.length).toBeLessThanOrEqual(10);
    await slow.close();
    await sender.stop();
  });
});

test("deliveries of a suspended workspace or an inactive webhook stay pending", async () => {
  const { workspaceId, call, path } = await newScene();
  await happen(workspaceId);
  await db.run(sql`update workspaces set is_suspended = true where id = ${workspaceId}`);
  expect(await work()).toBe(0);
  await db.run(sql`update workspaces set is_suspended = false where id = ${workspaceId}`);
  await call("PATCH", path, { is_active: false });
  expect(await work()).toBe(0);
  await call("PATCH", path, { is_active: true });
  expect(await work()).toBe(1);
});

test("after a rotation both secrets verify for a day, then only the new one", async () => {
  const { workspaceId, call, path, webhook } = await newScene();
  const { secret } = (await call("POST", `${path}/rotate-secret`)).body.data;
  const verifiers = [secret, webhook.secret].map((one) => new Webhook(one));
  const signatures = async () => {
    await happen(workspaceId);
    await work();
    const { body, headers } = receiver.arrived.at(-1) ?? { body: "", headers: {} };
    // The standardwebhooks library compares the timestamp with the system clock.
    return verifiers.map((verifier) =>
      String(headers["webhook-signature"])
        .split(" ")
        .includes(
          verifier.sign(
            String(headers["webhook-id"]),
            new Date(Number(headers["webhook-timestamp"]) * 1_000),
            body,
          ),
        ),
    );
  };
  expect(await signatures()).toEqual([true, true]);
  clock.advance(24 * 60 * 60 * 1_000);
  expect(await signatures()).toEqual([true, false]);
});

test("a secret sealed with another SECRET_KEY fails the attempt with an explanation; after a rotation deliveries are sent again", async () => {
  const { workspaceId, call, path, webhook, deliveries } = await newScene();
  const foreign = createSecrets("another key of the operator").seal(
    webhook.secret,
    secretContext(webhook.id),
  );
  await db.run(sql`update webhooks set secret = ${foreign} where id = ${webhook.id}`);
  await happen(workspaceId);
  await work();
  expect(receiver.arrived).toEqual([]);
  expect(await deliveries()).toMatchObject([
    {
      status: "pending",
      attempts: 1,
      status_code: null,
      error: expect.stringContaining("secret cannot be decrypted"),
      next_attempt_at: new Date(clock.now().getTime() + 30_000).toISOString(),
    },
  ]);
  const { secret } = (await call("POST", `${path}/rotate-secret`)).body.data;
  clock.advance(30_000);
  await work();
  expect(await deliveries()).toMatchObject([{ status: "delivered", attempts: 2, error: null }]);
  const [{ body, headers } = { body: "", headers: {} }] = receiver.arrived;
  expect(headers["webhook-signature"]).toBe(
    new Webhook(secret).sign(
      String(headers["webhook-id"]),
      new Date(Number(headers["webhook-timestamp"]) * 1_000),
      body,
    ),
  );
});

test("the deliveries of a deleted webhook are removed; others are kept for fourteen days", async () => {
  const [gone, kept] = [await newScene(), await newScene()];
  await happen(gone.workspaceId, 3);
  await happen(kept.workspaceId, 3);
  expect((await gone.call("DELETE", gone.path)).status).toBe(200);
  expect(await lease()).toHaveLength(3);
  const count = async () =>
    (await db.row<{ count: number }>(sql`select count(*) from webhook_deliveries`))?.count;
  await removeOld(deps, signal);
  expect(await count()).toBe(3);
  expect(await db.row(sql`select from webhooks where id = ${gone.webhook.id}`)).toBeUndefined();
  clock.advance(14 * 24 * 60 * 60 * 1_000 + 1);
  await removeOld(deps, signal);
  expect(await count()).toBe(0);
});

test("a running sender delivers due events, and stops after the attempts in progress", async () => {
  const { workspaceId, deliveries } = await newScene();
  await happen(workspaceId, 30);
  const sender = new WebhookSender(deps);
  sender.start();
  await eventually("thirty deliveries", async () => {
    clock.advance(20);
    return receiver.arrived.length === 30;
  });
  await sender.stop();
  expect((await deliveries()).every(({ status }: { status: string }) => status === "delivered")).toBe(true);
});
