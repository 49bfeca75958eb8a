import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Resolver } from "#dns/resolver-interface.ts";
import { type DnsZone, type FakeDns, startFakeDns } from "#test/support/fake-dns.ts";
import { findMailHosts, type MailHostOptions, siteName } from "./mx.ts";

let dns: FakeDns;
beforeAll(async () => {
  dns = await startFakeDns();
});
afterAll(() => dns.close());
beforeEach(() => {
  dns.zone = {};
  dns.questions.length = 0;
});

const find = (domain: string, options: Partial<MailHostOptions> = {}) =>
  findMailHosts(dns.resolver, domain, { allowPrivate: false, ...options });
const namesOf = (answer: Awaited<ReturnType<typeof find>>) =>
  answer.outcome === "found" ? answer.hosts.map(({ name }) => name) : answer;

describe("the order of hosts", () => {
  test("hosts are ordered by preference, each with its addresses, IPv4 first", async () => {
    dns.zone = {
      "a.test": {
        MX: [
          [20, "two.test"],
          [10, "one.test"],
        ],
      },
      "one.test": { A: ["8.8.8.8", "8.8.4.4"], AAAA: ["2606:4700:4700::1111"] },
      "two.test": { AAAA: ["2606:4700:4700::1001"] },
    };
    expect(await find("a.test")).toEqual({
      outcome: "found",
      hosts: [
        { name: "one.test", addresses: ["8.8.8.8", "8.8.4.4", "2606:4700:4700::1111"] },
        { name: "two.test", addresses: ["2606:4700:4700::1001"] },
      ],
    });
  });

  test("hosts of equal preference are shuffled, but never before a better one", async () => {
    dns.zone = {
      "a.test": {
        MX: [
          [10, "one.test"],
          [20, "two.test"],
          [20, "three.test"],
        ],
      },
      "*.test": { A: ["8.8.8.8"] },
    };
    const draw = (lots: number[]) => find("a.test", { random: () => lots.shift() ?? 0 });
    expect(namesOf(await draw([0.9, 0.1, 0.5]))).toEqual(["one.test", "three.test", "two.test"]);
    expect(namesOf(await draw([0.9, 0.5, 0.1]))).toEqual(["one.test", "two.test", "three.test"]);
  });

  test("an MX that is a CNAME is followed, and a host listed twice is tried once", async () => {
    dns.zone = {
      "a.test": {
        MX: [
          [20, "alias.test"],
          [10, "alias.test"],
        ],
      },
      "alias.test": { CNAME: "real.test" },
      "real.test": { A: ["8.8.8.8"] },
    };
    expect(await find("a.test")).toMatchObject({ hosts: [{ name: "alias.test", addresses: ["8.8.8.8"] }] });
  });

  test("a host without addresses or with a broken zone is skipped", async () => {
    dns.zone = {
      "a.test": {
        MX: [
          [10, "gone.test"],
          [20, "broken.test"],
          [30, "here.test"],
        ],
      },
      "broken.test": "servfail",
      "here.test": { A: ["8.8.8.8"], AAAA: "servfail" },
    };
    expect(namesOf(await find("a.test"))).toEqual(["here.test"]);
  });

  test("of a hundred hosts the same ten are looked up each time, and thirty addresses kept", async () => {
    const list = Array.from({ length: 100 }, (_, index): [number, string] => [10, `mx${index + 100}.test`]);
    dns.zone = { "a.test": { MX: list }, "*.test": { A: ["8.8.8.1", "8.8.8.2", "8.8.8.3", "8.8.8.4"] } };
    const [one, two] = await Promise.all([find("a.test"), find("a.test")]);
    if (one.outcome !== "found" || two.outcome !== "found") throw new Error("not found");
    expect(one.hosts.flatMap(({ addresses }) => addresses)).toHaveLength(30);
    expect(new Set(dns.questions.filter(({ type }) => type === "A").map(({ name }) => name)).size).toBe(10);
  });

  test("one slow zone delays the result no longer than the deadline", async () => {
    dns.zone = {
      "a.test": {
        MX: [
          [10, "mute.test"],
          [20, "here.test"],
        ],
      },
      "here.test": { A: ["8.8.8.8"] },
    };
    const patient: Resolver = {
      ...dns.resolver,
      ipv4: (name) => (name === "mute.test" ? new Promise(() => {}) : dns.resolver.ipv4(name)),
    };
    const answer = await findMailHosts(patient, "a.test", { allowPrivate: false, deadlineMs: 200 });
    expect(namesOf(answer)).toEqual(["here.test"]);
  });
});

