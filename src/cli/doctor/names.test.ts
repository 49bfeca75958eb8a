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
  expect(findings.slice(5, -1).map(({ status }) => status)).toEqual(Array(5).fill("not_checked"));
  expect(code).toBe(0);
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
