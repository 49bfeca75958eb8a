import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sql from "sql-template-tag";
import { afterAll, beforeEach, expect, test } from "vitest";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { apiCaller, type CallApi } from "#test/support/api-caller.ts";
import type { DnsZone } from "#test/support/fake-dns.ts";
import { startService } from "#test/support/service.ts";
import { getMeterReading, takeUpTo } from "#workspace/billing/meter.ts";
import { plans } from "#workspace/billing/plans.ts";
import { changeWorkspace } from "#workspace/change-workspace.ts";
import { insertCheck } from "./check-store.ts";

const IP = "8.4.2.1";
const folder = await mkdtemp(join(tmpdir(), "posthaste-zones-"));
afterAll(() => rm(folder, { recursive: true }));
const file = join(folder, "zones.json");
const everything = { types: ["ip4", "ip6", "domain"], description: "A list", self_test: null };
const white = { dns_name: "white.test", weight: "high", delisting: "https://white.test/?q={target}" };
const zones = [
  { ...everything, name: "black.test" },
  { ...everything, ...white, name: "white.test" },
];
await writeFile(file, JSON.stringify({ replace: true, zones }));

const records: DnsZone = {
  "1.2.4.8.black.test": { A: ["127.0.0.2"], TXT: ["Spam seen"] },
  "1.2.4.8.white.test": "nxdomain",
  "*.black.test": "nxdomain",
  "silent.example.black.test": "servfail",
  "silent.example.white.test": "refuse",
};
const service = await startService({ env: { BLACKLIST_ZONES_FILE: file }, zone: records });
const { database: db, clock } = service;
const plansFile = join(folder, "plans.json");
const free = { allowances: { blacklist_check: 0 }, rates: { blacklist_check: "0.01" } };
await writeFile(plansFile, JSON.stringify({ free }));
const rated = await startService({
  env: { BLACKLIST_ZONES_FILE: file, PLANS_FILE: plansFile },
  zone: records,
});

let call: CallApi;
let workspaceId: WorkspaceId;

beforeEach(async () => {
  const made = await service.newWorkspace();
  workspaceId = made.workspaceId;
  call = apiCaller(() => service.url, made.key);
});

test("the zones are listed with their weight and the page for removal, and without the name that is asked", async () => {
  const { status, body } = await call("GET", "/blacklist/zones");
  expect(status).toBe(200);
  const both = { target_types: everything.types, description: "A list", is_used: true };
  expect(body.data).toEqual([
    { ...both, zone: "white.test", weight: "high", delisting_info: white.delisting },
    { ...both, zone: "black.test", weight: "low", delisting_info: null },
  ]);
  const key = await service.newKey(["reports:read"]);
  expect((await service.call("GET", "/blacklist/zones", undefined, { key })).status).toBe(403);
});

const check = (target: unknown) => call("POST", "/blacklist/check", { target });
const history = async (query = "") => (await call("GET", `/blacklist/history${query}`)).body.data;
const watch = (body: object) => call("POST", "/blacklist/monitors", body);
const used = async () => (await getMeterReading(db, plans, workspaceId, clock.now())).used.blacklist_check;
/** A workspace on the free plan with this many of its 50 checks left. */
const leave = async (left: number) => {
  await changeWorkspace(db, workspaceId, { plan: "free" }, { clock, plans });
  await db.transaction((tx) => takeUpTo(tx, plans, workspaceId, "blacklist_check", 50 - left, clock.now()));
};

