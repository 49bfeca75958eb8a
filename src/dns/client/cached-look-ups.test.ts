import { beforeEach, expect, test } from "vitest";
import { createResolver } from "#dns/network-resolver.ts";
import { readDnsServer } from "#platform/dns-server-address.ts";
import { startFakeDns } from "#test/support/fake-dns.ts";
import { LookUps } from "./cached-look-ups.ts";
import type { Question } from "./question-and-reply.ts";

const dns = await startFakeDns();
let nowMs = 0;
const lookUps = new LookUps(() => nowMs);

beforeEach(() => {
  dns.ttlSeconds = 60;
  dns.questions.length = 0;
  // Everything that was known has passed.
  nowMs += 1_000_000_000;
});

const ask = (name: string, { isFresh = false, ...more }: Partial<Question & { isFresh: boolean }> = {}) =>
  lookUps.ask(
    {
      name,
      type: "A",
      servers: [readDnsServer(dns.address)],
      timeoutMs: 500,
      tries: 1,
      wantsDnssec: false,
      ...more,
    },
    isFresh,
  );
const asked = () => dns.questions.length;

test("an answer is cached for its TTL, whatever the case of the name", async () => {
  dns.zone = { "a.test": { A: ["192.0.2.1"] } };
  await ask("a.test");
  dns.zone["a.test"] = { A: ["192.0.2.2"] };
  nowMs += 59_000;
  expect(await ask("A.test")).toMatchObject({ records: ["192.0.2.1"] });
  expect(asked()).toBe(1);
  nowMs += 1_001;
  expect(await ask("a.test")).toMatchObject({ records: ["192.0.2.2"] });
  expect(asked()).toBe(2);
});

test("the smallest TTL of a chain of aliases is used, and a TTL of 0 is not cached", async () => {
  dns.ttlSeconds = 0;
  dns.zone = { "www.test": { CNAME: "a.test" }, "a.test": { A: ["192.0.2.1"] } };
  await ask("www.test");
  await ask("www.test");
  expect(asked()).toBe(2);
});

test.each([
  ["a name that does not exist", "gone.test", "nxdomain"],
  ["a name without such records", "empty.test", "nodata"],
])(
  "%s is known for the minimum of its zone, and for a quarter of an hour at most",
  async (_, name, reason) => {
    dns.zone = { "empty.test": {} };
    dns.ttlSeconds = 60;
    expect(await ask(name)).toMatchObject({ outcome: "absent", reason });
    nowMs += 59_000;
    await ask(name);
    expect(asked()).toBe(1);
    nowMs += 1_001;
    dns.ttlSeconds = 86_400;
    await ask(name);
    nowMs += 899_000;
    await ask(name);
    expect(asked()).toBe(2);
    nowMs += 1_001;
    await ask(name);
    expect(asked()).toBe(3);
  },
);

test("a failure is not cached", async () => {
  dns.zone = { "a.test": "timeout" };
  expect(await ask("a.test", { timeoutMs: 100 })).toMatchObject({ outcome: "failed", isUnanswered: true });
  dns.zone = { "a.test": { A: ["192.0.2.1"] } };
  expect(await ask("a.test")).toMatchObject({ outcome: "found" });
});

test("equal questions at the same time share one look-up", async () => {
  dns.zone = { "a.test": { A: ["192.0.2.1"] } };
  const replies = await Promise.all(Array.from({ length: 20 }, () => ask("a.test")));
  expect(replies).toEqual(replies.map(() => expect.objectContaining({ outcome: "found" })));
  expect(asked()).toBe(1);
});

test("questions with another type, or with DNSSEC, are not equal", async () => {
  dns.zone = { "a.test": { A: ["192.0.2.1"] } };
  await ask("a.test");
  expect(await ask("a.test", { type: "AAAA" })).toMatchObject({ outcome: "absent" });
  await ask("a.test", { wantsDnssec: true });
  expect(asked()).toBe(3);
});

test("a fresh look-up ignores the cache, and its answer is cached", async () => {
  dns.zone = { "a.test": { A: ["192.0.2.1"] } };
  await ask("a.test");
  dns.zone["a.test"] = { A: ["192.0.2.2"] };
  expect(await ask("a.test", { isFresh: true })).toMatchObject({ records: ["192.0.2.2"] });
  expect(await ask("a.test")).toMatchObject({ records: ["192.0.2.2"] });
  expect(asked()).toBe(2);
});

test("an answer of many kilobytes is returned and not cached", async () => {
  dns.zone = { "a.test": { TXT: Array.from({ length: 20 }, (_, at) => `${at} ${"x".repeat(200)}`) } };
  for (const _ of [1, 2]) expect(await ask("a.test", { type: "TXT" })).toMatchObject({ outcome: "found" });
  expect(asked()).toBeGreaterThan(1);
});

test("an internationalised name is asked as its A-label, without search domains", async () => {
  dns.zone = { "xn--bcher-kva.test": { A: ["192.0.2.1"] } };
  const resolver = createResolver({ servers: [dns.address], timeoutMs: 500, tries: 1 });
  expect(await resolver.ipv4("Bücher.test")).toEqual({ outcome: "found", records: ["192.0.2.1"] });
  expect(await resolver.ipv4("host")).toEqual({ outcome: "absent", reason: "nxdomain" });
  expect(dns.questions.map(({ name }) => name)).toEqual(["xn--bcher-kva.test", "host"]);
});
