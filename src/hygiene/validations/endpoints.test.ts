import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sql from "sql-template-tag";
import { afterAll, describe, expect, it, onTestFinished, test } from "vitest";
import { suppressRecipients } from "#audience/suppression-lists/suppress-after-outcome.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { createLog } from "#platform/log/log.ts";
import { apiCaller } from "#test/support/api-caller.ts";
import type { DnsZone } from "#test/support/fake-dns.ts";
import { startFakeMx } from "#test/support/fake-mx.ts";
import { startService } from "#test/support/service.ts";
import { plans } from "#workspace/billing/plans.ts";
import { topUp } from "#workspace/billing/top-up.ts";
import { changeWorkspace } from "#workspace/change-workspace.ts";
import { removeOldValidationsJob } from "./remove-old-validations.ts";

const zone: DnsZone = {
  "good.test": { MX: [[10, "mx.good.test"]] },
  "mx.good.test": { A: ["127.0.0.1"] },
  "second.test": {
    MX: [
      [20, "mx.good.test"],
      [10, "mx2.good.test"],
    ],
  },
  "mx2.good.test": { A: ["127.0.0.1"] },
  "fallback.test": { A: ["127.0.0.1"] },
  "null.test": { MX: [[0, "."]] },
  "empty.test": { TXT: ["nothing here"] },
  "broken.test": "servfail",
  "lost.test": { MX: [[10, "nowhere.good.test"]] },
  "trap.test": { MX: [[10, "mx.good.test"]] },
  "xn--mnchen-3ya.test": { MX: [[10, "mx.good.test"]] },
  "gmail.com": { MX: [[10, "mx.good.test"]] },
  "gmial.com": { MX: [[10, "mx.good.test"]] },
  "mailinator.com": { MX: [[10, "mx.good.test"]] },
  "box.mailinator.com": { MX: [[10, "mx.good.test"]] },
};

const folder = await mkdtemp(join(tmpdir(), "posthaste-validations-"));
afterAll(() => rm(folder, { recursive: true, force: true }));
const trapFile = join(folder, "traps.txt");
await writeFile(trapFile, "# ours\nTrap.test\n\n");
const service = await startService({ zone, env: { TRAP_DOMAINS_FILE: trapFile } });
const { call, clock, database, dns } = service;

const validate = async (email: string, caller = call) => {
  const { status, body } = await caller("POST", "/validations", { email });
  expect(status, body.error).toBe(200);
  return body.data;
};
/** A new workspace with this much of its allowance left. */
const workspaceWith = async (left: number) => {
  const { workspaceId, key } = await service.newWorkspace();
  await changeWorkspace(database, workspaceId, { plan: "free" }, { clock, plans });
  await database.run(sql`
    insert into meter_entries (workspace_id, kind, quantity, created_at)
    values (${workspaceId}, 'validation', ${100 - left}, ${clock.now()})`);
  return { workspaceId, key, call: apiCaller(() => service.url, key) };
};
const usage = async (caller = call) => (await caller("GET", "/validations/usage")).body.data;
const complain = (workspaceId: WorkspaceId, localpart: string, domain: string) =>
  database.transaction((tx) =>
    suppressRecipients(tx, [
      { workspaceId, localpart, domain, messageId: newId(), status: "complained", time: clock.now() },
    ]),
  );

test("a good address is shown with every finding, and no server is asked in capture mode", async () => {
  expect(await validate("Ada.Lovelace@Good.test")).toEqual({
    email: "Ada.Lovelace@Good.test",
    status: "valid",
    reason: null,
    risk_score: 2,
    format_valid: true,
    domain_valid: true,
    mx_record_found: true,
    is_catch_all: false,
    is_disposable: false,
    is_role_based: false,
    is_complainer: false,
    is_honeypot: false,
    is_free_provider: false,
    is_new_domain: null,
    suggestion: null,
    mx_host: "mx.good.test",
    checked_at: clock.now().toISOString(),
    cached: false,
  });
});