test("a check returns every zone and the remaining allowance", async () => {
  await leave(50);
  const { status, body } = await check(" 8.4.2.1 ");
  const monthEnd = new Date(Date.UTC(clock.now().getUTCFullYear(), clock.now().getUTCMonth() + 1));
  expect([status, body.data]).toEqual([
    200,
    {
      target: IP,
      target_type: "ip",
      total_checked: 2,
      listed_count: 1,
      results: [
        {
          zone: "black.test",
          status: "listed",
          description: "Listed (127.0.0.2) – Spam seen",
          delisting_info: null,
        },
        { zone: "white.test", status: "not_listed", description: "A list", delisting_info: null },
      ],
      checked_at: clock.now().toISOString(),
      remaining_checks: 49,
      allowance: { used: 1, limit: 50, remaining: 49, resets_at: monthEnd.toISOString() },
    },
  ]);
  expect(await history()).toEqual([
    {
      id: expect.any(String),
      target: IP,
      target_type: "ip",
      check_type: "manual",
      status: "listed",
      listed_count: 1,
      total_checked: 2,
      cost: 1,
      created_at: clock.now().toISOString(),
      result: { "black.test": "listed", "white.test": "not_listed" },
    },
  ]);
});

test("where there is no limit, the limit is null", async () => {
  expect((await check("good.example")).body.data).toMatchObject({
    target_type: "domain",
    listed_count: 0,
    remaining_checks: null,
    allowance: { used: 1, limit: null, remaining: null },
  });
});

test.each([
  "",
  "10.0.0.1",
  "127.0.0.1",
  "169.254.1.1",
  "192.0.2.1",
  "224.0.0.1",
  "0.0.0.0",
  "255.255.255.255",
  "::1",
  "fe80::1",
  "fe80::1%eth0",
  "2606:4700::1%eth0",
  "fc00::1",
  "2001:db8::1",
  "::ffff:10.0.0.1",
  "8.8.8.8/24",
  "8.8.8.8:25",
  "[2606:4700::1]",
  "8.8.8",
  "0x08080808",
  "134744072",
  "https://example.com/",
  "ada@example.com",
  "example",
  "printer.local",
  "a b.example",
  "-x.example",
  `${"x".repeat(64)}.example`,
  "a\u0000.example",
  null,
  7,
])("%j is refused as a target", async (target) => {
  for (const answer of [await check(target), await watch({ target })]) {
    expect([answer.status, answer.body.code]).toEqual([400, "VALIDATION_ERROR"]);
  }
  expect(await used()).toBe(0);
});

test("an IPv4-mapped IPv6 address is read as the IPv4 address", async () => {
  expect((await check("::FFFF:8.4.2.1")).body.data).toMatchObject({ target: IP, listed_count: 1 });
});

test("a check without an answer costs nothing, and is not clean", async () => {
  expect((await check("silent.example")).body.data).toMatchObject({ total_checked: 2, listed_count: 0 });
  expect(await history()).toMatchObject([
    { status: "error", cost: 0, result: { "black.test": "error", "white.test": "error" } },
  ]);
  expect(await used()).toBe(0);
});

test("without allowance no zone is queried, whatever the balance, and no top-up is advised", async () => {
  await leave(0);
  await db.run(sql`
    update billing_accounts set balance = 100, is_prepaid = true where workspace_id = ${workspaceId}`);
  service.dns.questions.length = 0;
  const { status, body } = await check("bad.example");
  expect([status, body.code]).toEqual([402, "PLAN_LIMIT_REACHED"]);
  expect(body.error).toMatch(
    /^The plan Free has 50 blacklist checks a month, and all are used until .*bigger plan$/,
  );
  expect(service.dns.questions).toEqual([]);
  expect(await history()).toEqual([]);
});

test("on a plan with a rate per check the balance pays, and a check that it does not cover is refused", async () => {
  const made = await rated.newWorkspace();
  const caller = apiCaller(() => rated.url, made.key);
  await changeWorkspace(rated.database, made.workspaceId, { plan: "free" }, { clock, plans });
  await rated.database.run(sql`
    update billing_accounts set balance = 0.01, is_prepaid = true where workspace_id = ${made.workspaceId}`);
  const ask = () => caller("POST", "/blacklist/check", { target: IP });
  expect((await ask()).body.data.allowance).toMatchObject({ used: 1, limit: 0, remaining: 0 });
  const { status, body } = await ask();
  expect([status, body.code]).toEqual([402, "INSUFFICIENT_BALANCE"]);
});

