import { parse } from "csv-parse/sync";
import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { apiCaller } from "#test/support/api-caller.ts";
import { startService } from "#test/support/service.ts";
import { plans } from "#workspace/billing/plans.ts";
import { topUp } from "#workspace/billing/top-up.ts";
import { changeWorkspace } from "#workspace/change-workspace.ts";

const service = await startService();
const { call, database: db, clock, workspaceId } = service;
clock.set(new Date("2026-03-10T12:00:00Z"));
await changeWorkspace(db, workspaceId, { plan: "free" }, { clock, plans });
await call("POST", "/sending-domains", { domain: "shop.example.com" });
await db.run(sql`update sending_domains set is_verified = true, verified_at = now()`);

const pay = (amount: string, description: string) =>
  db.transaction((tx) =>
    topUp(tx, plans, workspaceId, { amount, gateway: "manual", description }, clock.now()),
  );
const send = async () => {
  const email = { to: "ada@example.net", subject: "Hi", body: "A line.", from_email: "a@shop.example.com" };
  const { status, body } = await call("POST", "/emails/send", email);
  expect(status).toBe(201);
  return body.data.id;
};
const useUpAllowance = () =>
  db.run(sql`
    insert into meters (workspace_id, kind, period_start, used)
    values (${workspaceId}, 'email', date_trunc('month', ${clock.now()}::timestamptz, 'UTC'), 3000)
    on conflict (workspace_id, kind, period_start) do update set used = excluded.used`);
const statement = async (query = "") => (await call("GET", `/billing/statement${query}`)).body.data;
const days = async (query = "") => (await call("GET", `/billing/usage/days${query}`)).body.data.days;

test("an empty ledger has a statement of noughts, and days of noughts", async () => {
  expect(await statement()).toMatchObject({
    month: "2026-03",
    period_start: "2026-03-01T00:00:00.000Z",
    period_end: "2026-04-01T00:00:00.000Z",
    is_closed: false,
    currency: "USD",
    opening_balance: "0.00",
    closing_balance: "0.00",
    sums: { topups: "0.00", usage: "0.00", refunds: "0.00", subscriptions: "0.00", adjustments: "0.00" },
    lines: [],
    is_complete: true,
  });
  const all = await days();
  expect(all).toHaveLength(30);
  expect(all.at(-1)).toEqual({
    date: "2026-03-10",
    email: { used: 0, returned: 0, charged: "0.00" },
    validation: { used: 0, returned: 0, charged: "0.00" },
    blacklist_check: { used: 0, returned: 0, charged: "0.00" },
    messages: { api: 0, smtp: 0, campaign: 0, autoresponder: 0 },
  });
});

test("a month has its payments, one line of usage for each price, and balances that add up", async () => {
  await pay("10.00", "=cmd()|A1");
  await useUpAllowance();
  await send();
  await send();
  expect((await statement()).sums).toMatchObject({ usage: "-0.0016" });
  clock.set(new Date("2026-03-11T12:00:00Z"));
  const id = await send();
  expect((await call("POST", `/messages/${id}/cancel`)).status).toBe(200);
  const march = await statement("?month=2026-03");
  expect(march).toMatchObject({
    opening_balance: "0.00",
    closing_balance: "9.9984",
    sums: { topups: "10.00", usage: "-0.0024", refunds: "0.0008" },
    lines: [
      { transaction_type: "topup", amount: "10.00", quantity: null, receipt_number: "R-2026-000001" },
      {
        transaction_type: "usage",
        kind: "email",
        quantity: 3,
        unit_rate: "0.0008",
        amount: "-0.0024",
        receipt_number: null,
        from: "2026-03-10T12:00:00.000Z",
        to: "2026-03-11T12:00:00.000Z",
      },
      { transaction_type: "refund", kind: "email", quantity: 1, amount: "0.0008" },
    ],
  });
  clock.set(new Date("2026-04-02T12:00:00Z"));
  await pay("5.00", "Second");
  expect(await statement("?month=2026-03")).toMatchObject({ ...march, is_closed: true });
  expect(await statement()).toMatchObject({
    month: "2026-04",
    opening_balance: "9.9984",
    closing_balance: "14.9984",
    sums: { topups: "5.00", usage: "0.00" },
  });
  const overview = (await call("GET", "/billing/overview")).body.data;
  expect(overview.balance).toBe("14.9984");
});

test("days have what was used, returned and charged, and the messages by source", async () => {
  const [first, second] = await days("?start_date=2026-03-10&end_date=2026-03-11");
  expect(first).toMatchObject({
    date: "2026-03-10",
    email: { used: 2, returned: 0, charged: "0.0016" },
    messages: { api: 2, campaign: 0 },
  });
  expect(second).toMatchObject({
    date: "2026-03-11",
    email: { used: 1, returned: 1, charged: "0.00" },
    messages: { api: 0 },
  });
});

test("the file has the lines, and no formula", async () => {
  const file = await fetch(`${service.url}/api/v1/billing/statement/export?month=2026-03`, {
    headers: { "X-API-Key": service.key },
  });
  expect(file.headers.get("content-disposition")).toContain("statement-2026-03.csv");
  const rows: Record<string, string>[] = parse(await file.text(), { columns: true, bom: true });
  expect(rows).toMatchObject([
    { transaction_type: "topup", amount: "10.00", description: expect.not.stringMatching(/^=/) },
    { transaction_type: "usage", kind: "email", quantity: "3", unit_rate: "0.0008", amount: "-0.0024" },
    { transaction_type: "refund", amount: "0.0008" },
  ]);
});

test("a statement with more lines than an answer may have has all in the file", async () => {
  const other = await service.newWorkspace();
  const own = apiCaller(() => service.url, other.key);
  await db.run(sql`
    insert into billing_transactions (workspace_id, id, transaction_type, amount, status, description, created_at, completed_at)
    select ${other.workspaceId}, gen_random_uuid(), 'topup', 1, 'completed', 'n' || n, ${clock.now()}, ${clock.now()}
    from generate_series(1, 2001) n`);
  const { data } = (await own("GET", "/billing/statement")).body;
  expect(data).toMatchObject({ is_complete: false, sums: { topups: "2001.00" } });
  expect(data.lines).toHaveLength(1_000);
  const file = await fetch(`${service.url}/api/v1/billing/statement/export`, {
    headers: { "X-API-Key": other.key },
  });
  const rows: Record<string, string>[] = parse(await file.text(), { columns: true, bom: true });
  expect(new Set(rows.map(({ description }) => description)).size).toBe(2_001);
  expect((await statement()).sums.topups).toBe("5.00");
});

test.each([
  ["/billing/statement?month=2026-13", "month"],
  ["/billing/statement?month=2026", "month"],
  ["/billing/statement?month=2999-01", "month"],
  ["/billing/statement/export?month=2999-01", "month"],
  ["/billing/statement?month=%00", "month"],
  ["/billing/statement/export?month=0000-01", "month"],
  ["/billing/usage/days?start_date=2026-03-02&end_date=2026-03-01", "start_date"],
  ["/billing/usage/days?start_date=2024-01-01&end_date=2026-03-01", "end_date"],
  ["/billing/usage/days?start_date=yesterday", "start_date"],
])("%s is refused", async (path, field) => {
  const { status, body } = await call("GET", path);
  expect([status, body.code, body.details[0].field]).toEqual([400, "VALIDATION_ERROR", field]);
});
