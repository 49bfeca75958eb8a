import sql from "sql-template-tag";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import type { AttemptResult } from "#delivery/message/attempt.ts";
import type { Priority } from "#delivery/message/message.ts";
import type { Database } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { createLog } from "#platform/log/log.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { stubClock } from "#test/support/clock.ts";
import { testDatabase } from "#test/support/database.ts";
import { eventually } from "#test/support/eventually.ts";
import { createWorkspace } from "#workspace/create-workspace.ts";
import { listWarmUpHistory, removeOldWarmUpHistory } from "./history.ts";
import { listWarmUpProgress } from "./progress.ts";
import { type QuotaSlot, WarmUpQuotas } from "./reserve-quota.ts";

const db = await testDatabase();
const clock = stubClock(new Date("2026-03-01T10:00:00Z"));
const accepted: AttemptResult = { outcome: "accepted", code: 250, enhanced: null, text: "ok" };
const reputation: AttemptResult = {
  outcome: "refused",
  stage: "mail",
  code: 421,
  enhanced: "4.7.0",
  text: "[TSS04] Messages from 192.0.2.1 temporarily deferred due to user complaints",
};
const unreachable: AttemptResult = {
  outcome: "broken",
  stage: "connect",
  dataSent: false,
  fault: "unreachable",
  reason: "refused",
};

let workspaceId: WorkspaceId;
let sendingIpId: string;
let startedAt: Date;

beforeEach(async () => {
  clock.set(new Date("2026-03-01T10:00:00Z"));
  startedAt = clock.now();
  const settings = { name: "Test", timezone: "UTC", plan: "enterprise" } as const;
  workspaceId = (await createWorkspace(db, settings, clock)).workspace.id;
  sendingIpId = newId();
  await db.run(sql`truncate sending_ips, warm_up_lanes, warm_up_days, routing_rules`);
  await db.run(sql`
    insert into sending_ips (workspace_id, id, ip, warm_up_started_at, created_at)
    values (${workspaceId}, ${sendingIpId}, '192.0.2.1', ${startedAt}, ${startedAt})`);
});

function worker(change: { readonly db?: Database; readonly flushMs?: number } = {}): WarmUpQuotas {
  const allowances = new WarmUpQuotas({ db, clock, log: createLog("silent"), ...change });
  onTestFinished(() => allowances.close());
  return allowances;
}

/** Takes slots, `count` at the same time; resolves to those granted. */
async function takeAll(from: WarmUpQuotas, most: number, priority: Priority = 0): Promise<QuotaSlot[]> {
  const plan = { workspaceId, sendingIpId, lane: "google", startedAt };
  const taken = await Promise.all(Array.from({ length: most }, () => from.take(plan, priority)));
  return taken.filter((allowance) => allowance !== null);
}

async function google() {
  const ips = [{ id: sendingIpId, warm_up_started_at: startedAt }];
  const states = await listWarmUpProgress(db, workspaceId, ips, ["google", "yahoo"], clock.now());
  return states.get(sendingIpId)?.providers.find(({ provider }) => provider === "google");
}

test("each day with mail is kept for 400 days, with the day of the plan", async () => {
  const one = worker();
  for (const [at, allowance] of (await takeAll(one, 50)).entries()) {
    allowance.settle(at < 3 ? reputation : accepted);
  }
  await one.close();
  clock.advance(DAY_MS);
  const two = worker();
  for (const allowance of await takeAll(two, 5)) allowance.settle(accepted);
  await two.close();
  const history = await listWarmUpHistory(db, workspaceId, sendingIpId, { limit: 10, offset: 0 });
  expect(history).toEqual({
    rows: [
      { date: "2026-03-02", provider: "google", day: 1, ceiling: 50, sent: 5, deferred: 0 },
      { date: "2026-03-01", provider: "google", day: 1, ceiling: 50, sent: 50, deferred: 3 },
    ],
    total: 2,
  });
  const second = await listWarmUpHistory(db, workspaceId, sendingIpId, { limit: 1, offset: 1 });
  expect(second.rows).toMatchObject([{ date: "2026-03-01" }]);
  clock.advance(401 * DAY_MS);
  const context = { signal: new AbortController().signal, log: createLog("silent") };
  await removeOldWarmUpHistory(db, clock).run(context);
  expect(await listWarmUpHistory(db, workspaceId, sendingIpId, { limit: 1, offset: 0 })).toMatchObject({
    total: 0,
  });
});