test("of 64 concurrent calls with one check left exactly one passes", async () => {
  await leave(1);
  const answers = await Promise.all(Array.from({ length: 64 }, () => check(IP)));
  const statuses = answers.map(({ status }) => status).sort((a, b) => a - b);
  expect(statuses).toEqual([200, ...Array(63).fill(402)]);
  expect(await used()).toBe(50);
  expect(await history()).toHaveLength(1);
});

test("history is filtered, and never another workspace's", async () => {
  const { id: monitor_id } = (await watch({ target: "good.example" })).body.data;
  const rows = [
    ["2026-03-01T00:00:00Z", "manual", IP],
    ["2026-03-02T23:59:59Z", "scheduled", "good.example"],
    ["2026-03-03T00:00:00Z", "manual", "good.example"],
  ] as const;
  for (const [at, check_type, target] of rows) {
    await insertCheck(db, workspaceId, {
      target,
      target_type: target === IP ? "ip" : "domain",
      check_type,
      monitor_id: check_type === "scheduled" ? monitor_id : null,
      status: "clean",
      listed_count: 0,
      total_checked: 1,
      cost: 1,
      created_at: new Date(at),
      result: { "a.test": "not_listed" },
    });
  }
  const days = async (query: string) =>
    (await history(query)).map(({ created_at }: { created_at: string }) => created_at.slice(8, 10));
  expect(await days("")).toEqual(["03", "02", "01"]);
  expect(await days("?from=2026-03-01&to=2026-03-02")).toEqual(["02", "01"]);
  expect(await days("?from=2026-03-02")).toEqual(["03", "02"]);
  expect(await days("?to=2026-03-01")).toEqual(["01"]);
  expect(await days("?target=GOOD.example.")).toEqual(["03", "02"]);
  expect(await days("?check_type=manual")).toEqual(["03", "01"]);
  expect(await days(`?monitor_id=${monitor_id}`)).toEqual(["02"]);
  expect(await days("?limit=1&offset=1")).toEqual(["02"]);
  expect(await days("?limit=x&offset=-1")).toEqual(["03", "02", "01"]);
  expect(await days("?limit=9999&offset=99999999999999999999")).toEqual([]);
  const unrun = (await watch({ target: "other.example" })).body.data.id;
  for (const id of [monitor_id, unrun]) await call("DELETE", `/blacklist/monitors/${id}`);
  expect(await days(`?monitor_id=${monitor_id}`)).toEqual(["02"]);
  expect((await call("GET", `/blacklist/history?monitor_id=${unrun}`)).status).toBe(400);
  const stranger = await service.newWorkspace();
  const foreign = await call("GET", `/blacklist/history?monitor_id=${monitor_id}`, undefined, {
    key: stranger.key,
  });
  expect(foreign.status).toBe(400);
  expect((await call("GET", "/blacklist/history", undefined, { key: stranger.key })).body.data).toEqual([]);
});

test("days of the history are in the time zone of the workspace", async () => {
  await changeWorkspace(db, workspaceId, { timezone: "Asia/Tokyo" }, { clock, plans });
  const fields = { target: IP, target_type: "ip", check_type: "manual", status: "clean" } as const;
  const counts = { listed_count: 0, total_checked: 0, cost: 0, monitor_id: null, result: {} };
  await insertCheck(db, workspaceId, { ...fields, ...counts, created_at: new Date("2026-03-01T15:00:00Z") });
  expect(await history("?to=2026-03-01")).toEqual([]);
  expect(await history("?from=2026-03-02&to=2026-03-02")).toHaveLength(1);
});

test.each([
  "from=yesterday",
  "to=2026-02-30",
  "from=2026-3-1",
  "from=2026-03-02&to=2026-03-01",
  "check_type=automatic",
  "monitor_id=7",
  `monitor_id=${newId()}`,
  "target=10.0.0.1",
])("history refuses %s", async (query) => {
  const { status, body } = await call("GET", `/blacklist/history?${query}`);
  expect([status, body.code]).toEqual([400, "VALIDATION_ERROR"]);
});

