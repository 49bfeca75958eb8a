import { pino } from "pino";
import sql from "sql-template-tag";
import { beforeEach, describe, expect, test } from "vitest";
import { readConfig } from "#platform/config/config.ts";
import { createLog } from "#platform/log/log.ts";
import { startBareServer } from "#test/support/bare-server.ts";
import { type EventChange, startFakeStripe } from "#test/support/fake-stripe.ts";
import { startService } from "#test/support/service.ts";
import { billingTasks } from "#workspace/billing/billing-jobs.ts";
import { plans } from "#workspace/billing/plans.ts";
import { changeWorkspace } from "#workspace/change-workspace.ts";
import { applyPaymentEvent } from "./card-top-up.ts";
import { stripeOf } from "./stripe.ts";
import { registerPaymentPages } from "./webhook-and-return-page.ts";

const stripe = await startFakeStripe();
const service = await startService({ env: stripe.env });
const { call, clock, database, url, workspaceId } = service;
await changeWorkspace(database, workspaceId, { plan: "free" }, { clock, plans });

beforeEach(async () => {
  stripe.refuse(null);
  await database.run(sql`update billing_transactions set status = 'failed' where status = 'pending'`);
});

const begin = async (amount = "25.00"): Promise<string> => {
  const { status, body } = await call("POST", "/billing/top-up", { amount });
  expect(status, body.error).toBe(201);
  return body.data.transaction.id;
};
const post = async (body: string, signature: string | null): Promise<[number, unknown]> => {
  const headers = { "Content-Type": "application/json", ...(signature && { "Stripe-Signature": signature }) };
  const answer = await fetch(`${url}/payments/stripe`, { method: "POST", headers, body });
  return [answer.status, await answer.json()];
};
const tell = async (transactionId: string, change: EventChange = {}): Promise<number> => {
  const body = stripe.event(transactionId, change);
  const [status] = await post(body, stripe.sign(body, clock.now()));
  return status;
};
const find = async (id: string) =>
  (await call("GET", "/billing/transactions?limit=100")).body.data.transactions.find(
    (row: { id: string }) => row.id === id,
  );
const balance = async () => Number((await call("GET", "/billing/overview")).body.data.balance);
const runTask = (name: string) =>
  billingTasks({ db: database, clock, plans })
    .find((task) => task.name === name)
    ?.run({ signal: new AbortController().signal, log: createLog("silent") });

describe("beginning a top-up", () => {
  test("makes a page to pay it on, and a transaction that waits and moves nothing", async () => {
    const before = await balance();
    const { status, body } = await call("POST", "/billing/top-up", { amount: "25.5" });
    expect(status).toBe(201);
    const { transaction, checkout_url } = body.data;
    expect(transaction).toMatchObject({
      gateway: "stripe",
      transaction_type: "topup",
      amount: "25.50",
      status: "pending",
      receipt_number: null,
    });
    expect(checkout_url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/pay\/cs_test_/);
    expect(stripe.asked.get(transaction.id)).toMatchObject({
      mode: "payment",
      client_reference_id: transaction.id,
      "metadata[workspace_id]": workspaceId,
      "line_items[0][price_data][unit_amount]": "2550",
      "line_items[0][price_data][currency]": "usd",
      success_url: `${url}/payments/done`,
      expires_at: String(Math.floor(clock.now().getTime() / 1_000) + 23 * 3_600),
    });
    expect(await balance()).toBe(before);
  });

  test.each(["0", "0.49", "-5.00", "1.005", "1e3", "1000000.00", "ten", "1".repeat(30)])(
    "%s is no amount, and nothing is made of it",
    async (amount) => {
      const known = stripe.asked.size;
      const { status, body } = await call("POST", "/billing/top-up", { amount });
      expect([status, body.code, body.details[0].field]).toEqual([400, "VALIDATION_ERROR", "amount"]);
      expect(stripe.asked.size).toBe(known);
    },
  );

  test("while the provider fails it is a 503, and the transaction has failed", async () => {
    stripe.refuse(500);
    const { status, headers } = await call("POST", "/billing/top-up", { amount: "12.34" });
    expect([status, headers.get("Retry-After")]).toEqual([503, "1"]);
    const { transactions } = (await call("GET", "/billing/transactions")).body.data;
    expect(transactions[0]).toMatchObject({ amount: "12.34", status: "failed", receipt_number: null });
  });

  test("twenty may wait, and not more", async () => {
    for (let one = 0; one < 20; one++) await begin("1.00");
    expect(await call("POST", "/billing/top-up", { amount: "1.00" })).toMatchObject({ status: 409 });
  });

  test("needs billing:write", async () => {
    const key = await service.newKey(["billing:read"]);
    expect((await call("POST", "/billing/top-up", { amount: "1.00" }, { key })).status).toBe(403);
  });
});

