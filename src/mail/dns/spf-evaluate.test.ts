import { afterAll, expect, test } from "vitest";
import { startFakeDns } from "#test/support/fake-dns.ts";
import { passesSpf } from "./spf-evaluate.ts";
import { parseSpfRecord } from "./spf-record.ts";

const dns = await startFakeDns({
  "ours.test": { A: ["192.0.2.10"], AAAA: ["2001:db8::10"], MX: [[10, "mx.ours.test"]] },
  "mx.ours.test": { A: ["192.0.2.20"] },
  "group.test": { TXT: ["v=spf1 ip4:192.0.2.10 -all"] },
  "broken.test": { TXT: ["v=spf1 ip4:192.0.2.10 -all", "v=spf1 -all"] },
  "circle.test": { TXT: ["v=spf1 include:circle.test -all"] },
  "silent.test": "servfail",
});
afterAll(() => dns.close());

const judge = (text: string, ip: string) => {
  const record = parseSpfRecord(text);
  if ("faulty" in record) throw new Error(record.faulty);
  return passesSpf(dns.resolver, { domain: "ours.test", record }, ip);
};

test.each<[string, string, boolean | null]>([
  ["v=spf1 ip4:192.0.2.10 -all", "192.0.2.10", true],
  ["v=spf1 ip4:192.0.2.10 -all", "192.0.2.11", false],
  ["v=spf1 ip4:192.0.2.0/28 -all", "192.0.2.15", true],
  ["v=spf1 ip4:192.0.2.0/28 -all", "192.0.2.16", false],
  ["v=spf1 ip4:0.0.0.0/0 -all", "2001:db8::10", false],
  ["v=spf1 ip6:2001:db8::/64 -all", "2001:db8:0:0:0::5", true],
  ["v=spf1 ip6:2001:db8::/64 -all", "2001:db8:0:1::5", false],
  ["v=spf1 a -all", "192.0.2.10", true],
  ["v=spf1 a -all", "2001:db8::10", true],
  ["v=spf1 a/24 -all", "192.0.2.99", true],
  ["v=spf1 a:nowhere.test -all", "192.0.2.10", false],
  ["v=spf1 mx -all", "192.0.2.20", true],
  ["v=spf1 mx -all", "192.0.2.10", false],
  ["v=spf1 include:group.test -all", "192.0.2.10", true],
  ["v=spf1 include:group.test -all", "192.0.2.20", false],
  ["v=spf1 redirect=group.test", "192.0.2.10", true],
  ["v=spf1 redirect=nowhere.test", "192.0.2.10", false],
  ["v=spf1 include:broken.test -all", "192.0.2.10", false],
  ["v=spf1 -ip4:192.0.2.10 +all", "192.0.2.10", false],
  ["v=spf1 ?all", "192.0.2.10", false],
  ["v=spf1", "192.0.2.10", false],
  ["v=spf1 +all", "192.0.2.10", true],
  ["v=spf1 ip4:192.0.2.10 a:silent.test -all", "192.0.2.10", true],
  ["v=spf1 a:silent.test -all", "192.0.2.10", null],
  ["v=spf1 include:silent.test -all", "192.0.2.10", null],
  ["v=spf1 exists:%{i}.allow.test -all", "192.0.2.10", null],
  ["v=spf1 include:circle.test -all", "192.0.2.10", null],
])("%s and %s: %s", async (text, ip, passes) => {
  expect(await judge(text, ip)).toBe(passes);
});
