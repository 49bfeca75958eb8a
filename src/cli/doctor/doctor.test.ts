import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sql from "sql-template-tag";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { type DnsZone, startFakeDns } from "../../../test/support/fake-dns.ts";
import { type FakeMxOptions, startFakeMx } from "../../../test/support/fake-mx.ts";
import { startService } from "../../../test/support/service.ts";
import { newId } from "../../platform/ids.ts";
import { runCli } from "../program.ts";
import type { Finding } from "./finding.ts";
import { checkClock } from "./machine.ts";

const service = await startService();
const dataDir = await mkdtemp(join(tmpdir(), "posthaste-doctor-"));
afterAll(() => rm(dataDir, { recursive: true, force: true }));

const name = "mail.ours.test";
/** As docs/operations.md says it should be. */
const zone: DnsZone = {
  [name]: { A: ["127.0.0.1"] },
  "1.0.0.127.in-addr.arpa": { PTR: [name] },
  [`spf.${name}`]: { TXT: ["v=spf1 ip4:127.0.0.1 -all"] },
  [`bounce.${name}`]: { MX: [[10, name]] },
  "example.test": { MX: [[10, "mx.example.test"]] },
  "mx.example.test": { A: ["127.0.0.1"] },
  "smart.test": { A: ["127.0.0.1"] },
};

/** What the doctor finds, by check; a check that found several things has the last. */
async function examine(
  options: {
    readonly change?: DnsZone;
    readonly mx?: FakeMxOptions | null;
    readonly env?: (port: number) => Readonly<Record<string, string>>;
    readonly words?: readonly string[];
  } = {},
) {
  const dns = await startFakeDns({ ...zone, ...options.change });
  onTestFinished(() => dns.close());
  const mx = await startFakeMx(options.mx ?? {});
  onTestFinished(() => mx.close());
  if (options.mx === null) await mx.close();
  const printed: string[] = [];
  const code = await runCli(["doctor", "--json", ...(options.words ?? [])], {
    stdout: { write: (text) => printed.push(String(text)) },
    stderr: { write: () => {} },
    environment: {
      DATABASE_URL: service.database.url,
      DATA_DIR: dataDir,
      MAIL_MODE: "direct",
      MAIL_HOSTNAME: name,
      PUBLIC_URL: "https://192.0.2.10.example/",
      INBOUND_PORT: "2525",
      DNS_SERVERS: dns.address,
      SMTP_PORT: String(mx.port),
      ALLOW_PRIVATE_MX: "true",
      PLATFORM_FROM: "hello@example.test",
      ...options.env?.(mx.port),
    },
    endpoints: () => service.api.endpoints,
    serve: async () => {},
  });
  const findings: Finding[] = JSON.parse(printed.join(""));
  return {
    code,
    findings,
    of: (check: string) => findings.findLast((one) => one.check.startsWith(check)),
    mx,
  };
}

test("an installation that is in order is told so, and its mail hosts hear a greeting and no more", async () => {
  const { code, findings, of, mx } = await examine({ mx: { tls: "offered" } });
  expect(findings.filter(({ status }) => status !== "ok")).toEqual([]);
  expect(findings.map(({ check }) => check)).toEqual([
    "database",
    "clock",
    "disk",
    `port ${mx.port}`,
    "reverse DNS",
    "bounces",
    "SPF",
    "public URL",
  ]);
  expect(code).toBe(0);
  expect(of("database")?.message).toMatch(/^PostgreSQL \d+\.\d+.*schema is up to date/);
  expect(of("port")?.message).toContain("mx.example.test (127.0.0.1, port");
  expect(mx.commands.map((line) => line.split(" ")[0])).toEqual(["EHLO", "STARTTLS", "EHLO", "QUIT"]);
});

test("where mail is captured only the machine is looked at", async () => {
  const { code, findings } = await examine({ env: () => ({ MAIL_MODE: "capture" }) });
  expect(findings.map(({ check, status }) => [check, status])).toEqual([
    ["database", "ok"],
    ["clock", "ok"],
    ["disk", "ok"],
    ["mail", "not_checked"],
  ]);
  expect(code).toBe(0);
});

test("a port that nobody answers at is a fault; a host that refuses us can be reached, which is none", async () => {
  const shut = await examine({ mx: null });
  expect(shut.code).toBe(1);
  expect(shut.of("port")).toMatchObject({
    status: "fault",
    message: expect.stringMatching(/No connection\. mx\.example\.test.*ECONNREFUSED.*ask yours to open it/),
  });
  const { of, code } = await examine({ mx: { answers: { banner: "554 5.7.1 You are on our list" } } });
  expect(of("port")).toMatchObject({
    status: "warning",
    message: expect.stringContaining("You are on our list"),
  });
  expect(code).toBe(0);
});

