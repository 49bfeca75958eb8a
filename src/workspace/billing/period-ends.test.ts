import sql from "sql-template-tag";
import { beforeEach, describe, expect, test } from "vitest";
import type { WorkspaceId } from "#platform/ids.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { getMeterReading, settleAccount, takeUpTo } from "./meter.ts";
import { addEntriesSql } from "./meter-store.ts";
import { periodAt } from "./periods.ts";
import { plans } from "./plans.ts";
import { cancelSubscription, renewSubscription, type SubscriptionRequest, subscribe } from "./subscribe.ts";
import { topUp } from "./top-up.ts";

const db = await testDatabase();
let workspaceId: WorkspaceId;

beforeEach(async () => {
  workspaceId = await insertBareWorkspace(db);
});

const at = (text: string) => new Date(text.length > 10 ? text : `${text}T10:00:00Z`);
const pay = (amount: string, day: string) =>
  db.transaction((tx) =>
    topUp(tx, plans, workspaceId, { amount, gateway: "manual", description: "Test" }, at(day)),
  );
const begin = (wish: SubscriptionRequest, day: string) =>
  db.transaction((tx) => subscribe(tx, plans, workspaceId, wish, at(day)));
const cancel = (day: string) => db.transaction((tx) => cancelSubscription(tx, plans, workspaceId, at(day)));
const renew = (day: string) => db.transaction((tx) => renewSubscription(tx, plans, workspaceId, at(day)));
const read = (day: string) => getMeterReading(db, plans, workspaceId, at(day));
const settleAt = (day: string) => db.transaction((tx) => settleAccount(tx, plans, workspaceId, at(day)));
const take = (emails: number, day: string) =>
  db.transaction((tx) => takeUpTo(tx, plans, workspaceId, "email", emails, at(day)));
const note = (quantity: number, day: string) =>
  db.run(
    addEntriesSql(
      "email",
      sql`(values (${workspaceId}::uuid, ${quantity}::int)) u (workspace_id, quantity)`,
      at(day),
    ),
  );
const charges = async () =>
  (
    await db.row<{ count: number }>(sql`
      select count(*) as count from billing_transactions
      where workspace_id = ${workspaceId} and transaction_type = 'subscription'`)
  )?.count;

const monthly: SubscriptionRequest = { plan_id: "growth", billing_interval: "monthly" };
const yearly: SubscriptionRequest = { plan_id: "growth", billing_interval: "yearly" };

describe("periods follow the day on which they began", () => {
  test.each([
    ["2026-01-31", "2026-02-28", "2026-03-31", "2026-04-30"],
    ["2024-01-31", "2024-02-29", "2024-03-31", "2024-04-30"],
    ["2024-02-29", "2024-03-29", "2024-04-29", "2024-05-29"],
    ["2025-12-30", "2026-01-30", "2026-02-28", "2026-03-30"],
  ])("from %s by the month", (anchor, ...ends) => {
    let start = at(anchor);
    for (const end of ends.map(at)) {
      expect(periodAt(at(anchor), "monthly", start)).toEqual({ start, end });
      expect(periodAt(at(anchor), "monthly", new Date(end.getTime() - 1))).toEqual({ start, end });
      start = end;
    }
  });

  test("from a leap day by the year", () => {
    const leap = at("2024-02-29");
    for (const [start, end] of [
      ["2024-02-29", "2025-02-28"],
      ["2027-02-28", "2028-02-29"],
      ["2028-02-29", "2029-02-28"],
    ] as const) {
      expect(periodAt(leap, "yearly", at(start))).toEqual({ start: at(start), end: at(end) });
    }
  });

  test("in UTC, whatever the workspace's time zone, also on the day its clocks change", async () => {
    await db.run(sql`update workspaces set timezone = 'Pacific/Kiritimati' where id = ${workspaceId}`);
    expect((await read("2026-03-29T23:59:59.999Z")).period).toEqual({
      start: at("2026-03-01T00:00:00Z"),
      end: at("2026-04-01T00:00:00Z"),
    });
  });
});

describe("a roll-over happens once", () => {
  test("for two workers at midnight, of which one reads the clock before it", async () => {
    await pay("500.00", "2026-01-31");
    await begin(monthly, "2026-01-31");
    const times = ["2026-02-28T09:59:59.999Z", "2026-02-28T10:00:00.000Z", "2026-02-28T10:00:00.001Z"];
    await Promise.all([...times, ...times].map(renew));
    expect([await charges(), (await read("2026-02-28")).account.balance]).toEqual([2, "430.000000"]);
  });

  test("after years of downtime, by the year", async () => {
    await pay("2000.00", "2024-02-29");
    await begin(yearly, "2024-02-29");
    await Promise.all([renew("2027-06-01"), renew("2027-06-01")]);
    expect(await charges()).toBe(2);
    expect((await read("2027-06-01")).account.subscription).toMatchObject({
      current_period_start: at("2027-02-28"),
      current_period_end: at("2028-02-29"),
    });
  });

  test("after a downtime in which it should have been suspended: a week begins when somebody looks", async () => {
    await pay("40.00", "2026-01-31");
    await begin(monthly, "2026-01-31");
    await renew("2026-05-15");
    const { subscription } = (await read("2026-05-15")).account;
    expect(subscription).toMatchObject({ status: "past_due", past_due_since: at("2026-05-15") });
    await renew("2026-05-22");
    expect((await read("2026-05-22")).account.subscription?.status).toBe("suspended");
  });
});

