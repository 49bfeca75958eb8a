import sql from "sql-template-tag";
import { beforeEach, expect, test } from "vitest";
import type { WorkspaceId } from "#platform/ids.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { capacityFor } from "./derive-meter-reading.ts";
import { getMeterReading, settleAccount, takeUpTo } from "./meter.ts";
import { addEntriesSql, isFarFromLimitsSql } from "./meter-store.ts";
import { plans } from "./plans.ts";
import { topUp } from "./top-up.ts";

const db = await testDatabase();
const now = new Date("2026-03-15T12:34:56Z");
let workspaceId: WorkspaceId;

beforeEach(async () => {
  workspaceId = await insertBareWorkspace(db);
});

const take = (wanted: number, at = now) =>
  db.transaction((tx) => takeUpTo(tx, plans, workspaceId, "email", wanted, at));
const pay = (amount: string, at = now) =>
  db.transaction((tx) =>
    topUp(tx, plans, workspaceId, { amount, gateway: "manual", description: "Test" }, at),
  );
const note = (quantity: number, at = now) =>
  db.run(
    addEntriesSql(
      "email",
      sql`(values (${workspaceId}::uuid, ${quantity}::int)) u (workspace_id, quantity)`,
      at,
    ),
  );
const read = (at = now) => getMeterReading(db, plans, workspaceId, at);
const isWide = async (at = now) =>
  (await db.row<{ is_wide: boolean }>(isFarFromLimitsSql([{ workspaceId, quantity: 1, bytes: 0 }], at)))
    ?.is_wide;
const setPlan = async (plan: string, cap: number | null = null) => {
  await db.run(sql`update workspaces set plan = ${plan}, hourly_cap = ${cap} where id = ${workspaceId}`);
  await db.transaction((tx) => settleAccount(tx, plans, workspaceId, now));
};

/** The ledger's sum and rows beside the balance. */
async function books() {
  const row = await db.row<{ balance: string; sum: string; receipts: string[] }>(sql`
    select balance, (select coalesce(sum(amount), 0)::numeric(20, 6) from billing_transactions t
      where t.workspace_id = a.workspace_id and status = 'completed') as sum,
      (select array_agg(receipt_number order by receipt_number) from billing_transactions t
        where t.workspace_id = a.workspace_id) as receipts
    from billing_accounts a where workspace_id = ${workspaceId}`);
  expect(row?.balance).toBe(row?.sum);
  return row;
}

test("64 takers at once get exactly what is left of the allowance", async () => {
  await take(2_999);
  const taken = await Promise.all(Array.from({ length: 64 }, () => take(1)));
  expect(taken.filter((one) => one.taken === 1)).toHaveLength(1);
  expect(taken.filter((one) => one.taken === 0 && one.refusal === "plan_limit_reached")).toHaveLength(63);
  expect((await read()).used.email).toBe(3_000);
});

test("64 takers at once, with money for ten, get ten, and the balance is then zero", async () => {
  await take(3_000);
  await pay("0.01");
  await db.run(sql`update billing_accounts set balance = 0.008 where workspace_id = ${workspaceId}`);
  await db.run(sql`update billing_transactions set amount = 0.008 where workspace_id = ${workspaceId}`);
  const taken = await Promise.all(Array.from({ length: 64 }, () => take(1)));
  expect(taken.filter((one) => one.taken === 1)).toHaveLength(10);
  expect(taken.find((one) => one.taken === 0)?.refusal).toBe("insufficient_balance");
  expect(await books()).toMatchObject({ balance: "0.000000", receipts: ["R-2026-000001", "R-2026-000002"] });
});

test("the allowance goes first, then the balance, without a gap", async () => {
  await setPlan("growth");
  await pay("1.00");
  await take(49_990);
  expect(await take(30)).toMatchObject({ taken: 30 });
  expect(await books()).toMatchObject({ balance: "0.984000" });
  expect(await take(10_000)).toEqual({ taken: 1_230, refusal: "insufficient_balance" });
  expect(await books()).toMatchObject({ balance: "0.000000" });
});

test("what was noted is read and charged once, and what comes back is given back", async () => {
  await take(3_000);
  await pay("10.00");
  await note(5);
  await note(-2);
  expect((await read()).used.email).toBe(3_003);
  expect((await read()).account.balance).toBe("9.997600");
  for (let again = 0; again < 2; again++)
    await db.transaction((tx) => settleAccount(tx, plans, workspaceId, now));
  expect((await read()).used.email).toBe(3_003);
  expect(await books()).toMatchObject({ balance: "9.997600" });
  const rows = await db.rows(sql`
    select transaction_type, quantity, amount from billing_transactions
    where workspace_id = ${workspaceId} and day is not null order by id`);
  expect(rows).toEqual([
    { transaction_type: "usage", quantity: 5, amount: "-0.004000" },
    { transaction_type: "refund", quantity: 2, amount: "0.001600" },
  ]);
});

test("only who is far from any limit may note use blindly", async () => {
  expect(await isWide()).toBe(false);
  await setPlan("enterprise");
  expect(await isWide()).toBe(true);
  await setPlan("enterprise", 1_000);
  expect(await isWide()).toBe(false);
  await setPlan("scale");
  expect(await isWide()).toBe(true);
  await note(224_999);
  expect(await isWide()).toBe(true);
  await note(1);
  expect(await isWide()).toBe(false);
  expect(await isWide(new Date("2026-04-01T00:00:00Z"))).toBe(false);
});

test("an hourly cap holds for the hour, whatever the plan has left", async () => {
  await setPlan("enterprise", 10);
  expect(await take(64)).toEqual({ taken: 10, refusal: "hourly_cap" });
  expect(await take(1, new Date("2026-03-15T12:59:59.999Z"))).toMatchObject({ taken: 0 });
  expect(await take(64, new Date("2026-03-15T13:00:00Z"))).toMatchObject({ taken: 10 });
});

test("with the month the allowance begins anew", async () => {
  await take(3_000);
  expect(capacityFor(await read(new Date("2026-03-31T23:59:59.999Z")), "email").most).toBe(0);
  expect(capacityFor(await read(new Date("2026-04-01T00:00:00Z")), "email").most).toBe(3_000);
});

test("what allowance and balance no longer cover is let go, and never makes the balance negative", async () => {
  await pay("0.01");
  await note(4_000);
  await db.transaction((tx) => settleAccount(tx, plans, workspaceId, now));
  expect(await books()).toMatchObject({ balance: "0.000400" });
  expect(await take(1)).toEqual({ taken: 0, refusal: "insufficient_balance" });
});
