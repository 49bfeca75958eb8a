import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { mailHostname, prepareDoctor } from "#test/support/doctor-run.ts";
import type { DnsZone } from "#test/support/fake-dns.ts";
import { startService } from "#test/support/service.ts";

const service = await startService();
const examine = await prepareDoctor(service);

test.each<[string, DnsZone, string, string]>([
  ["no SPF record", { [`spf.${mailHostname}`]: { TXT: ["hello"] } }, "SPF", "has no SPF record"],
  [
    "return paths without a mail host",
    { [`bounce.${mailHostname}`]: "nxdomain" },
    "bounces",
    "No host accepts mail to",
  ],
  [
    "return paths whose mail host has no address",
    { [`bounce.${mailHostname}`]: { MX: [[10, "gone.ours.test"]] } },
    "bounces",
    "No host accepts mail to",
  ],
  [
    "an SPF record with a slip",
    { [`spf.${mailHostname}`]: { TXT: ["v=spf1 ipv4:127.0.0.1 -all"] } },
    "SPF",
    'is invalid ("ipv4:127.0.0.1": "ipv4" is not an SPF mechanism)',
  ],
  [
    "a second SPF record",
    { [`spf.${mailHostname}`]: { TXT: ["v=spf1 ip4:127.0.0.1 -all", "v=spf1 a -all"] } },
    "SPF",
    "has 2 SPF records",
  ],
])("%s is a fault", async (_, change, check, message) => {
  const { code, of } = await examine({ change });
  expect([code, of(check)]).toMatchObject([
    1,
    { status: "fault", message: expect.stringContaining(message) },
  ]);
});

test.each<[string, DnsZone, string, string]>([
  [
    "an SPF record that lists none of this service's addresses",
    { [`spf.${mailHostname}`]: { TXT: ["v=spf1 ip4:192.0.2.1 -all"] } },
    "SPF",
    'does not list 127.0.0.2, 127.0.0.9: mail from there fails SPF. Add ip4:127.0.0.2 ip4:127.0.0.9 before "all".',
  ],
  [
    "an SPF record without a sending IP",
    { [`spf.${mailHostname}`]: { TXT: [`v=spf1 a:${mailHostname} -all`] } },
    "SPF",
    "does not list 127.0.0.9:",
  ],
  [
    "return paths whose mail goes to another machine",
    { [`bounce.${mailHostname}`]: { MX: [[10, "mx.example.test"]] } },
    "bounces",
    `goes to mx.example.test, which is not MAIL_HOSTNAME ${mailHostname}`,
  ],
])("%s is a warning that says what to do", async (_, change, check, message) => {
  await service.database.run(sql`
    insert into sending_ips (workspace_id, id, ip, is_active, created_at)
    values (${service.workspaceId}, gen_random_uuid(), '127.0.0.9', true, now())`);
  const { of } = await examine({ change });
  await service.database.run(sql`delete from sending_ips`);
  expect(of(check)).toMatchObject({ status: "warning", message: expect.stringContaining(message) });
});

test.each<[string, DnsZone, Record<string, string>]>([
  [
    "bounces go to our address under another name",
    {
      [`bounce.${mailHostname}`]: { MX: [[10, "in.ours.test"]] },
      "in.ours.test": { A: ["127.0.0.2"] },
    },
    {},
  ],
  [
    "bounces are received elsewhere and not here",
    {
      [`bounce.${mailHostname}`]: { MX: [[10, "mx.example.test"]] },
    },
    { INBOUND_PORT: "" },
  ],
  [
    "a smart host sends, whose address is not ours to know",
    {
      [`spf.${mailHostname}`]: { TXT: ["v=spf1 include:smart.test -all"] },
    },
    { MAIL_MODE: "relay", RELAY_URL: "smtp://smart.test:9" },
  ],
])("names are in order where %s", async (_, change, env) => {
  const { of } = await examine({ change, env: () => env });
  expect([of("bounces")?.status, of("SPF")?.status]).toEqual(["ok", "ok"]);
});

test("a silent DNS is no fault of ours, and is said to be silent", async () => {
  const change: DnsZone = {
    [mailHostname]: "servfail",
    [`spf.${mailHostname}`]: "servfail",
    [`bounce.${mailHostname}`]: "servfail",
    "example.test": "servfail",
  };
  const { code, findings } = await examine({ change });
  const first = findings.findIndex(({ check }) => check === "DNS servers") + 1;
  expect(findings.slice(first, -1).map(({ status }) => status)).toEqual(Array(5).fill("not_checked"));
  expect(code).toBe(0);
});

test("without an inbound port a warning says what that means, and return paths still need a domain with an MX", async () => {
  const env = () => ({ INBOUND_PORT: "" });
  const { code, of } = await examine({ env });
  expect([of("inbound"), of("bounces"), code]).toMatchObject([
    { status: "warning", message: expect.stringContaining("INBOUND_PORT") },
    { status: "ok" },
    0,
  ]);
  const nowhere = await examine({ env, change: { [`bounce.${mailHostname}`]: "nxdomain" } });
  expect([nowhere.of("inbound")?.status, nowhere.of("bounces")?.status]).toEqual(["warning", "fault"]);
});
