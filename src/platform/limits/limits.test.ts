import { expect, test } from "vitest";
import { testDatabase } from "#test/support/database.ts";
import { HeldShares } from "./in-process-shares.ts";
import type { Limit } from "./limit.ts";
import { limitRefusal } from "./limit-errors.ts";
import { giveBackQuota, removeEndedQuotas, takeQuota, takeQuotas, usedOfQuota } from "./quota-store.ts";

const db = await testDatabase();
const requests: Limit = { what: "unfinished requests", scope: "API key or person", most: 2, beyond: "429" };
const bytes: Limit = { what: "request bodies", scope: "network", most: 1_024, unit: "bytes", beyond: "503" };
const mails = {
  what: "confirmation mails",
  scope: "network",
  most: 2,
  per: "hour",
  beyond: "no mail is sent",
} as const satisfies Limit;
const now = new Date("2026-03-01T10:59:30Z");

test("a holder takes up to its limit, and what it releases can be taken again", () => {
  const shares = new HeldShares();
  const share = { limit: requests, holder: "a" };
  const first = shares.take([share]);
  shares.take([share]);
  expect(shares.take([share])).toEqual({ reached: requests });
  expect(shares.take([{ limit: requests, holder: "b" }])).toHaveProperty("held");
  if ("held" in first) {
    first.held.release();
    first.held.release();
  }
  expect(shares.used(requests, "a")).toBe(1);
});

test("if one of several limits would be exceeded, nothing is taken", () => {
  const shares = new HeldShares();
  shares.take([{ limit: bytes, holder: "net" }], 1_000);
  const both = [
    { limit: requests, holder: "a" },
    { limit: bytes, holder: "net" },
  ];
  expect(shares.take(both, 1)).toHaveProperty("held");
  expect(shares.take(both, 100)).toEqual({ reached: requests });
  expect(shares.used(bytes, "net")).toBe(1_001);
});

test("a growing amount is refused at the limit and released completely", () => {
  const shares = new HeldShares();
  const taken = shares.take([{ limit: bytes, holder: "net" }], 1_000);
  if (!("held" in taken)) throw new Error("there was room");
  expect(taken.held.takeMore(24)).toBeUndefined();
  expect(taken.held.takeMore(1)).toBe(bytes);
  taken.held.release();
  expect(shares.used(bytes, "net")).toBe(0);
});

test("a quota is never exceeded by concurrent use, and starts again with the next window", async () => {
  const use = { name: "test", quota: mails, holder: "192.0.2.1" };
  const answers = await Promise.all(Array.from({ length: 6 }, () => takeQuota(db, use, now)));
  const end = new Date("2026-03-01T11:00:00Z");
  expect(answers.filter((answer) => answer === null)).toHaveLength(2);
  expect(answers.filter((answer) => answer?.getTime() === end.getTime())).toHaveLength(4);
  expect(await usedOfQuota(db, use, now)).toBe(2);
  expect(await takeQuota(db, use, end)).toBeNull();
  expect(await removeEndedQuotas(db, end, 10)).toBe(1);
  expect(await usedOfQuota(db, use, end)).toBe(1);
});

test("of several quotas all are used or none, also concurrently", async () => {
  const wide = { name: "wide", quota: { ...mails, most: 100 }, holder: "all" };
  const narrow = { name: "narrow", quota: mails, holder: "one" };
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => db.transaction((tx) => takeQuotas(tx, [wide, narrow], now))),
  );
  const ends = new Date("2026-03-01T11:00:00Z");
  expect(answers.filter((answer) => answer === null)).toHaveLength(2);
  expect(answers.filter((answer) => answer !== null)).toEqual(
    Array(4).fill({ name: "narrow", limit: mails, ends }),
  );
  expect(await usedOfQuota(db, wide, now)).toBe(2);
  const large = { ...narrow, holder: "other", amount: 3 };
  expect(await takeQuotas(db, [wide, large], now)).toMatchObject({ name: "narrow" });
  expect([await usedOfQuota(db, wide, now), await usedOfQuota(db, large, now)]).toEqual([2, 0]);
});

test("what is given back can be used again, and never more than was used", async () => {
  const use = { name: "given back", quota: mails, holder: "one" };
  await takeQuota(db, { ...use, amount: 2 }, now);
  await giveBackQuota(db, use, now);
  expect(await takeQuota(db, use, now)).toBeNull();
  await giveBackQuota(db, { ...use, amount: 5 }, now);
  expect(await usedOfQuota(db, use, now)).toBe(0);
});

test("a refusal names the limit, its scope and the time to retry", () => {
  const refused = limitRefusal(mails, now, new Date("2026-03-01T11:00:00Z"));
  expect(refused.message).toBe(
    "There can be at most 2 confirmation mails per network and hour. Try again in 30 s.",
  );
  expect(refused.headers).toEqual({ "Retry-After": "30" });
  expect(limitRefusal(bytes).message).toBe(
    "There can be at most 1 KiB of request bodies per network at one time. Try again in 1 s.",
  );
});
