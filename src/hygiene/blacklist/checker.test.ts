import { afterAll, beforeEach, expect, test } from "vitest";
import { createResolver } from "#dns/network-resolver.ts";
import { dnsblName } from "#mail/dns/dnsbl.ts";
import { stubClock } from "#test/support/clock.ts";
import { type DnsZone, startFakeDns } from "#test/support/fake-dns.ts";
import { createChecker } from "./checker.ts";
import { readTarget } from "./target.ts";
import { readZones } from "./zones.ts";

const IP = "8.4.2.1";
const zoneMs = 3_000;

const dns = await startFakeDns();
afterAll(() => dns.close());
const resolver = createResolver({ servers: [dns.address], timeoutMs: zoneMs - 100, tries: 1 });
const clock = stubClock();
// The first look-up starts the DNS thread, which would take part of the short deadlines here.
await resolver.txt("begin.example");

beforeEach(() => {
  dns.questions.length = 0;
});

/** The test points of a working zone. */
const works = (zone: string): DnsZone => ({
  [dnsblName("127.0.0.2", zone)]: { A: ["127.0.0.2"] },
  [dnsblName("test", zone)]: { A: ["127.0.0.2"] },
});

interface Given {
  readonly zones: readonly object[];
  readonly dns: DnsZone;
  readonly keptMs?: number;
  readonly checkMs?: number;
  readonly zonesAtOnce?: number;
}

/** Zones given by name only list every kind of target. */
function checkerOf({ zones, dns: records, keptMs = 300_000, checkMs = 7_000, zonesAtOnce = 20 }: Given) {
  dns.zone = records;
  const all = zones.map((zone) => ({ types: ["ip4", "ip6", "domain"], description: "A list", ...zone }));
  const checker = createChecker({
    resolver,
    zones: readZones({ replace: true, zones: all }),
    clock,
    keptMs,
    pace: { zoneMs, checkMs, zonesAtOnce },
  });
  return (target = IP) => checker.check(readTarget(target));
}

/** Statuses by zone. */
const statusesOf = ({ results }: Awaited<ReturnType<ReturnType<typeof checkerOf>>>) =>
  Object.fromEntries(results.map(({ zone, status }) => [zone, status]));

test("each answer gives its status, and listed zones come first", async () => {
  const codes: Record<string, DnsZone[string]> = {
    "z-listed.example": { A: ["127.0.0.3"], TXT: ["Seen in\nspam"] },
    "a-clean.example": "nxdomain",
    "refused.example": "refuse",
    "servfail.example": "servfail",
    "silent.example": "timeout",
    "public.example": { A: ["127.255.255.254"] },
    "rewritten.example": { A: ["203.0.113.9"] },
  };
  const check = checkerOf({
    zones: [
      ...Object.keys(codes).map((name) => ({ name, delisting: "https://list.example/?{target}" })),
      { name: "off.example", enabled: false },
      { name: "domains.example", types: ["domain"] },
    ],
    dns: Object.assign(
      {},
      ...Object.entries(codes).map(([zone, answer]) => ({ ...works(zone), [dnsblName(IP, zone)]: answer })),
    ),
  });
  const checked = await check();
  expect(checked).toMatchObject({ target: IP, target_type: "ip", total_checked: 7, listed_count: 1 });
  expect(checked.results.map(({ zone, status }) => [zone, status])).toEqual([
    ["z-listed.example", "listed"],
    ["a-clean.example", "not_listed"],
    ["domains.example", "skipped"],
    ["off.example", "skipped"],
    ["public.example", "error"],
    ["refused.example", "error"],
    ["rewritten.example", "error"],
    ["servfail.example", "error"],
    ["silent.example", "timeout"],
  ]);
  expect(checked.results[0]).toEqual({
    zone: "z-listed.example",
    status: "listed",
    description: "Listed (127.0.0.3) – Seen in spam",
    delisting_info: `https://list.example/?${IP}`,
  });
  expect(checked.results[1]).toMatchObject({ description: "A list", delisting_info: null });
});

test("an IPv6 address is queried by nibbles and a domain by its name, however it was typed", async () => {
  const name = "bl.example";
  const check = checkerOf({
    zones: [{ name }],
    dns: {
      ...works(name),
      [`5.e.4.8.0.1.8.6.${"0.".repeat(16)}0.0.7.4.6.0.6.2.${name}`]: { A: ["127.0.0.2"] },
      [`xn--bse-sna.example.${name}`]: { A: ["127.0.0.2"] },
    },
  });
  expect(await check(" 2606:4700:0:0:0:0:6810:84E5 ")).toMatchObject({
    target: "2606:4700::6810:84e5",
    target_type: "ip",
    listed_count: 1,
  });
  expect(await check("BÖSE.example.")).toMatchObject({
    target: "xn--bse-sna.example",
    target_type: "domain",
    listed_count: 1,
  });
});

