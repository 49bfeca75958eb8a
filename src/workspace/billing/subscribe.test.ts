import sql from "sql-template-tag";
import { beforeEach, describe, expect, test } from "vitest";
import type { WorkspaceId } from "#platform/ids.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import type { PlanName } from "#workspace/workspaces/workspace.ts";
import { getMeterReading, takeUpTo } from "./meter.ts";
import { type BillingInterval, periodAt } from "./periods.ts";
import { plans } from "./plans.ts";
import { cancelSubscription, renewSubscription, subscribe } from "./subscribe.ts";
import { topUp } from "./top-up.ts";

const db = await testDatabase();
const january = new Date("2026-01-31T10:00:00Z");
let workspaceId: WorkspaceId;

beforeEach(async () => {
  await db.run(sql`delete from subscriptions`);
  workspaceId = await insertBareWorkspace(db);
});

const pay = (amount: string, now = january) =>
  db.transaction((tx) =>
    topUp(tx, plans, workspaceId, { amount, gateway: "manual", description: "Test" }, now),
  );
const take = (plan_id: PlanName, now = january, billing_interval: BillingInterval = "monthly") =>
  db.transaction((tx) => subscribe(tx, plans, workspaceId, { plan_id, billing_interval }, now));
const cancel = (now = january) => db.transaction((tx) => cancelSubscription(tx, plans, workspaceId, now));
const renew = (now: Date) => db.transaction((tx) => renewSubscription(tx, plans, workspaceId, now));
const account = async (now: Date) => (await getMeterReading(db, plans, workspaceId, now)).account;
const balance = async (now = january) => (await account(now)).balance;
const status = async (now = january) => (await account(now)).subscription?.status ?? null;
const at = (text: string) => new Date(`${text}T10:00:00Z`);

describe("subscribing", () => {
  test("takes the price at once, or changes nothing", async () => {
    await pay("34.99");
    await expect(take("growth")).rejects.toMatchObject({ code: "INSUFFICIENT_BALANCE" });
    expect([await balance(), await status()]).toEqual(["34.990000", null]);
    await pay("0.01");
    expect(await take("growth")).toMatchObject({ status: "active", current_period_end: at("2026-02-28") });
    expect(await balance()).toBe("0.000000");
  });

  test("to a bigger plan costs the difference for what is left; to a smaller one nothing, and nothing comes back", async () => {
    await pay("1000.00");
    await take("growth", at("2026-04-01"));
    await take("scale", at("2026-04-16"));
    expect(await balance()).toBe("935.000000");
    await take("growth", at("2026-04-20"));
    expect(await balance()).toBe("935.000000");
    expect((await account(at("2026-04-20"))).subscription).toMatchObject({
      plan_id: "growth",
      current_period_end: at("2026-05-01"),
    });
  });

  test("by the year instead begins a year, less what is left of the month", async () => {
    await pay("1000.00");
    await take("growth", at("2026-04-01"));
    expect(await take("growth", at("2026-04-16"), "yearly")).toMatchObject({
      current_period_end: at("2027-04-16"),
    });
    expect(await balance()).toBe("562.500000");
  });

  test("by the month instead is refused while a year is paid; a plan without an interval keeps the year", async () => {
    await pay("2000.00");
    await take("growth", january, "yearly");
    await expect(take("growth", at("2026-03-01"))).rejects.toMatchObject({ code: "CONFLICT" });
    const wish = { plan_id: "scale", billing_interval: undefined } as const;
    const next = await db.transaction((tx) => subscribe(tx, plans, workspaceId, wish, at("2026-03-01")));
    expect(next).toMatchObject({
      plan_id: "scale",
      billing_interval: "yearly",
      current_period_end: at("2027-01-31"),
    });
  });

  test("to the same plan again, to free and to one that is negotiated is refused", async () => {
    await pay("100.00");
    await take("growth");
    await expect(take("growth")).rejects.toMatchObject({ code: "CONFLICT" });
    await expect(take("free")).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    await expect(take("enterprise")).rejects.toMatchObject({ code: "BAD_REQUEST" });
    expect(await balance()).toBe("65.000000");
  });

  test("64 times at once is charged once", async () => {
    await pay("1000.00");
    const answers = await Promise.allSettled(Array.from({ length: 64 }, () => take("growth")));
    expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await balance()).toBe("965.000000");
  });
});