test("a monitor begins active, daily, with notices, and is due at once", async () => {
  const { status, body } = await watch({ target: " Good.EXAMPLE " });
  expect([status, body.data]).toEqual([
    201,
    {
      id: expect.any(String),
      target: "good.example",
      target_type: "domain",
      frequency_minutes: 1_440,
      notify: true,
      status: "active",
      last_checked_at: null,
      next_run_at: clock.now().toISOString(),
      last_listed_count: 0,
      last_listed_zones: [],
      last_error: null,
    },
  ]);
  expect((await call("GET", "/blacklist/monitors")).body.data).toEqual([body.data]);
  expect((await call("GET", `/blacklist/monitors/${body.data.id}`)).body.data).toEqual(body.data);
  expect((await watch({ target: "good.example." })).status).toBe(409);
});

test("a monitor that is due stays so when its frequency changes", async () => {
  const { id } = (await watch({ target: IP, frequency_minutes: 60 })).body.data;
  const patch = async (body: object) => (await call("PATCH", `/blacklist/monitors/${id}`, body)).body.data;
  const hourAgo = new Date(clock.now().getTime() - 3_600_000);
  await db.run(sql`update blacklist_monitors set last_checked_at = ${hourAgo} where id = ${id}`);
  await patch({ status: "paused" });
  const { next_run_at } = await patch({ status: "active" });
  expect(await patch({ frequency_minutes: 1_440 })).toMatchObject({ frequency_minutes: 1_440, next_run_at });
  await db.run(
    sql`update blacklist_monitors set next_run_at = ${new Date(clock.now().getTime() + 1)} where id = ${id}`,
  );
  expect((await patch({ frequency_minutes: 120 })).next_run_at).toBe(
    new Date(hourAgo.getTime() + 120 * 60_000).toISOString(),
  );
});

test("a paused monitor has no next run; a resumed one is due at once", async () => {
  const { id } = (await watch({ target: IP, frequency_minutes: 60, notify: false })).body.data;
  const patch = async (body: object) => (await call("PATCH", `/blacklist/monitors/${id}`, body)).body.data;
  expect(await patch({ status: "paused" })).toMatchObject({ status: "paused", next_run_at: null });
  expect(await patch({ notify: true, frequency_minutes: 120 })).toMatchObject({
    status: "paused",
    next_run_at: null,
    notify: true,
    frequency_minutes: 120,
  });
  clock.advance(5_000);
  const active = await patch({ status: "active" });
  expect(active).toMatchObject({ status: "active", next_run_at: clock.now().toISOString() });
  clock.advance(5_000);
  expect(await patch({ status: "active" })).toEqual(active);
  expect(await patch({})).toEqual(active);
  expect((await call("DELETE", `/blacklist/monitors/${id}`)).body.data).toEqual({ id, deleted: true });
  expect((await call("GET", `/blacklist/monitors/${id}`)).status).toBe(404);
});

test.each([
  { frequency_minutes: 59 },
  { frequency_minutes: 43_201 },
  { frequency_minutes: 60.5 },
  { frequency_minutes: "60" },
  { notify: "yes" },
])("%j is refused in a monitor", async (setting) => {
  expect((await watch({ target: "good.example", ...setting })).status).toBe(400);
  const { id } = (await watch({ target: "good.example" })).body.data;
  expect((await call("PATCH", `/blacklist/monitors/${id}`, setting)).status).toBe(400);
});

test.each(["listed", "error", "", null])("%j is refused as a monitor's status", async (status) => {
  const { id } = (await watch({ target: "good.example" })).body.data;
  expect((await call("PATCH", `/blacklist/monitors/${id}`, { status })).status).toBe(400);
});

test("a workspace has at most 1,000 monitors", async () => {
  await db.run(sql`
    insert into blacklist_monitors
      (workspace_id, id, target, target_type, frequency_minutes, notify, status, next_run_at, created_at)
    select ${workspaceId}, gen_random_uuid(), 'd' || i || '.example', 'domain', 60, true, 'active', now(), now()
    from generate_series(1, 999) i`);
  const answers = await Promise.all(["x.example", "y.example"].map((target) => watch({ target })));
  expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([201, 409]);
});