describe("an event", () => {
  test("of a payment completes the transaction with a receipt, once, however often and at once it is told", async () => {
    const before = await balance();
    const id = await begin();
    const told = await Promise.all(Array.from({ length: 8 }, () => tell(id)));
    expect(new Set(told)).toEqual(new Set([200]));
    expect(await tell(id, { id: "evt_another" })).toBe(200);
    expect(await find(id)).toMatchObject({
      status: "completed",
      receipt_number: expect.stringMatching(/^R-\d{4}-/),
    });
    expect(await balance()).toBe(before + 25);
  });

  test("of a session that ran out fails it; a payment that was made after all completes it", async () => {
    const before = await balance();
    const id = await begin();
    expect(await tell(id, { id: "evt_out", type: "checkout.session.expired" })).toBe(200);
    expect(await find(id)).toMatchObject({ status: "failed", receipt_number: null });
    expect(await balance()).toBe(before);
    await tell(id, { id: "evt_in" });
    expect(await find(id)).toMatchObject({ status: "completed" });
    await tell(id, { id: "evt_out_again", type: "checkout.session.expired" });
    expect([(await find(id)).status, await balance()]).toEqual(["completed", before + 25]);
  });

  const nobody = "019a0000-0000-7000-8000-000000000000";
  test.each<[string, EventChange]>([
    ["another amount", { session: { amount_total: 2_501 } }],
    ["another currency", { session: { currency: "eur" } }],
    ["another session", { session: { id: "cs_test_other" } }],
    ["a session that is not paid yet", { session: { payment_status: "unpaid" } }],
    ["a transaction that is not there", { session: { client_reference_id: nobody } }],
    ["a workspace that is not there", { session: { metadata: { workspace_id: nobody } } }],
    ["an id that is none", { session: { client_reference_id: "' or 1=1" } }],
    ["something else", { type: "customer.created", session: { object: "customer" } }],
  ])("with %s is taken, and changes nothing", async (_, change) => {
    const before = await balance();
    const id = await begin();
    expect(await tell(id, { id: `evt_${_.replaceAll(" ", "_")}`, ...change })).toBe(200);
    expect([(await find(id)).status, await balance()]).toEqual(["pending", before]);
  });

  test.each([
    ["sk_test_1", true],
    ["rk_test_1", true],
    ["sk_live_1", false],
    ["rk_live_1", false],
  ])(
    "is ignored with 200 where %s is the key and livemode is %s, and credits nothing",
    async (key, livemode) => {
      const gateway = stripeOf(readConfig({ ...stripe.env, STRIPE_SECRET_KEY: key }));
      if (gateway === null) throw new Error("no gateway");
      const lines: string[] = [];
      const bare = await startBareServer(database, [], {
        log: pino({ level: "info" }, { write: (line: string) => void lines.push(line) }),
        pages: (pages) => registerPaymentPages(pages, { db: database, clock, plans, gateway }),
      });
      const post = (body: string, headers: Record<string, string>) =>
        fetch(`${bare.url}/payments/stripe`, { method: "POST", body, headers });
      const id = await begin();
      const before = await balance();
      const told: EventChange[] = [
        { livemode, id: `evt_${key}` },
        { livemode: !livemode, session: { livemode }, id: `evt_${key}_session` },
      ];
      for (const change of told) {
        const payload = stripe.event(id, change);
        const headers = {
          "stripe-signature": stripe.sign(payload, clock.now()),
          "content-type": "application/json",
        };
        expect((await post(payload, headers)).status).toBe(200);
      }
      expect([(await find(id)).status, await balance()]).toEqual(["pending", before]);
      expect(
        lines.filter((line) => line.includes(`the event is of ${livemode ? "live" : "test"} mode`)),
      ).toHaveLength(2);
      const payload = stripe.event(id, { livemode: !livemode, id: `evt_${key}_own` });
      const headers = {
        "stripe-signature": stripe.sign(payload, clock.now()),
        "content-type": "application/json",
      };
      await post(payload, headers);
      expect((await find(id)).status).toBe("completed");
    },
  );

  test("of another workspace's transaction changes neither", async () => {
    const id = await begin();
    const other = await service.newWorkspace();
    await tell(id, { id: "evt_foreign", session: { metadata: { workspace_id: other.workspaceId } } });
    expect((await find(id)).status).toBe("pending");
  });

  test("that is forged, stale, of the future or unsigned is refused, and changes nothing", async () => {
    const id = await begin();
    const body = stripe.event(id);
    const minutes = (count: number) => new Date(clock.now().getTime() + count * 60_000);
    for (const signature of [
      null,
      "",
      "t=,v1=",
      "t=1,v1=zz",
      stripe.sign(body, clock.now(), "whsec_of_somebody_else"),
      stripe.sign(`${body} `, clock.now()),
      stripe.sign(body, minutes(-6)),
      stripe.sign(body, minutes(6)),
    ]) {
      expect((await post(body, signature))[0], String(signature)).toBe(400);
    }
    expect((await find(id)).status).toBe("pending");
    expect((await post(body, stripe.sign(body, minutes(-4))))[0]).toBe(200);
    expect((await find(id)).status).toBe("completed");
  });

  test("that is signed and is no event is refused; one that is too large is not read", async () => {
    for (const body of ["{}", "[]", "null", '"text"', "no json"]) {
      expect((await post(body, stripe.sign(body, clock.now())))[0], body).toBe(400);
    }
    const large = JSON.stringify({ id: "x".repeat(300_000) });
    expect((await post(large, stripe.sign(large, clock.now())))[0]).toBe(413);
  });

  test("pays what the subscription owes", async () => {
    const { workspaceId: owing, key } = await service.newWorkspace();
    await changeWorkspace(database, owing, { plan: "free" }, { clock, plans });
    const since = clock.now();
    await database.run(sql`
      insert into subscriptions (workspace_id, plan_id, billing_interval, status, anchor, current_period_start,
        current_period_end, past_due_since, retry_at, created_at, updated_at)
      values (${owing}, 'growth', 'monthly', 'past_due', ${since}, ${since}, ${since}::timestamptz + interval '1 month',
        ${since}, ${since}::timestamptz + interval '1 day', ${since}, ${since})`);
    const { body } = await call("POST", "/billing/top-up", { amount: "40.00" }, { key });
    await tell(body.data.transaction.id);
    const overview = (await call("GET", "/billing/overview", undefined, { key })).body.data;
    expect([overview.subscription_status, overview.balance]).toEqual(["active", "5.00"]);
  });
});