test("all workers together get no more than the day's quota, which each provider has for itself", async () => {
  const [one, two] = [worker(), worker()];
  const taken = await Promise.all([takeAll(one, 40), takeAll(two, 40)]);
  expect(taken.flat()).toHaveLength(50);
  const yahoo = { workspaceId, sendingIpId, lane: "yahoo", startedAt };
  expect(await one.take(yahoo, 0)).not.toBeNull();
});

test("bulk mail leaves the last tenth to transactional mail", async () => {
  const one = worker();
  expect(await takeAll(one, 100, 1)).toHaveLength(45);
  expect(await takeAll(one, 100, 0)).toHaveLength(5);
});

test("usage is counted for all workers, and the next day has the quota of the next step", async () => {
  const one = worker();
  for (const allowance of await takeAll(one, 50)) allowance.settle(accepted);
  await one.close();
  expect(await google()).toEqual({
    provider: "google",
    day: 1,
    ceiling: 50,
    sent_today: 50,
    deferred_today: 0,
  });
  clock.advance(DAY_MS);
  expect(await google()).toMatchObject({ day: 2, ceiling: 100, sent_today: 0 });
  expect(await takeAll(worker(), 200)).toHaveLength(100);
});

test("a day on which too much was deferred for reputation is repeated", async () => {
  const one = worker();
  for (const [at, allowance] of (await takeAll(one, 50)).entries()) {
    allowance.settle(at < 3 ? reputation : accepted);
  }
  await one.close();
  expect(await google()).toMatchObject({ sent_today: 50, deferred_today: 3 });
  clock.advance(DAY_MS);
  expect(await google()).toMatchObject({ day: 1, ceiling: 50 });
  expect(await takeAll(worker(), 200)).toHaveLength(50);
});

test("a slot whose message was not sent, or did not reach the receiver, is reused", async () => {
  const one = worker();
  const [first, second] = await takeAll(one, 50);
  first?.settle(unreachable);
  second?.giveBack();
  expect(await takeAll(one, 10)).toHaveLength(2);
});

test("a worker that stops returns its unused slots", async () => {
  const one = worker();
  const [only] = await takeAll(one, 1, 1);
  only?.giveBack();
  await one.close();
  expect(await takeAll(worker(), 100)).toHaveLength(50);
});

/** Quotas that flush usage at once, each time after `before`. */
function promptWorker(before: (time: number) => Promise<void>): WarmUpQuotas {
  let times = 0;
  const run: Database["run"] = async (statement) => {
    await before(++times);
    return db.run(statement);
  };
  return worker({ db: { ...db, run }, flushMs: 1 });
}
const sentToday = async (count: number) => (await google())?.sent_today === count;

test("usage noted during a flush is stored by the next flush", async () => {
  const [began, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const one = promptWorker(() => {
    began.resolve();
    return go.promise;
  });
  const [first, second] = await takeAll(one, 2);
  first?.settle(accepted);
  await began.promise;
  second?.settle(accepted);
  go.resolve();
  await eventually("both to be counted", () => sentToday(2));
});

test("usage that could not be stored is stored later", async () => {
  const one = promptWorker(async (time) => {
    if (time === 1) throw new Error("the database is away");
  });
  const [first] = await takeAll(one, 1);
  first?.settle(accepted);
  await eventually("it to be counted", () => sentToday(1));
});

test("a worker that stops while its usage cannot be stored tries once more", async () => {
  const began = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const one = promptWorker(async (time) => {
    began.resolve();
    await go.promise;
    if (time === 1) throw new Error("the database is away");
  });
  const [first] = await takeAll(one, 1);
  first?.settle(accepted);
  await began.promise;
  const closed = one.close();
  go.resolve();
  await closed;
  expect(await google()).toMatchObject({ sent_today: 1 });
});
