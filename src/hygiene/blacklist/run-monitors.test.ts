import sql from "sql-template-tag";
import { beforeEach, expect, test } from "vitest";
import type { Resolver } from "#dns/resolver-interface.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { PutBack } from "#platform/jobs/attempt.ts";
import { createLog } from "#platform/log/log.ts";
import { MINUTE_MS } from "#platform/time-units.ts";
import { createPlatformMail } from "#sending/platform-mail/platform-mail.ts";
import { apiCaller, type CallApi } from "#test/support/api-caller.ts";
import { startService } from "#test/support/service.ts";
import { getMeterReading, takeUpTo } from "#workspace/billing/meter.ts";
import { plans } from "#workspace/billing/plans.ts";
import { changeWorkspace } from "#workspace/change-workspace.ts";
import { createChecker, createZonesResolver } from "./checker.ts";
import { leaseDueMonitor, listedCountOf } from "./monitor-store.ts";
import { type ListingChange, type MonitorDeps, runDueMonitors } from "./run-monitors.ts";
import { readZones } from "./zones.ts";

const IP = "8.4.2.1";
const everything = { types: ["ip4", "ip6", "domain"], description: "A list", self_test: null };

const service = await startService();
const { database: db, clock, dns } = service;
const log = createLog("silent");

let call: CallApi;
let workspaceId: WorkspaceId;
let changes: ListingChange[];

beforeEach(async () => {
  await db.run(sql`delete from blacklist_monitors`);
  const made = await service.newWorkspace();
  workspaceId = made.workspaceId;
  call = apiCaller(() => service.url, made.key);
  changes = [];
  list();
});

/** Sets which of the zones a, b and c list the target, and which refuse to answer. */
function list(listing: string[] = [], silent: string[] = []): void {
  dns.zone = Object.fromEntries([
    ...["a", "b", "c"].map((name) => [`*.${name}.test`, silent.includes(name) ? "refuse" : "nxdomain"]),
    ...listing.map((name) => [`1.2.4.8.${name}.test`, { A: ["127.0.0.2"] }]),
  ]);
}

function depsOf(resolver: Pick<Resolver, "ipv4" | "txt"> = createZonesResolver([dns.address])): MonitorDeps {
  const zones = readZones({
    replace: true,
    zones: ["a.test", "b.test", "c.test"].map((name) => ({ ...everything, name })),
  });
  return {
    db,
    clock,
    plans,
    checker: createChecker({ resolver, zones, clock, keptMs: 0 }),
    sendPlatformMail: createPlatformMail("posthaste@mail.posthaste.test", clock),
    onListingChanged: async (_tx, change) => void changes.push(change),
  };
}

const runFor = (placeMs: number, deps = depsOf()) =>
  runDueMonitors(deps, new AbortController().signal, log, placeMs);
const run = (deps = depsOf()) => runFor(60 * MINUTE_MS, deps);
const watch = async (body: object = {}) =>
  (await call("POST", "/blacklist/monitors", { target: IP, frequency_minutes: 60, ...body })).body.data;
const monitorOf = async (id: string) => (await call("GET", `/blacklist/monitors/${id}`)).body.data;
const history = async () => (await call("GET", "/blacklist/history")).body.data;
const notifyTo = (notify_email: string | null) =>
  changeWorkspace(db, workspaceId, { notify_email }, { clock, plans });
const subjects = async () =>
  (
    await db.rows<{ subject: string }>(sql`
      select subject from messages where workspace_id = ${workspaceId} and source = 'platform' order by id`)
  ).map(({ subject }) => subject);
const next = async (listing: string[], silent: string[] = []) => {
  list(listing, silent);
  clock.advance(60 * MINUTE_MS);
  expect(await run()).toBe(1);
};

test("a new monitor runs at once, is charged and recorded, and is due again by its schedule", async () => {
  const { id } = await watch();
  const created = clock.now();
  list(["b"]);
  clock.advance(7_000);
  expect(await run()).toBe(1);
  expect(await monitorOf(id)).toMatchObject({
    last_checked_at: clock.now().toISOString(),
    next_run_at: new Date(created.getTime() + 60 * MINUTE_MS).toISOString(),
    last_listed_count: 1,
    last_listed_zones: ["b.test"],
    last_error: null,
  });
  expect(await history()).toMatchObject([
    { check_type: "scheduled", status: "listed", cost: 1, listed_count: 1, total_checked: 3, target: IP },
  ]);
  expect((await getMeterReading(db, plans, workspaceId, clock.now())).used.blacklist_check).toBe(1);
  expect(await run()).toBe(0);
});