describe("domains that accept no mail", () => {
  test("without MX the domain itself is the host", async () => {
    dns.zone = { "a.test": { A: ["8.8.8.8"] } };
    expect(await find("a.test")).toEqual({
      outcome: "found",
      hosts: [{ name: "a.test", addresses: ["8.8.8.8"] }],
    });
  });

  test("a null MX bounces with 5.1.10 without an address look-up", async () => {
    dns.zone = { "a.test": { MX: [[0, "."]], A: ["8.8.8.8"] } };
    expect(await find("a.test")).toMatchObject({
      outcome: "unroutable",
      status: "bounced",
      enhanced: "5.1.10",
    });
    expect(dns.questions.map(({ type }) => type)).toEqual(["MX"]);
  });

  test("a null MX beside a real MX is ignored", async () => {
    dns.zone = {
      "a.test": {
        MX: [
          [0, "."],
          [10, "mx.test"],
        ],
      },
      "mx.test": { A: ["8.8.8.8"] },
    };
    expect(namesOf(await find("a.test"))).toEqual(["mx.test"]);
  });

  test("a domain that does not exist bounces with 5.1.2 after two look-ups", async () => {
    dns.zone = { "other.test": { A: ["8.8.8.8"] } };
    expect(await find("a.example")).toMatchObject({ status: "bounced", enhanced: "5.1.2" });
    expect(dns.questions).toEqual([
      { name: "a.example", type: "MX" },
      { name: "a.example", type: "MX" },
    ]);
  });

  test("the second look-up goes to the server although the denial is cached", async () => {
    dns.ttlSeconds = 60;
    const zone: DnsZone = { "new.example": { MX: [[10, "mx.test"]] }, "mx.test": { A: ["8.8.8.8"] } };
    expect(await find("new.example")).toMatchObject({ status: "bounced" });
    dns.zone = zone;
    expect(namesOf(await find("new.example"))).toEqual(["mx.test"]);
    dns.ttlSeconds = 0;
  });

  test("a domain that the second look-up finds does not bounce", async () => {
    dns.zone = { "a.test": { MX: [[10, "mx.test"]] }, "mx.test": { A: ["8.8.8.8"] } };
    let denials = 1;
    const wavering: Resolver = {
      ...dns.resolver,
      mx: async (name) => (denials-- > 0 ? { outcome: "absent", reason: "nxdomain" } : dns.resolver.mx(name)),
    };
    expect(namesOf(await findMailHosts(wavering, "a.test", { allowPrivate: false }))).toEqual(["mx.test"]);
  });

  test("a domain with neither MX nor address bounces", async () => {
    dns.zone = { "a.test": { TXT: ["hello"] } };
    expect(await find("a.test")).toMatchObject({ status: "bounced", enhanced: "5.1.2" });
  });

  test("MX hosts without addresses defer: the zone is at fault, not the recipient's address", async () => {
    dns.zone = { "a.test": { MX: [[10, "gone.example"]] } };
    expect(await find("a.test")).toMatchObject({ status: "deferred", enhanced: "4.4.4" });
  });
});

describe("a DNS failure defers and never bounces", () => {
  test.each(["servfail", "refuse", "timeout"] as const)("%s for the MX", async (fault) => {
    dns.zone = { "a.test": { MX: fault, A: ["8.8.8.8"] } };
    expect(await find("a.test")).toMatchObject({ status: "deferred", enhanced: "4.4.3" });
  });

  test.each(["servfail", "refuse", "timeout"] as const)("%s for the only host's addresses", async (fault) => {
    dns.zone = { "a.test": { MX: [[10, "mx.test"]] }, "mx.test": { A: fault, AAAA: fault } };
    expect(await find("a.test")).toMatchObject({ status: "deferred", enhanced: "4.4.3" });
  });

  test("an unanswered look-up is told from a SERVFAIL answer", async () => {
    dns.zone = {
      "mute.test": "timeout",
      "fail.test": "servfail",
      "half.test": { A: "servfail", AAAA: "timeout" },
    };
    expect(await find("mute.test")).toMatchObject({ status: "deferred", isUnanswered: true });
    expect(await find("half.test")).toMatchObject({ status: "deferred", isUnanswered: true });
    expect(await find("fail.test")).not.toHaveProperty("isUnanswered");
  });

  test("for one of the two addresses of the domain itself", async () => {
    dns.zone = { "a.test": { AAAA: "servfail" } };
    expect(await find("a.test")).toMatchObject({ status: "deferred", enhanced: "4.4.3" });
  });
});

describe("addresses that must not be used", () => {
  test.each([
    ["127.0.0.1"],
    ["10.1.2.3"],
    ["169.254.169.254"],
    ["100.64.0.1"],
    ["0.0.0.0"],
    ["224.0.0.1"],
    ["::1"],
    ["fe80::1"],
    ["::ffff:127.0.0.1"],
  ])("a host at %s fails as unroutable, unless private hosts are allowed", async (address) => {
    const records = address.includes(":") ? { AAAA: [address] } : { A: [address] };
    dns.zone = { "a.test": { MX: [[10, "mx.test"]] }, "mx.test": records };
    expect(await find("a.test")).toMatchObject({
      status: "failed",
      enhanced: "5.4.4",
      reason: expect.stringMatching(/no public mail host/),
    });
    expect(namesOf(await find("a.test", { allowPrivate: true }))).toEqual(["mx.test"]);
  });

  test("a domain without MX on a private address is refused as well", async () => {
    dns.zone = { "a.test": { A: ["127.0.0.1"] } };
    expect(await find("a.test")).toMatchObject({ status: "failed", enhanced: "5.4.4" });
  });

  test("public addresses beside private ones are used alone", async () => {
    dns.zone = {
      "a.test": {
        MX: [
          [10, "inner.test"],
          [20, "mx.test"],
        ],
      },
      "inner.test": { A: ["10.0.0.1"] },
      "mx.test": { A: ["192.168.0.1", "8.8.8.8"] },
    };
    expect(await find("a.test")).toEqual({
      outcome: "found",
      hosts: [{ name: "mx.test", addresses: ["8.8.8.8"] }],
    });
  });

  test("an MX that is an IP literal is refused, public or not", async () => {
    dns.zone = { "a.test": { MX: [[10, "8.8.8.8"]] } };
    expect(await find("a.test")).toMatchObject({ status: "failed", enhanced: "5.4.4" });
    expect(await find("a.test", { allowPrivate: true })).toMatchObject({
      hosts: [{ addresses: ["8.8.8.8"] }],
    });
  });
});

test("a site has one name, whatever the order of its hosts", () => {
  expect(siteName(["b.test", "a.test", "b.test"])).toBe("a.test,b.test");
  expect(siteName(["a.test", "b.test"])).toBe("a.test,b.test");
});
