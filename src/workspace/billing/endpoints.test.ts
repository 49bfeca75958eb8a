import { parse } from "csv-parse/sync";
import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { startService } from "#test/support/service.ts";
import { changeWorkspace } from "#workspace/change-workspace.ts";
import { plans } from "./plans.ts";
import { topUp } from "./top-up.ts";

const service = await startService();
const { call: api, database, clock } = service;
const { workspaceId } = service;
await changeWorkspace(database, workspaceId, { plan: "free" }, { clock, plans });

const pay = (amount: string) =>
  database.transaction((tx) =>
    topUp(tx, plans, workspaceId, { amount, gateway: "manual", description: "=cmd" }, clock.now()),
  );
const sending = async () => {
  const { body } = await api("POST", "/sending-domains", { domain: "shop.example.com" });
  await database.run(sql`update sending_domains set is_verified = true, verified_at = now()`);
  expect(body.success).toBe(true);
};
const send = (to = "ada@example.net") =>
  api("POST", "/emails/send", { to, subject: "Hello", body: "A line.", from_email: "news@shop.example.com" });
const use = (used: number) =>
  database.run(sql`
    insert into meters (workspace_id, kind, period_start, used)
    values (${workspaceId}, 'email', date_trunc('month', ${clock.now()}::timestamptz, 'UTC'), ${used})
    on conflict (workspace_id, kind, period_start) do update set used = excluded.used`);

test("before anything is paid: Free, no subscription, an empty ledger, three plans on offer", async () => {
  expect((await api("GET", "/billing/overview")).body.data).toMatchObject({
    balance: "0.00",
    currency: "USD",
    plan: { id: "free", name: "Free" },
    subscription_status: null,
    email_allowance: 3_000,
    emails_used: 0,
    emails_remaining: 3_000,
    low_balance: false,
  });
  expect((await api("GET", "/billing/subscription")).body.data).toEqual({ subscription: null });
  expect((await api("GET", "/billing/transactions")).body.data).toEqual({
    transactions: [],
    pagination: { page: 1, limit: 50, total: 0, total_pages: 0 },
  });
  const offered = (await api("GET", "/billing/plans")).body.data;
  expect(
    offered.map(({ id, price_monthly, is_custom }: Record<string, unknown>) => [
      id,
      price_monthly,
      is_custom,
    ]),
  ).toEqual([
    ["growth", "35.00", false],
    ["scale", "95.00", false],
    ["enterprise", null, true],
  ]);
});

test("a message counts once it is accepted; the last of the allowance goes to exactly one of 64", async () => {
  await sending();
  expect((await send()).status).toBe(201);
  expect((await api("GET", "/billing/overview")).body.data.emails_used).toBe(1);
  await use(2_998);
  const answers = await Promise.all(Array.from({ length: 64 }, (_, at) => send(`p${at}@example.net`)));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  const refused = answers.filter(({ status }) => status === 402);
  expect(refused).toHaveLength(63);
  expect(refused[0]?.body).toMatchObject({ success: false, code: "PLAN_LIMIT_REACHED" });
  const { body } = await api("POST", "/emails/send?dry_run=true", {
    to: "ada@example.net",
    subject: "Hello",
    body: "A line.",
    from_email: "news@shop.example.com",
  });
  expect(body.code).toBe("PLAN_LIMIT_REACHED");
});

test("with money for ten, exactly ten of 64 go through, and the balance is then zero", async () => {
  await use(3_000);
  await pay("0.01");
  await database.run(sql`update billing_accounts set balance = 0.008`);
  await database.run(sql`update billing_transactions set amount = 0.008`);
  const answers = await Promise.all(Array.from({ length: 64 }, (_, at) => send(`q${at}@example.net`)));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
  expect(answers.find(({ status }) => status === 402)?.body.code).toBe("INSUFFICIENT_BALANCE");
  expect((await api("GET", "/billing/overview")).body.data).toMatchObject({
    balance: "0.00",
    low_balance: true,
  });
  const { data } = (await api("GET", "/billing/usage")).body;
  expect(data.this_month).toEqual({ email: "0.008", validation: "0.00", subscription: "0.00" });
  expect(data.recent_charges).toMatchObject([{ quantity: 10, unit_rate: "0.0008", amount: "0.008" }]);
});

test("without a limit no balance is low, whatever may go out in an hour", async () => {
  const { workspaceId: unlimited, key } = await service.newWorkspace();
  await changeWorkspace(database, unlimited, { hourly_cap: 10 }, { clock, plans });
  expect((await api("GET", "/billing/overview", undefined, { key })).body.data).toMatchObject({
    balance: "0.00",
    email_allowance: null,
    emails_remaining: null,
    low_balance: false,
  });
});

