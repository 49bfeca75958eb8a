import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type FakeDns, startFakeDns } from "#test/support/fake-dns.ts";
import { askAuthoritative } from "./authoritative-resolver.ts";
import { createResolver } from "./network-resolver.ts";

/** The local resolver and the domain's own server; the latter's port is asked instead of 53. */
let local: FakeDns;
let own: FakeDns;
beforeEach(async () => {
  own = await startFakeDns();
  local = await startFakeDns({
    "example.test": { NS: ["ns1.example.test"], TXT: ["stale"] },
    "ns1.example.test": { A: ["127.0.0.1"] },
  });
});
afterEach(() => Promise.all([local.close(), own.close()]));

const localResolver = () => createResolver({ servers: [local.address], timeoutMs: 5_000, tries: 1 });
const resolver = (options: { servers?: string[]; mayAsk?: (address: string) => boolean } = {}) =>
  askAuthoritative(localResolver(), "example.test", {
    timeoutMs: 300,
    servers: [],
    port: Number(own.address.split(":")[1]),
    mayAsk: () => true,
    ...options,
  });
const found = (...records: unknown[]) => ({ outcome: "found", records });

describe("the domain's own name servers", () => {
  test("their records are used, not those of a cache", async () => {
    own.zone = { "example.test": { TXT: ["fresh"] } };
    expect(await resolver().txt("Example.test")).toEqual(found("fresh"));
  });

  test("answers of an earlier check are not used, whatever their TTL", async () => {
    own.ttlSeconds = 3_600;
    expect(await resolver().txt("example.test")).toMatchObject({ outcome: "absent" });
    own.zone = { "example.test": { TXT: ["fresh"] } };
    expect(await resolver().txt("example.test")).toEqual(found("fresh"));
  });

  test("their negative answers are used, too", async () => {
    own.zone = { "example.test": { A: ["192.0.2.1"] } };
    expect(await resolver().txt("example.test")).toEqual({ outcome: "absent", reason: "nodata" });
    expect(await resolver().txt("gone.example.test")).toEqual({ outcome: "absent", reason: "nxdomain" });
  });

  test("a name below the domain is looked up in its own zone", async () => {
    const delegated = await startFakeDns({ "ph1._domainkey.example.test": { TXT: ["delegated"] } });
    local.zone["_domainkey.example.test"] = { NS: ["ns.keys.test"] };
    local.zone["ns.keys.test"] = { A: ["127.0.0.1"] };
    own.zone = { "deep.example.test": { TXT: ["own"] } };
    const ask = (server: FakeDns) =>
      askAuthoritative(localResolver(), "example.test", {
        timeoutMs: 300,
        servers: [],
        port: Number(server.address.split(":")[1]),
        mayAsk: () => true,
      });
    expect(await ask(delegated).txt("ph1._domainkey.example.test")).toEqual(found("delegated"));
    expect(await ask(own).txt("deep.example.test")).toEqual(found("own"));
    await delegated.close();
  });

  test("a zone's servers are looked up once", async () => {
    own.zone = { "example.test": { TXT: ["fresh"] } };
    const ask = resolver();
    await Promise.all([ask.txt("example.test"), ask.mx("example.test"), ask.txt("_dmarc.example.test")]);
    const nsQuestions = local.questions.filter((question) => question.type === "NS");
    expect(nsQuestions.map((question) => question.name).sort()).toEqual([
      "_dmarc.example.test",
      "example.test",
    ]);
  });
});

test("only a few of a hundred name servers of a zone are looked up", async () => {
  own.zone = { "example.test": { TXT: ["fresh"] } };
  local.zone["example.test"] = { NS: Array.from({ length: 100 }, (_, n) => `ns${n}.example.test`) };
  local.zone["*.example.test"] = { A: ["127.0.0.1"] };
  expect(await resolver().txt("example.test")).toEqual(found("fresh"));
  expect(local.questions.filter(({ type }) => type === "A")).toHaveLength(4);
});

describe("the local resolver", () => {
  test("is asked about other domains", async () => {
    local.zone["spf.platform.test"] = { TXT: ["v=spf1 -all"] };
    expect(await resolver().txt("spf.platform.test")).toEqual(found("v=spf1 -all"));
    expect(own.questions).toEqual([]);
  });

  test("is asked if an alias points out of the zone", async () => {
    own.zone = { "key.example.test": { CNAME: "key.host.test" } };
    local.zone["key.example.test"] = { CNAME: "key.host.test" };
    local.zone["key.host.test"] = { TXT: ["hosted"] };
    expect(await resolver().txt("key.example.test")).toEqual(found("hosted"));
    expect(await resolver().cname("key.example.test")).toEqual(found("key.host.test"));
  });

  test.each(["servfail", "refuse", "timeout"] as const)(
    "is asked when the servers answer with %s",
    async (fault) => {
      own.zone = { "example.test": fault };
      expect(await resolver().txt("example.test")).toEqual(found("stale"));
    },
  );

  test("is asked if no name server is found or none has an address", async () => {
    own.zone = { "example.test": { TXT: ["fresh"] } };
    local.zone["example.test"] = { TXT: ["stale"] };
    expect(await resolver().txt("example.test")).toEqual(found("stale"));
    local.zone["example.test"] = { TXT: ["stale"], NS: ["gone.example.test"] };
    expect(await resolver().txt("example.test")).toEqual(found("stale"));
    local.zone["example.test"] = { TXT: ["stale"], NS: "servfail" };
    expect(await resolver().txt("example.test")).toEqual(found("stale"));
  });

  test("is asked instead of name servers on private or loopback addresses", async () => {
    own.zone = { "example.test": { TXT: ["inside"] } };
    const careful = askAuthoritative(localResolver(), "example.test", {
      timeoutMs: 300,
      servers: [],
      port: Number(own.address.split(":")[1]),
    });
    expect(await careful.txt("example.test")).toEqual(found("stale"));
    expect(own.questions).toEqual([]);
  });

  test("is the only one if DNS_SERVERS is set", async () => {
    expect(await resolver({ servers: [local.address] }).txt("example.test")).toEqual(found("stale"));
    expect(own.questions).toEqual([]);
    expect(local.questions).toEqual([{ name: "example.test", type: "TXT" }]);
  });

  test("if both fail, the look-up fails", async () => {
    own.zone = { "example.test": "servfail" };
    local.zone["example.test"] = { NS: ["ns1.example.test"], TXT: "servfail" };
    expect(await resolver().txt("example.test")).toMatchObject({ outcome: "failed" });
  });
});