test("a zone that fails its self-test is skipped; one whose test gets no answer is not reported clean", async () => {
  const listing = (zone: string) => ({ [dnsblName(IP, zone)]: { A: ["127.0.0.2"] } });
  const check = checkerOf({
    zones: ["dead", "wild", "parked", "silent", "broken", "refusing", "alive"].map((name) => ({
      name: `${name}.example`,
    })),
    dns: {
      ...listing("dead.example"),
      "*.wild.example": { A: ["127.0.0.2"] },
      "*.parked.example": { A: ["203.0.113.9"] },
      "*.silent.example": "timeout",
      "*.broken.example": "servfail",
      "*.refusing.example": { A: ["127.255.255.255"] },
      ...works("alive.example"),
    },
  });
  const checked = await check();
  expect(statusesOf(checked)).toEqual({
    "alive.example": "not_listed",
    "broken.example": "error",
    "dead.example": "skipped",
    "parked.example": "skipped",
    "refusing.example": "error",
    "silent.example": "timeout",
    "wild.example": "skipped",
  });
  expect(checked.results.find(({ zone }) => zone === "dead.example")?.description).toContain("self-test");
});

test("a self-test is cached for half an hour, and shared by concurrent checks", async () => {
  const name = "bl.example";
  const check = checkerOf({ zones: [{ name }], dns: works(name) });
  const tests = () => dns.questions.filter((asked) => asked.name === dnsblName("127.0.0.2", name)).length;
  await Promise.all(Array.from({ length: 10 }, () => check()));
  clock.advance(29 * 60_000);
  await check();
  expect(tests()).toBe(1);
  dns.zone = {};
  clock.advance(2 * 60_000);
  expect(statusesOf(await check())).toEqual({ [name]: "skipped" });
  expect(tests()).toBe(2);
});

test("a self-test without an answer is repeated after a minute", async () => {
  const name = "bl.example";
  const check = checkerOf({ zones: [{ name }], dns: { [`*.${name}`]: "timeout" } });
  expect(statusesOf(await check())).toEqual({ [name]: "timeout" });
  dns.zone = works(name);
  expect(statusesOf(await check())).toEqual({ [name]: "timeout" });
  clock.advance(60_000);
  expect(statusesOf(await check())).toEqual({ [name]: "not_listed" });
});

test("a zone's own test points replace those of the RFC, and a zone without any is not tested", async () => {
  const check = checkerOf({
    zones: [
      { name: "own.example", self_test: { listed: ["test", "sample.example"], clean: "invalid" } },
      { name: "plain.example", self_test: null },
    ],
    dns: { "sample.example.own.example": { A: ["127.0.0.2"] } },
  });
  expect(statusesOf(await check("bad.example"))).toEqual({
    "own.example": "not_listed",
    "plain.example": "not_listed",
  });
});

test("an answer is cached for five minutes; a missing answer is not", async () => {
  const name = "bl.example";
  const asked = dnsblName(IP, name);
  const check = checkerOf({ zones: [{ name }], dns: { ...works(name), [asked]: "timeout" } });
  expect(statusesOf(await check())).toEqual({ [name]: "timeout" });
  dns.zone = works(name);
  expect(statusesOf(await check())).toEqual({ [name]: "not_listed" });
  dns.zone = { ...works(name), [asked]: { A: ["127.0.0.2"] } };
  clock.advance(299_000);
  expect(statusesOf(await check())).toEqual({ [name]: "not_listed" });
  clock.advance(1_000);
  expect(statusesOf(await check())).toEqual({ [name]: "listed" });
});

test("a listing whose reason does not arrive in time is a listing", async () => {
  const name = "bl.example";
  const check = checkerOf({
    zones: [{ name }],
    dns: { ...works(name), [dnsblName(IP, name)]: { A: ["127.0.0.2"], TXT: "timeout" } },
  });
  expect((await check()).results).toMatchObject([{ status: "listed", description: "Listed (127.0.0.2)" }]);
});

test("a check ends in time whatever the zones do", async () => {
  const names = Array.from({ length: 100 }, (_, at) => `z${at}.example`);
  const check = checkerOf({
    zones: names.map((name) => ({ name, self_test: null })),
    dns: { "*.example": "timeout" },
    checkMs: 600,
    zonesAtOnce: 10,
  });
  const checked = await check();
  // The time ends before all zones are asked.
  expect(new Set(dns.questions.map(({ name }) => name)).size).toBeLessThan(names.length);
  expect(new Set(checked.results.map(({ status }) => status))).toEqual(new Set(["timeout"]));
  expect(checked.results).toHaveLength(100);
});