describe("what the DNS says", () => {
  it.each([
    ["a@second.test", { status: "valid", mx_host: "mx2.good.test" }],
    ["a@fallback.test", { status: "valid", risk_score: 2, domain_valid: true, mx_record_found: false }],
    ["a@null.test", { status: "invalid", risk_score: 10, domain_valid: false, mx_record_found: false }],
    [
      "a@nxdomain.test",
      {
        status: "invalid",
        format_valid: true,
        domain_valid: false,
        reason: "The domain nxdomain.test does not exist.",
      },
    ],
    ["a@empty.test", { status: "invalid", domain_valid: false }],
    ["a@broken.test", { status: "unknown", risk_score: 6, domain_valid: false, mx_record_found: false }],
    ["a@lost.test", { status: "unknown", domain_valid: true, mx_record_found: true, mx_host: null }],
    ["a@münchen.test", { status: "valid", email: "a@münchen.test" }],
    ['"two words"@good.test', { status: "valid" }],
  ])("%s", async (email, findings) => {
    expect(await validate(email)).toMatchObject(findings);
  });
});

describe("what lists say", () => {
  it.each([
    ["box@mailinator.com", { status: "disposable", risk_score: 8, is_disposable: true }],
    ["a@box.mailinator.com", { status: "disposable", is_disposable: true }],
    ["info@mailinator.com", { status: "disposable", is_role_based: true }],
    ["No-Reply+x@good.test", { status: "role-based", risk_score: 4, is_role_based: true }],
    ["informal@good.test", { status: "valid", is_role_based: false }],
    ["a@trap.test", { status: "valid", risk_score: 10, is_honeypot: true }],
    ["a@gmail.com", { is_free_provider: true, suggestion: null }],
    ["a@gmial.com", { is_free_provider: false, suggestion: "gmail.com" }],
  ])("%s", async (email, findings) => {
    expect(await validate(email)).toMatchObject(findings);
  });
});

describe("a text that is not an address is invalid, without a DNS look-up or a charge", () => {
  it.each([
    "nobody",
    "a@",
    "@good.test",
    "a b@good.test",
    "a@[127.0.0.1]",
    "a@127.0.0.1",
    "a@localhost",
    " ",
    `${"a".repeat(990)}@good.test`,
  ])("%j", async (email) => {
    const [before, asked] = [(await usage()).month_used, dns.questions.length];
    expect(await validate(email)).toMatchObject({
      email: email.trim(),
      status: "invalid",
      risk_score: 10,
      format_valid: false,
      domain_valid: false,
      suggestion: null,
      mx_host: null,
    });
    expect([(await usage()).month_used, dns.questions.length]).toEqual([before, asked]);
  });
});

test("ten thousand characters, of which the first thousand are kept", async () => {
  const text = `${"a".repeat(9_990)}@good.test`;
  const found = await validate(text);
  expect(found).toMatchObject({ email: text.slice(0, 1_000), status: "invalid", format_valid: false });
});

describe("refused", () => {
  it.each<[string, object, string]>([
    ["no email", {}, "email"],
    ["an empty one", { email: "" }, "email"],
    ["null", { email: null }, "email"],
    ["a number", { email: 7 }, "email"],
    ["one that is far too long", { email: `${"a".repeat(10_000)}@good.test` }, "email"],
    ["an unknown rule", { email: "a@good.test", routing_rule_id: newId() }, "routing_rule_id"],
    ["a rule that is no id", { email: "a@good.test", routing_rule_id: "x" }, "routing_rule_id"],
    ["an unknown IP", { email: "a@good.test", virtual_mta_ip: "192.0.2.1" }, "virtual_mta_ip"],
    ["an IP that is none", { email: "a@good.test", virtual_mta_ip: "x" }, "virtual_mta_ip"],
  ])("%s", async (_name, body, field) => {
    const { month_used } = await usage();
    const answer = await call("POST", "/validations", body);
    expect([answer.status, answer.body.code]).toEqual([400, "VALIDATION_ERROR"]);
    expect(answer.body.details).toMatchObject([{ field }]);
    expect((await usage()).month_used).toBe(month_used);
  });
});

test("mail hosts with private addresses count as none, unless they are allowed", async () => {
  const strict = await startService({ zone, env: { ALLOW_PRIVATE_MX: "false" } });
  const { body } = await strict.call("POST", "/validations", { email: "a@good.test" });
  expect(body.data).toMatchObject({
    status: "invalid",
    domain_valid: false,
    mx_record_found: true,
    // The sentence keeps the case of the domain.
    reason: expect.stringMatching(/^The domain good\.test has no public mail host, only /),
  });
});