describe("cancelling", () => {
  test("ends the subscription with its period, not before, and not twice", async () => {
    await expect(cancel()).rejects.toMatchObject({ code: "NOT_FOUND" });
    await pay("100.00");
    await take("growth");
    await cancel();
    await expect(cancel()).rejects.toMatchObject({ code: "CONFLICT" });
    await renew(new Date("2026-02-28T09:59:59Z"));
    expect(await status()).toBe("active");
    await renew(at("2026-02-28"));
    expect([await status(), await balance()]).toEqual([null, "65.000000"]);
  });

  test("is taken back by subscribing to the same plan, at no price", async () => {
    await pay("100.00");
    await take("growth");
    await cancel();
    await take("growth", at("2026-02-05"));
    await renew(at("2026-02-28"));
    expect([await status(), await balance()]).toEqual(["active", "30.000000"]);
  });
});

test("a suspended subscription that is cancelled is over, and a later top-up pays for nothing", async () => {
  await pay("40.00");
  await take("growth");
  for (const day of ["2026-02-28", "2026-03-01", "2026-03-08"]) await renew(at(day));
  expect(await status()).toBe("suspended");
  expect((await cancel(at("2026-03-09"))).status).toBe("canceled");
  await pay("100.00", at("2026-03-10"));
  expect([await status(), await balance()]).toEqual([null, "105.000000"]);
});

describe("renewal", () => {
  test("follows the day it began on through short months, once each, whoever runs at midnight", async () => {
    await pay("1000.00");
    await take("growth");
    for (const [day, end, left] of [
      ["2026-02-28", "2026-03-31", "930.000000"],
      ["2026-03-31", "2026-04-30", "895.000000"],
    ] as const) {
      await Promise.all([renew(at(day)), renew(at(day)), renew(at(day))]);
      const { subscription, balance } = await account(at(day));
      expect([subscription?.current_period_end, balance]).toEqual([at(end), left]);
    }
  });

  test("after months of downtime charges the period that runs, once", async () => {
    await pay("1000.00");
    await take("growth");
    await renew(at("2026-06-15"));
    await renew(at("2026-06-15"));
    expect(await balance()).toBe("930.000000");
    expect((await account(at("2026-06-15"))).subscription?.current_period_end).toEqual(at("2026-06-30"));
  });

  test("that the balance does not cover is past due with the plan's limits, tried daily, suspended after a week", async () => {
    await pay("40.00");
    await take("growth");
    await renew(at("2026-02-28"));
    expect(await status()).toBe("past_due");
    const allowance = async (day: string) => (await getMeterReading(db, plans, workspaceId, at(day))).plan.id;
    expect(await allowance("2026-03-01")).toBe("growth");
    for (const day of ["03-01", "03-02", "03-03", "03-04", "03-05", "03-06"]) await renew(at(`2026-${day}`));
    expect(await status()).toBe("past_due");
    await renew(at("2026-03-07"));
    expect([await status(), await allowance("2026-03-08")]).toEqual(["suspended", "free"]);
    expect(await balance()).toBe("5.000000");
  });

  test("is paid by a top-up: within the week in the same period, after it in one that begins then", async () => {
    await pay("40.00");
    await take("growth");
    await renew(at("2026-02-28"));
    await pay("30.00", at("2026-03-02"));
    expect((await account(at("2026-03-02"))).subscription).toMatchObject({
      status: "active",
      current_period_end: at("2026-03-31"),
      retry_at: null,
    });
    await renew(at("2026-03-31"));
    for (let day = 1; day <= 7; day++) await renew(new Date(at("2026-03-31").getTime() + day * 86_400_000));
    expect(await status()).toBe("suspended");
    await pay("35.00", at("2026-05-20"));
    expect((await account(at("2026-05-20"))).subscription).toMatchObject({
      status: "active",
      current_period_end: at("2026-06-20"),
    });
    expect(await balance()).toBe("0.000000");
  });
});

test("a year's plan has its allowance by the month", async () => {
  await pay("1000.00");
  await take("growth", january, "yearly");
  const send = (now: Date) => db.transaction((tx) => takeUpTo(tx, plans, workspaceId, "email", 50_000, now));
  await send(at("2026-02-10"));
  expect((await getMeterReading(db, plans, workspaceId, at("2026-02-20"))).used.email).toBe(50_000);
  expect((await getMeterReading(db, plans, workspaceId, at("2026-03-01"))).used.email).toBe(0);
});

test("a period is the one that holds the moment, through leap years and month ends", () => {
  const leap = new Date("2024-02-29T00:00:00Z");
  expect(periodAt(leap, "yearly", new Date("2025-02-28T00:00:00Z")).start).toEqual(
    new Date("2025-02-28T00:00:00Z"),
  );
  expect(periodAt(leap, "yearly", new Date("2028-02-29T00:00:00Z")).start).toEqual(
    new Date("2028-02-29T00:00:00Z"),
  );
  expect(periodAt(january, "monthly", january)).toEqual({ start: january, end: at("2026-02-28") });
});