test("another domain's hosts may be named, and one without a sender has to name them", async () => {
  const words = ["--mx-of", "other.test"];
  const change: DnsZone = { "other.test": { MX: [[10, "mx.example.test"]] } };
  const named = await examine({ words, change, env: () => ({ PLATFORM_FROM: "" }) });
  expect(named.of("port")?.status).toBe("ok");
  const unnamed = await examine({ env: () => ({ PLATFORM_FROM: "" }) });
  expect(unnamed.of("port")).toMatchObject({
    status: "not_checked",
    message: expect.stringContaining("--mx-of"),
  });
});

test.each<[string, DnsZone, string, string]>([
  ["a name without an address", { [name]: {} }, "reverse DNS", "has no address"],
  ["an address without a name", { "1.0.0.127.in-addr.arpa": {} }, "reverse DNS", "127.0.0.1 has no name"],
  [
    "an address of another name",
    { "1.0.0.127.in-addr.arpa": { PTR: ["vps7.provider.test"] } },
    "reverse DNS",
    "is called vps7.provider.test, but greets as mail.ours.test",
  ],
  ["no SPF record", { [`spf.${name}`]: { TXT: ["hello"] } }, "SPF", "has no SPF record"],
  ["return paths without a mail host", { [`bounce.${name}`]: "nxdomain" }, "bounces", "Nobody takes mail to"],
])("%s is a fault", async (_, change, check, message) => {
  const { code, of } = await examine({ change });
  expect([code, of(check)]).toMatchObject([
    1,
    { status: "fault", message: expect.stringContaining(message) },
  ]);
});

test("a silent DNS is no fault of ours, and is said to be silent", async () => {
  const change: DnsZone = {
    [name]: "servfail",
    [`spf.${name}`]: "servfail",
    [`bounce.${name}`]: "servfail",
    "example.test": "servfail",
  };
  const { code, findings } = await examine({ change });
  expect(findings.slice(3, -1).map(({ status }) => status)).toEqual(Array(4).fill("not_checked"));
  expect(code).toBe(0);
});

test("every sending IP that is on needs its name", async () => {
  await service.database.run(sql`
    insert into sending_ips (workspace_id, id, ip, hostname, is_active, created_at)
    values (${service.workspaceId}, ${newId()}, '192.0.2.7', 'out7.ours.test', true, now()),
      (${service.workspaceId}, ${newId()}, '192.0.2.8', null, false, now())`);
  const wrong = await examine();
  expect(wrong.of("reverse DNS")?.message).toContain("192.0.2.7 has no name, but greets as out7.ours.test");
  const right = await examine({ change: { "7.2.0.192.in-addr.arpa": { PTR: ["out7.ours.test"] } } });
  expect(right.findings.filter(({ check }) => check === "reverse DNS").map(({ status }) => status)).toEqual([
    "ok",
    "ok",
  ]);
});

test("where nothing is received, a warning says what that means", async () => {
  const { of } = await examine({ env: () => ({ INBOUND_PORT: "" }) });
  expect(of("bounces")).toMatchObject({
    status: "warning",
    message: expect.stringContaining("INBOUND_PORT"),
  });
});

test("links that lead to this machine alone are a fault where mail leaves", async () => {
  const { code, of } = await examine({ env: () => ({ PUBLIC_URL: "" }) });
  expect([code, of("public URL")?.status]).toEqual([1, "fault"]);
});

test("a relay is greeted in place of mail hosts, and its refusal is repeated", async () => {
  const relay = (port: number) => ({ MAIL_MODE: "relay", RELAY_URL: `smtp://smart.test:${port}` });
  const { of, findings } = await examine({ env: relay });
  expect(of("relay")).toMatchObject({ status: "ok" });
  expect(findings.map(({ check }) => check)).not.toContain("reverse DNS");
  const shut = await examine({ env: relay, mx: null });
  expect(shut.of("relay")).toMatchObject({ status: "fault", message: expect.stringContaining("RELAY_URL") });
});

test("a database that cannot be reached is a finding, and the rest is looked at all the same", async () => {
  const { code, findings } = await examine({
    env: () => ({ DATABASE_URL: "postgres://nobody@127.0.0.1:9/none" }),
  });
  expect(code).toBe(1);
  expect(findings[0]).toMatchObject({ check: "database", status: "fault" });
  expect(findings.map(({ check }) => check)).toContain("SPF");
});

test("clocks may be five seconds apart, and no more", () => {
  expect(checkClock(4_900).status).toBe("ok");
  expect(checkClock(-5_100)).toMatchObject({
    status: "fault",
    message: expect.stringContaining("5.1 s apart"),
  });
});