describe("with MAIL_MODE=direct", () => {
  const ask = async (env: Record<string, string>, email: string) => {
    const mx = await startFakeMx();
    onTestFinished(() => mx.close());
    const { call: caller } = await startService({
      zone,
      env: { MAIL_MODE: "direct", SMTP_PORT: String(mx.port), ...env },
    });
    return { answer: await validate(email, caller), mx };
  };

  it("the mail server is asked, and no message is sent", async () => {
    const { answer, mx } = await ask({}, "unknown@good.test");
    expect(answer).toMatchObject({
      status: "invalid",
      email_exists: false,
      smtp_response: {
        result: "rejected",
        code: 550,
        enhanced_code: "5.1.1",
        mx_host: "mx.good.test",
        port: mx.port,
        catch_all_checked: false,
      },
    });
    expect(mx.commands.map((line) => line.split(" ", 1)[0])).toEqual(expect.not.arrayContaining(["DATA"]));
  });

  it("no server is asked with VALIDATION_PROBE=off", async () => {
    const { answer, mx } = await ask({ VALIDATION_PROBE: "off" }, "unknown@good.test");
    expect(answer).toMatchObject({ status: "valid", risk_score: 2 });
    expect([answer.email_exists, answer.smtp_response, mx.connections]).toEqual([undefined, undefined, 0]);
  });
});

test("a result is cached for ten minutes, and charged each time", async () => {
  const { call: caller } = await workspaceWith(100);
  const first = await validate("twice@good.test", caller);
  clock.advance(599_000);
  expect(await validate("twice@good.test", caller)).toEqual({ ...first, cached: true });
  expect((await usage(caller)).month_used).toBe(2);
  clock.advance(2_000);
  expect(await validate("twice@good.test", caller)).toMatchObject({ cached: false });
});

test("a failed DNS look-up is not cached", async () => {
  dns.zone["later.test"] = "servfail";
  expect(await validate("a@later.test")).toMatchObject({ status: "unknown" });
  dns.zone["later.test"] = { MX: [[10, "mx.good.test"]] };
  expect(await validate("a@later.test")).toMatchObject({ status: "valid", cached: false });
});

test("a complaint marks the address for this workspace only, also when its result is cached", async () => {
  expect(await validate("angry@good.test")).toMatchObject({ is_complainer: false, risk_score: 2 });
  await complain(service.workspaceId, "Angry", "good.test");
  expect(await validate("angry@good.test")).toMatchObject({
    is_complainer: true,
    status: "valid",
    risk_score: 9,
  });
  const { call: other } = await workspaceWith(5);
  expect(await validate("angry@good.test", other)).toMatchObject({ is_complainer: false });
});

describe("metering", () => {
  it("of 64 concurrent calls with one validation left exactly one passes", async () => {
    const { call: caller } = await workspaceWith(1);
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, at) => caller("POST", "/validations", { email: `r${at}@good.test` })),
    );
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(
      Array.from({ length: 63 }, () => [402, "PLAN_LIMIT_REACHED"]),
    );
    expect(await usage(caller)).toMatchObject({ month_used: 100, month_limit: 100 });
    expect((await caller("GET", "/validations/history")).body.data).toHaveLength(1);
    // Calls that cost nothing still pass.
    expect(await validate("nobody", caller)).toMatchObject({ status: "invalid" });
  });

  it("beyond the allowance the balance pays, and calls that it does not cover are refused", async () => {
    const { call: caller, workspaceId } = await workspaceWith(0);
    const given = { amount: "0.01", gateway: "manual", description: "Twelve" } as const;
    await database.transaction((tx) => topUp(tx, plans, workspaceId, given, clock.now()));
    for (let at = 0; at < 12; at++) await validate(`r${at}@good.test`, caller);
    const answer = await caller("POST", "/validations", { email: "c@good.test" });
    expect([answer.status, answer.body.code]).toEqual([402, "INSUFFICIENT_BALANCE"]);
    expect((await caller("GET", "/billing/usage")).body.data).toMatchObject({
      balance: "0.0004",
      this_month: { validation: "0.0096" },
    });
  });

  it("the hourly cap is another 429, with the time to wait", async () => {
    const { call: caller, workspaceId } = await workspaceWith(100);
    await changeWorkspace(database, workspaceId, { hourly_cap: 2 }, { clock, plans });
    clock.set(new Date(Math.ceil(clock.now().getTime() / 3_600_000) * 3_600_000 + 600_000));
    await validate("a@good.test", caller);
    await validate("a@good.test", caller);
    const answer = await caller("POST", "/validations", { email: "b@good.test" });
    expect([answer.status, answer.body.code]).toEqual([429, "RATE_LIMIT_EXCEEDED"]);
    expect(answer.headers.get("retry-after")).toBe("3000");
    expect(await usage(caller)).toEqual({
      cost_per_validation: 1,
      hour_used: 2,
      hour_limit: 2,
      month_used: 2,
      month_limit: 100,
      rate_limit_enabled: true,
    });
    clock.advance(3_000_000);
    await validate("b@good.test", caller);
  });

  it("usage without cap and limit shows null", async () => {
    expect(await usage()).toMatchObject({ hour_limit: null, month_limit: null, rate_limit_enabled: false });
  });
});

