import { expect, test } from "vitest";
import { mailHostname, openExaminations } from "../../../test/support/examination.ts";
import type { DnsZone } from "../../../test/support/fake-dns.ts";
import { startService } from "../../../test/support/service.ts";

const examine = await openExaminations(await startService());

test.each<[string, DnsZone, string, string]>([
  ["no SPF record", { [`spf.${mailHostname}`]: { TXT: ["hello"] } }, "SPF", "has no SPF record"],
  [
    "return paths without a mail host",
    { [`bounce.${mailHostname}`]: "nxdomain" },
    "bounces",
    "Nobody takes mail to",
  ],
  [
    "return paths whose mail host has no address",
    { [`bounce.${mailHostname}`]: { MX: [[10, "gone.ours.test"]] } },
    "bounces",
    "Nobody takes mail to",
  ],
  [
    "an SPF record with a slip",
    { [`spf.${mailHostname}`]: { TXT: ["v=spf1 ipv4:127.0.0.1 -all"] } },
    "SPF",
    "is invalid (ipv4:127.0.0.1)",
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

test("a silent DNS is no fault of ours, and is said to be silent", async () => {
  const change: DnsZone = {
    [mailHostname]: "servfail",
    [`spf.${mailHostname}`]: "servfail",
    [`bounce.${mailHostname}`]: "servfail",
    "example.test": "servfail",
  };
  const { code, findings } = await examine({ change });
  expect(findings.slice(6, -1).map(({ status }) => status)).toEqual(Array(5).fill("not_checked"));
  expect(code).toBe(0);
});

test("where nothing is received, a warning says what that means, and return paths need a domain all the same", async () => {
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
