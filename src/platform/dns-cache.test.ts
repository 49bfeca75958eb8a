import { afterEach, beforeEach, expect, test } from "vitest";
import { type FakeDns, startFakeDns } from "../../test/support/fake-dns.ts";
import { createResolver } from "./dns.ts";
import { cacheAnswers } from "./dns-cache.ts";

let dns: FakeDns;
let now: number;
beforeEach(async () => {
  dns = await startFakeDns();
  now = 0;
});
afterEach(() => dns.close());

const cache = (entries = 100) =>
  cacheAnswers(
    createResolver({ servers: [dns.address], timeoutMs: 5_000, tries: 1 }),
    { entries, positiveSeconds: 300, negativeSeconds: 30 },
    { now: () => new Date(now) },
  );
const found = (...records: unknown[]) => ({ outcome: "found", records });

test("found records are asked for once in their life, whatever the case of the name", async () => {
  dns.zone = { "example.test": { A: ["192.0.2.1"] } };
  const resolver = cache();
  await resolver.ipv4("example.test");
  dns.zone = { "example.test": { A: ["192.0.2.2"] } };
  now = 299_999;
  expect(await resolver.ipv4("Example.Test")).toEqual(found("192.0.2.1"));
  now = 300_000;
  expect(await resolver.ipv4("example.test")).toEqual(found("192.0.2.2"));
  expect(dns.questions).toHaveLength(2);
});

test("an absence has a shorter life", async () => {
  const resolver = cache();
  expect(await resolver.txt("example.test")).toEqual({ outcome: "absent", reason: "nxdomain" });
  dns.zone = { "example.test": { TXT: ["here"] } };
  now = 29_999;
  expect(await resolver.txt("example.test")).toEqual({ outcome: "absent", reason: "nxdomain" });
  now = 30_000;
  expect(await resolver.txt("example.test")).toEqual(found("here"));
});

test("a failure is forgotten at once", async () => {
  dns.zone = { "example.test": "servfail" };
  const resolver = cache();
  expect(await resolver.mx("example.test")).toMatchObject({ outcome: "failed" });
  dns.zone = { "example.test": { MX: [[10, "mx.example.test"]] } };
  expect(await resolver.mx("example.test")).toMatchObject({ outcome: "found" });
});

test("questions asked at the same time go to the server once", async () => {
  dns.zone = { "example.test": { A: ["192.0.2.1"], AAAA: ["2001:db8::1"] } };
  const resolver = cache();
  const answers = await Promise.all(Array.from({ length: 50 }, () => resolver.ipv4("example.test")));
  expect(answers).toEqual(Array.from({ length: 50 }, () => found("192.0.2.1")));
  expect(dns.questions).toHaveLength(1);
  await resolver.ipv6("example.test");
  expect(dns.questions).toHaveLength(2);
});

test("the answer not used for longest makes room", async () => {
  dns.zone = { "*.test": { A: ["192.0.2.1"] } };
  const resolver = cache(2);
  for (const name of ["a.test", "b.test", "a.test", "c.test"]) await resolver.ipv4(name);
  dns.questions.length = 0;
  for (const name of ["a.test", "c.test", "b.test"]) await resolver.ipv4(name);
  expect(dns.questions.map((question) => question.name)).toEqual(["b.test"]);
});