describe("money that came in and is credited to nobody", () => {
  const hear = async (id: string, change: EventChange) => {
    const gateway = stripeOf(readConfig(stripe.env));
    const body = stripe.event(id, change);
    const event = gateway?.readEvent(Buffer.from(body), stripe.sign(body, clock.now()), clock.now());
    if (!gateway || !event) throw new Error("no event");
    return database.transaction((tx) => applyPaymentEvent(tx, plans, gateway, event, clock.now()));
  };
  const nobody = "019a0000-0000-7000-8000-000000000000";

  test.each<[string, EventChange]>([
    ["amount or currency differ", { session: { amount_total: 2_501 } }],
    ["the transaction belongs to another payment", { session: { id: "cs_test_second" } }],
    ["the transaction is unknown", { session: { client_reference_id: nobody } }],
    ["the workspace is unknown", { session: { metadata: { workspace_id: nobody } } }],
  ])("is told from an event without meaning: %s", async (because, change) => {
    const id = await begin();
    const told = { id: `evt_stray_${because}`, ...change };
    expect(await hear(id, told)).toEqual({ because, isUncredited: true });
    const unpaid = { ...told, id: `${told.id}_out`, type: "checkout.session.expired" };
    expect((await hear(id, unpaid))?.isUncredited ?? false).toBe(false);
  });

  test("is none when the payment is credited already", async () => {
    const id = await begin();
    expect(await hear(id, { id: "evt_credit" })).toBeNull();
    expect(await hear(id, { id: "evt_credit" })).toEqual({
      because: "the event was seen before",
      isUncredited: false,
    });
    expect(await hear(id, { id: "evt_credit_again" })).toEqual({
      because: "the transaction is completed",
      isUncredited: false,
    });
  });

  test("is an error in the log, with the transaction", async () => {
    const gateway = stripeOf(readConfig(stripe.env));
    if (gateway === null) throw new Error("no gateway");
    const lines: { level: number; transactionId?: string }[] = [];
    const stream = { write: (line: string) => void lines.push(JSON.parse(line)) };
    const bare = await startBareServer(database, [], {
      log: pino({ level: "info" }, stream),
      pages: (pages) => registerPaymentPages(pages, { db: database, clock, plans, gateway }),
    });
    const id = await begin();
    const payload = stripe.event(id, { id: "evt_logged", session: { amount_total: 1 } });
    const headers = {
      "stripe-signature": stripe.sign(payload, clock.now()),
      "content-type": "application/json",
    };
    const answer = await fetch(`${bare.url}/payments/stripe`, { method: "POST", body: payload, headers });
    expect(answer.status).toBe(200);
    expect(lines.filter(({ level }) => level >= 50)).toMatchObject([
      { msg: "payment received but not credited", transactionId: id, event: "evt_logged" },
    ]);
  });
});

test("what is not paid within a day has failed", async () => {
  const id = await begin();
  clock.advance(23.9 * 3_600_000);
  await runTask("fail-unpaid-top-ups");
  expect((await find(id)).status).toBe("pending");
  clock.advance(0.2 * 3_600_000);
  await runTask("fail-unpaid-top-ups");
  expect(await find(id)).toMatchObject({ status: "failed", receipt_number: null });
});

test("people come back to a page", async () => {
  const answer = await fetch(`${url}/payments/done`);
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("Thank you")]);
});