test("missed runs are made up for once, and do not shift the schedule", async () => {
  const { id, next_run_at } = await watch();
  clock.advance(1_000 * MINUTE_MS);
  expect(await run()).toBe(1);
  const begin = new Date(next_run_at).getTime();
  expect(new Date((await monitorOf(id)).next_run_at).getTime()).toBe(begin + 17 * 60 * MINUTE_MS);
});

test("a notice is sent only when the zones that list the target change", async () => {
  await notifyTo("ops@acme.example");
  await watch();
  list();
  await run();
  expect(await subjects()).toEqual([]);
  await next(["a"]);
  await next(["a"]);
  await next(["a", "b"]);
  await next(["b", "c"]);
  await next(["b"]);
  await next([]);
  await next([]);
  expect(await subjects()).toEqual([
    `${IP} is listed in 1 blacklist`,
    `${IP} is now listed in 2 blacklists`,
    `${IP} is now listed in 2 blacklists`,
    `${IP} is now listed in 1 blacklist`,
    `${IP} is no longer listed in any blacklist`,
  ]);
  expect(changes.map(({ before, after }) => [before.join(), after.join()])).toEqual([
    ["", "a.test"],
    ["a.test", "a.test,b.test"],
    ["a.test,b.test", "b.test,c.test"],
    ["b.test,c.test", "b.test"],
    ["b.test", ""],
  ]);
});

test("a zone without an answer keeps its state", async () => {
  await notifyTo("ops@acme.example");
  const { id } = await watch();
  list(["a"]);
  await run();
  await next([], ["a"]);
  expect(await monitorOf(id)).toMatchObject({ last_listed_zones: ["a.test"], last_error: null });
  const [latest] = await history();
  expect(latest).toMatchObject({ status: "clean", listed_count: 0, result: { "a.test": "error" } });
  const seen = clock.now().toISOString();
  await next([], ["a", "b", "c"]);
  expect(await monitorOf(id)).toMatchObject({
    last_listed_zones: ["a.test"],
    last_checked_at: seen,
    last_error: "No zone answered",
  });
  expect((await history())[0]).toMatchObject({ status: "error", cost: 0 });
  expect(await subjects()).toHaveLength(1);
});

test("a change is reported even if notices are off or the workspace has no address", async () => {
  const { id } = await watch();
  list(["a"]);
  await run();
  await notifyTo("ops@acme.example");
  await call("PATCH", `/blacklist/monitors/${id}`, { notify: false });
  await next([]);
  expect(await subjects()).toEqual([]);
  expect(changes).toHaveLength(2);
});

test("without allowance a run is skipped with the reason; the monitor stays active", async () => {
  await changeWorkspace(db, workspaceId, { plan: "free" }, { clock, plans });
  const { id } = await watch();
  await db.transaction((tx) => takeUpTo(tx, plans, workspaceId, "blacklist_check", 50, clock.now()));
  dns.questions.length = 0;
  expect(await run()).toBe(1);
  expect(dns.questions).toEqual([]);
  expect(await history()).toMatchObject([{ status: "skipped", cost: 0, total_checked: 0, result: {} }]);
  expect(await monitorOf(id)).toMatchObject({
    status: "active",
    last_checked_at: null,
    last_error: expect.stringContaining("allowance"),
  });
});

test("of several due monitors one gets the last check of the allowance", async () => {
  await changeWorkspace(db, workspaceId, { plan: "free" }, { clock, plans });
  for (let at = 0; at < 12; at++) await watch({ target: `d${at}.example` });
  await db.transaction((tx) => takeUpTo(tx, plans, workspaceId, "blacklist_check", 49, clock.now()));
  expect(await run()).toBe(12);
  const statuses = (await history()).map(({ status }: { status: string }) => status).sort();
  expect(statuses).toEqual(["clean", ...Array(11).fill("skipped")]);
  expect((await getMeterReading(db, plans, workspaceId, clock.now())).used.blacklist_check).toBe(50);
});

test("paused monitors, and those of suspended workspaces, are not run", async () => {
  const { id } = await watch();
  await watch({ target: "good.example" });
  await call("PATCH", `/blacklist/monitors/${id}`, { status: "paused" });
  await changeWorkspace(db, workspaceId, { is_suspended: true }, { clock, plans });
  expect(await run()).toBe(0);
  await changeWorkspace(db, workspaceId, { is_suspended: false }, { clock, plans });
  expect(await run()).toBe(1);
});