test("what was noted before midnight counts in the month that is over, whenever it is read", async () => {
  await take(2_990, "2026-01-15");
  await note(7, "2026-01-31T23:59:59.999Z");
  await note(4, "2026-02-01T00:00:00.000Z");
  expect((await read("2026-02-03")).used.email).toBe(4);
  await settleAt("2026-02-03");
  expect((await read("2026-02-03")).used.email).toBe(4);
  expect((await read("2026-01-31")).used.email).toBe(2_997);
});

test("what was noted beyond the allowance of a month that is over is charged at its end, not with the new month", async () => {
  await pay("10.00", "2026-01-01");
  await take(3_000, "2026-01-15");
  await note(5, "2026-01-31T23:00:00Z");
  await note(5, "2026-03-02");
  expect((await read("2026-03-03")).account.balance).toBe("9.996000");
  await settleAt("2026-03-03");
  expect(await read("2026-03-03")).toMatchObject({ used: { email: 5 }, account: { balance: "9.996000" } });
});

test("a cancelled subscription has the limits of Free from the end of its period on, also before anybody ends it", async () => {
  await pay("35.00", "2026-01-31");
  await begin(monthly, "2026-01-31");
  await cancel("2026-02-10");
  await note(4_000, "2026-02-28T09:59:59.999Z");
  expect((await read("2026-02-28T09:59:59.999Z")).plan.id).toBe("growth");
  expect(await take(5_000, "2026-02-28")).toEqual({ taken: 3_000, refusal: "insufficient_balance" });
  await renew("2026-03-01");
  expect((await read("2026-02-28")).used.email).toBe(3_000);
});

test("one that is past due ends at once when it is cancelled, and is not charged any more", async () => {
  await pay("40.00", "2026-01-31");
  await begin(monthly, "2026-01-31");
  await renew("2026-02-28");
  expect(await cancel("2026-03-01")).toMatchObject({
    status: "canceled",
    current_period_end: at("2026-03-01"),
    past_due_since: null,
  });
  await pay("100.00", "2026-03-02");
  await renew("2026-03-02");
  expect([await charges(), (await read("2026-03-02")).account.subscription]).toEqual([1, null]);
});

describe("what comes back", () => {
  test("is never more than was paid: a smaller plan makes no money of what the bigger one included", async () => {
    await pay("95.00", "2026-01-10");
    await begin({ ...monthly, plan_id: "scale" }, "2026-01-10");
    await take(200_000, "2026-01-11");
    await begin(monthly, "2026-01-12");
    await note(-200_000, "2026-01-13");
    await settleAt("2026-01-13");
    expect(await read("2026-01-13")).toMatchObject({ used: { email: 0 }, account: { balance: "0.000000" } });
  });

  test("is free again when a smaller plan came meanwhile, whether it comes before or after what is used anew", async () => {
    for (const [first, second] of [
      [-1_000, 1_000],
      [1_000, -1_000],
    ] as const) {
      workspaceId = await insertBareWorkspace(db);
      await pay("105.00", "2026-01-10");
      await begin({ ...monthly, plan_id: "scale" }, "2026-01-10");
      await take(200_000, "2026-01-11");
      await begin(monthly, "2026-01-12");
      for (const settled of [false, true]) {
        await note(first, "2026-01-13");
        if (settled) await settleAt("2026-01-13");
        await note(second, "2026-01-13");
        await settleAt("2026-01-13");
      }
      expect(await read("2026-01-13")).toMatchObject({
        used: { email: 200_000 },
        account: { balance: "10.000000" },
      });
      await take(1, "2026-01-13");
      expect((await read("2026-01-13")).account.balance).toBe("9.999200");
    }
  });

  test("stays covered by the bigger plan, also when that came back and went again", async () => {
    await pay("200.00", "2026-01-10");
    await begin({ ...monthly, plan_id: "scale" }, "2026-01-10");
    await take(200_000, "2026-01-11");
    await begin(monthly, "2026-01-12");
    await begin({ ...monthly, plan_id: "scale" }, "2026-01-13");
    await note(-1_000, "2026-01-13");
    await begin(monthly, "2026-01-14");
    const { balance } = (await read("2026-01-14")).account;
    await take(1_000, "2026-01-14");
    expect((await read("2026-01-14")).account.balance).toBe(balance);
  });

  test("is not paid for again when it was paid for before a bigger plan covered it", async () => {
    await pay("200.00", "2026-01-10");
    await begin(monthly, "2026-01-10");
    await take(60_000, "2026-01-11");
    await begin({ ...monthly, plan_id: "scale" }, "2026-01-12");
    await note(-10_000, "2026-01-13");
    await begin(monthly, "2026-01-14");
    const { balance } = (await read("2026-01-14")).account;
    await take(10_000, "2026-01-14");
    expect((await read("2026-01-14")).account.balance).toBe(balance);
    await take(1, "2026-01-14");
    expect((await read("2026-01-14")).account.balance).toBe((Number(balance) - 0.0008).toFixed(6));
  });

  test("in a later month counts there, as that many more", async () => {
    await take(3_000, "2026-01-15");
    await note(-10, "2026-02-01");
    await settleAt("2026-02-01");
    expect(await take(5_000, "2026-02-02")).toMatchObject({ taken: 3_010 });
    expect((await read("2026-01-31")).used.email).toBe(3_000);
  });
});