test("the history is a bare array, newest first, in pages", async () => {
  const { call: caller } = await workspaceWith(50);
  for (const email of ["a@good.test", "nobody", "info@good.test"]) await validate(email, caller);
  const history = async (query: string) => (await caller("GET", `/validations/history${query}`)).body.data;
  const created_at = clock.now().toISOString();
  expect(await history("")).toEqual([
    { email: "info@good.test", status: "role-based", risk_score: 4, cost: 1, created_at },
    { email: "nobody", status: "invalid", risk_score: 10, cost: 0, created_at },
    { email: "a@good.test", status: "valid", risk_score: 2, cost: 1, created_at },
  ]);
  expect(await history("?page=2&limit=2")).toMatchObject([{ email: "a@good.test" }]);
  expect(await history("?page=9")).toEqual([]);
});

test("after a year the history is removed, and the counts stay", async () => {
  const { call: caller } = await workspaceWith(50);
  await validate("old@good.test", caller);
  clock.advance(364 * 86_400_000);
  await validate("new@good.test", caller);
  const forget = () =>
    removeOldValidationsJob({ db: database, clock }).run({
      signal: new AbortController().signal,
      log: createLog("silent"),
    });
  const history = async () =>
    (await caller("GET", "/validations/history")).body.data.map(({ email }: { email: string }) => email);
  await forget();
  expect(await history()).toEqual(["new@good.test", "old@good.test"]);
  clock.advance(2 * 86_400_000);
  await forget();
  expect(await history()).toEqual(["new@good.test"]);
});

describe("statistics", () => {
  it("show every day, with zeros, and the sum", async () => {
    const { call: caller } = await workspaceWith(50);
    await validate("a@good.test", caller);
    await validate("a@nxdomain.test", caller);
    clock.advance(2 * 86_400_000);
    await validate("info@good.test", caller);
    const today = clock.now().toISOString().slice(0, 10);
    const { body } = await caller("GET", "/validations/stats?days=3");
    const none = { total: 0, valid: 0, invalid: 0, catch_all: 0, disposable: 0, role_based: 0, unknown: 0 };
    expect(body.data).toMatchObject({
      totals: { ...none, total: 3, valid: 1, invalid: 1, role_based: 1 },
      days: 3,
    });
    const [first, between, last] = body.data.daily;
    expect(body.data.since).toBe(`${first.date}T00:00:00.000Z`);
    expect(first).toMatchObject({ ...none, total: 2, valid: 1, invalid: 1 });
    expect(between).toMatchObject(none);
    expect(last).toEqual({ ...none, date: today, total: 1, role_based: 1 });
    expect((await caller("GET", "/validations/stats?days=1")).body.data.totals.total).toBe(1);
  });

  it.each(["0", "-1", "366", "1.5", "x", ""])("days=%s is the default", async (days) => {
    const { body } = await call("GET", `/validations/stats?days=${days}`);
    expect([body.data.days, body.data.daily.length]).toEqual([30, 30]);
  });
});

test("a call with an Idempotency-Key is charged once", async () => {
  const { call: caller } = await workspaceWith(10);
  const headers = { "Idempotency-Key": "validate-once" };
  const ask = () => caller("POST", "/validations", { email: "a@good.test" }, { headers });
  const [first, second] = [await ask(), await ask()];
  expect(second.body.data).toEqual(first.body.data);
  expect((await usage(caller)).month_used).toBe(91);
});