test("a killed run is repeated when its lease expires, and charged once", async () => {
  await watch();
  const until = new Date(clock.now().getTime() + MINUTE_MS);
  expect(await leaseDueMonitor(db, clock.now(), until)).toMatchObject({ target: IP });
  expect(await run()).toBe(0);
  clock.advance(MINUTE_MS);
  expect(await run()).toBe(1);
  expect(await history()).toHaveLength(1);
});

/** Called while the zones are queried. */
function depsWhile(meanwhile: () => Promise<unknown>): MonitorDeps {
  const real = createZonesResolver([dns.address]);
  let isDone = false;
  return depsOf({
    txt: (name) => real.txt(name),
    async ipv4(name) {
      if (!isDone) {
        isDone = true;
        await meanwhile();
      }
      return real.ipv4(name);
    },
  });
}

test("a run with an expired lease writes and charges nothing", async () => {
  const { id } = await watch();
  const overtaken = depsWhile(async () => {
    clock.advance(2 * MINUTE_MS);
    expect(await run()).toBe(1);
  });
  await run(overtaken);
  expect(await history()).toHaveLength(1);
  expect((await monitorOf(id)).last_checked_at).not.toBeNull();
  expect((await getMeterReading(db, plans, workspaceId, clock.now())).used.blacklist_check).toBe(1);
});

test("a monitor that is deleted while it runs leaves no rows", async () => {
  const { id } = await watch();
  await run(depsWhile(() => call("DELETE", `/blacklist/monitors/${id}`)));
  expect(await history()).toEqual([]);
  expect((await getMeterReading(db, plans, workspaceId, clock.now())).used.blacklist_check).toBe(0);
});

test("a monitor that is paused while it runs stays paused", async () => {
  const { id } = await watch();
  await run(depsWhile(() => call("PATCH", `/blacklist/monitors/${id}`, { status: "paused" })));
  expect(await monitorOf(id)).toMatchObject({ status: "paused", next_run_at: null, last_error: null });
  expect(await history()).toHaveLength(1);
});

test("1,000 monitors due at once run once each, with few queries at a time", async () => {
  await db.run(sql`
    insert into blacklist_monitors
      (workspace_id, id, target, target_type, frequency_minutes, notify, status, next_run_at, created_at)
    select ${workspaceId}, gen_random_uuid(), 'd' || i || '.example', 'domain', 60, true, 'active', ${clock.now()},
      ${clock.now()} from generate_series(1, 1000) i`);
  const real = createZonesResolver([dns.address]);
  let inFlight = 0;
  let most = 0;
  const counting = depsOf({
    txt: (name) => real.txt(name),
    async ipv4(name) {
      most = Math.max(most, ++inFlight);
      return real.ipv4(name).finally(() => inFlight--);
    },
  });
  const counts = await Promise.all([run(counting), run(counting)]);
  expect(counts[0] + counts[1]).toBe(1_000);
  expect(most).toBeLessThanOrEqual(2 * 10 * 3);
  const ran = await db.row(sql`
    select count(*) as rows, count(distinct target) as targets from blacklist_checks where workspace_id = ${workspaceId}`);
  expect(ran).toEqual({ rows: 1_000, targets: 1_000 });
  expect((await getMeterReading(db, plans, workspaceId, clock.now())).used.blacklist_check).toBe(1_000);
});

test("a task that takes long is put back, and runs the other monitors later", async () => {
  for (let at = 0; at < 30; at++) await watch({ target: `d${at}.example` });
  await expect(runFor(0)).rejects.toThrow(PutBack);
  const done = (await history()).length;
  expect(done).toBeGreaterThan(0);
  expect(done).toBeLessThan(30);
  expect(await run()).toBe(30 - done);
});

test("reports show listings of checked targets of their own workspace only", async () => {
  await watch();
  list(["a", "c"]);
  await run();
  await watch({ target: "new.example" });
  const seen = await listedCountOf(db, workspaceId, [IP, "new.example", "other.example"]);
  expect([...seen]).toEqual([[IP, { last_listed_count: 2, last_checked_at: clock.now() }]]);
  const stranger = await service.newWorkspace();
  expect((await listedCountOf(db, stranger.workspaceId, [IP])).size).toBe(0);
});