test("a suppressed recipient costs nothing", async () => {
  await pay("10.00");
  const before = (await api("GET", "/billing/overview")).body.data.emails_used;
  const list = (await api("POST", "/suppression-lists", { name: "No" })).body.data.id;
  await api("POST", `/suppression-lists/${list}/entries`, { entries: "no@example.net" });
  expect((await send("no@example.net")).status).toBe(201);
  expect((await api("GET", "/billing/overview")).body.data.emails_used).toBe(before);
});

test("a subscription begins, is charged, shown, refused twice, and cancelled to the end of its period", async () => {
  await pay("100.00");
  const { status, body } = await api("POST", "/billing/subscription", {
    plan_id: "growth",
    billing_interval: "monthly",
  });
  expect([status, body.data.subscription]).toMatchObject([
    200,
    { plan_id: "growth", status: "active", billing_interval: "monthly", plan: { email_allowance: 50_000 } },
  ]);
  expect((await api("POST", "/billing/subscription", { plan_id: "growth" })).status).toBe(409);
  expect((await api("POST", "/billing/subscription", { plan_id: "gold" })).status).toBe(400);
  expect(
    (await api("POST", "/billing/subscription", { plan_id: "scale", billing_interval: "weekly" })).status,
  ).toBe(400);
  expect((await api("POST", "/billing/subscription", { plan_id: "enterprise" })).body.code).toBe(
    "BAD_REQUEST",
  );
  const cancelled = await api("POST", "/billing/subscription/cancel");
  expect(cancelled.body.data.subscription).toMatchObject({ status: "active", cancel_at_period_end: true });
  expect((await api("POST", "/billing/subscription/cancel")).status).toBe(409);
});

test("the ledger is filtered, paged and exported; no cell of the export is a formula", async () => {
  const { transactions } = (await api("GET", "/billing/transactions?limit=2")).body.data;
  expect(transactions).toHaveLength(2);
  expect(transactions[0]).toMatchObject({
    transaction_type: "subscription",
    amount: "-35.00",
    gateway: null,
  });
  expect((await api("GET", "/billing/transactions?gateway=stripe")).body.data.transactions).toEqual([]);
  expect((await api("GET", "/billing/transactions?gateway=paypal")).status).toBe(400);
  const answer = await fetch(`${service.url}/api/v1/billing/transactions/export?gateway=manual`, {
    headers: { "x-api-key": service.key },
  });
  expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8");
  expect(answer.headers.get("content-disposition")).toMatch(/transactions-\d{4}-\d\d-\d\d\.csv/);
  const [header, ...rows] = (await answer.text()).trim().split("\r\n");
  expect(header).toMatch(/^id,created_at,transaction_type/);
  expect(rows).toHaveLength(3);
  expect(rows.every((row) => row.includes(",manual,'=cmd,"))).toBe(true);
});

test("a page that goes on behind the last row has no row twice, also when rows came meanwhile", async () => {
  const read = async (query: string) => (await api("GET", `/billing/transactions?${query}`)).body.data;
  const idsOf = ({ transactions }: { transactions: { id: string }[] }) => transactions.map(({ id }) => id);
  const all = idsOf(await read("limit=100"));
  const first = idsOf(await read("limit=2"));
  await pay("1.00");
  const next = await read(`limit=100&before=${first[1]}`);
  expect([...first, ...idsOf(next)]).toEqual(all);
  expect(next.pagination.total).toBe(all.length - 2);
  expect((await api("GET", "/billing/transactions?before=yesterday")).body).toMatchObject({
    code: "VALIDATION_ERROR",
    details: [{ field: "before" }],
  });
});

test("the export has the amounts of the list: exact decimals, with two places at least, and numbers to a spreadsheet", async () => {
  const { transactions } = (await api("GET", "/billing/transactions?limit=100")).body.data;
  const amounts = transactions.map(({ amount }: { amount: string }) => amount);
  expect(amounts).toContain("-35.00");
  const answer = await fetch(`${service.url}/api/v1/billing/transactions/export`, {
    headers: { "x-api-key": service.key },
  });
  const rows: { amount: string }[] = parse(await answer.text(), { columns: true });
  expect(rows.map(({ amount }) => amount)).toEqual(amounts);
});

test("the export takes the filters of the list", async () => {
  const { transactions } = (await api("GET", "/billing/transactions?limit=100")).body.data;
  const [newest, ...older] = transactions.map(({ id }: { id: string }) => id);
  const path = `/api/v1/billing/transactions/export?before=${newest}`;
  const answer = await fetch(`${service.url}${path}`, { headers: { "x-api-key": service.key } });
  const rows: { id: string }[] = parse(await answer.text(), { columns: true });
  expect(rows.map(({ id }) => id)).toEqual(older);
  expect((await api("GET", "/billing/transactions/export?before=yesterday")).status).toBe(400);
});
