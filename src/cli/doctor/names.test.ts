import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { mailHostname, openExaminations } from "../../../test/support/examination.ts";
import type { DnsZone } from "../../../test/support/fake-dns.ts";
import { startService } from "../../../test/support/service.ts";
import { newId } from "../../platform/ids.ts";

const service = await startService();
const examine = await openExaminations(service);

test.each<[string, DnsZone, string, string]>([
  ["a name without an address", { [mailHostname]: {} }, "reverse DNS", "has no address"],
  ["an address without a name", { "1.0.0.127.in-addr.arpa": {} }, "reverse DNS", "127.0.0.1 has no name"],
  [
    "an address of another name",
    { "1.0.0.127.in-addr.arpa": { PTR: ["vps7.provider.test"] } },
    "reverse DNS",
    "is called vps7.provider.test, but greets as mail.ours.test",
  ],
  ["no SPF record", { [`spf.${mailHostname}`]: { TXT: ["hello"] } }, "SPF", "has no SPF record"],
  [
    "return paths without a mail host",
    { [`bounce.${mailHostname}`]: "nxdomain" },
    "bounces",
    "Nobody takes mail to",
  ],
])("%s is a fault", async (_, change, check, message) => {
  const { code, of } = await examine({ change });
  expect([code, of(check)]).toMatchObject([
    1,
    { status: "fault", message: expect.stringContaining(message) },
  ]);
});

test("a silent DNS is no fault of ours, and is said to be silent", async () => {
  const change: DnsZone = {
    [mailHostname]: "servfail",
    [`spf.${mailHostname}`]: "servfail",
    [`bounce.${mailHostname}`]: "servfail",
    "example.test": "servfail",
  };
  const { code, findings } = await examine({ change });
  expect(findings.slice(5, -1).map(({ status }) => status)).toEqual(Array(4).fill("not_checked"));
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
