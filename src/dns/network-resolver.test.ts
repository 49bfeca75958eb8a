import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type FakeDns, startFakeDns } from "#test/support/fake-dns.ts";
import { createResolver } from "./network-resolver.ts";

let dns: FakeDns;
beforeEach(async () => {
  dns = await startFakeDns();
});
afterEach(() => dns.close());

const resolver = (timeoutMs = 5_000) => createResolver({ servers: [dns.address], timeoutMs, tries: 2 });
const found = (...records: unknown[]) => ({ outcome: "found", records });

describe("records", () => {
  test("every type is read, host names in lower case without the trailing dot", async () => {
    dns.zone = {
      "example.test": {
        A: ["192.0.2.1", "192.0.2.2"],
        AAAA: ["2001:db8::1"],
        MX: [
          [20, "MX2.Example.test"],
          [10, "mx1.example.test"],
        ],
        TXT: ["one", "two"],
        NS: ["NS1.example.test"],
      },
      "www.example.test": { CNAME: "Example.test" },
    };
    const ask = resolver();
    expect(await ask.ipv4("example.test")).toEqual(found("192.0.2.1", "192.0.2.2"));
    expect(await ask.ipv6("example.test")).toEqual(found("2001:db8::1"));
    expect(await ask.mx("example.test")).toEqual(
      found(
        { preference: 20, exchange: "mx2.example.test" },
        { preference: 10, exchange: "mx1.example.test" },
      ),
    );
    expect(await ask.txt("example.test")).toEqual(found("one", "two"));
    expect(await ask.ns("example.test")).toEqual(found("ns1.example.test"));
    expect(await ask.cname("www.example.test")).toEqual(found("example.test"));
  });

  test("an alias is followed to its records", async () => {
    dns.zone = {
      "key.example.test": { CNAME: "key.host.test" },
      "key.host.test": { CNAME: "real.host.test" },
      "real.host.test": { TXT: ["v=DKIM1; p=abc"] },
    };
    expect(await resolver().txt("key.example.test")).toEqual(found("v=DKIM1; p=abc"));
  });

  test("the null MX has an empty exchange", async () => {
    dns.zone = { "nomail.test": { MX: [[0, "."]] } };
    expect(await resolver().mx("nomail.test")).toEqual(found({ preference: 0, exchange: "" }));
  });

  test("the character strings of a TXT record are joined, also if it needs TCP", async () => {
    const long = "0123456789abcdef".repeat(300);
    dns.zone = { "key.test": { TXT: [long] } };
    expect(await resolver().txt("key.test")).toEqual(found(long));
  });
});

describe("absence", () => {
  test("no such name is nxdomain, a name without the type is nodata", async () => {
    dns.zone = { "deep.example.test": { A: ["192.0.2.1"] } };
    const ask = resolver();
    expect(await ask.txt("nowhere.test")).toEqual({ outcome: "absent", reason: "nxdomain" });
    expect(await ask.mx("deep.example.test")).toEqual({ outcome: "absent", reason: "nodata" });
    expect(await ask.mx("example.test")).toEqual({ outcome: "absent", reason: "nodata" });
  });

  test("an alias without a target is nxdomain", async () => {
    dns.zone = { "www.example.test": { CNAME: "gone.test" } };
    expect(await resolver().ipv4("www.example.test")).toEqual({ outcome: "absent", reason: "nxdomain" });
  });
});

describe("failure", () => {
  test.each(["servfail", "refuse"] as const)("%s is a failure, not an absence", async (fault) => {
    dns.zone = { "broken.test": fault };
    expect(await resolver().mx("broken.test")).toMatchObject({ outcome: "failed" });
  });

  test("a look-up without an answer ends at the deadline", async () => {
    dns.zone = { "silent.test": "timeout" };
    const started = performance.now();
    expect(await resolver(300).ipv4("silent.test")).toEqual({
      outcome: "failed",
      reason: "ETIMEOUT",
      isUnanswered: true,
    });
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  test("a loop of aliases is a failure", async () => {
    dns.zone = { "a.test": { CNAME: "b.test" }, "b.test": { CNAME: "a.test" } };
    expect(await resolver().ipv4("a.test")).toMatchObject({ outcome: "failed" });
  });

  test("an invalid name is a failure, not an exception", async () => {
    expect(await resolver().ipv4(`${"a".repeat(64)}.test`)).toMatchObject({ outcome: "failed" });
    expect(await resolver().ipv4("a..test")).toMatchObject({ outcome: "failed" });
  });

  test("one type may fail while another is answered", async () => {
    dns.zone = { "half.test": { A: ["192.0.2.1"], MX: "servfail" } };
    const ask = resolver();
    expect(await ask.mx("half.test")).toMatchObject({ outcome: "failed" });
    expect(await ask.ipv4("half.test")).toEqual(found("192.0.2.1"));
  });

  test("a second server is asked if the first does not answer", async () => {
    const dead = await startFakeDns({ "example.test": "timeout" });
    dns.zone = { "example.test": { A: ["192.0.2.1"] } };
    const both = createResolver({ servers: [dead.address, dns.address], timeoutMs: 3_000, tries: 3 });
    expect(await both.ipv4("example.test")).toEqual(found("192.0.2.1"));
    await dead.close();
  });
});

describe("the server of the tests", () => {
  test("a change of the zone is seen by the next question, and questions are recorded", async () => {
    const ask = resolver();
    dns.zone = { "example.test": { TXT: ["before"] } };
    expect(await ask.txt("example.test")).toEqual(found("before"));
    dns.zone["example.test"] = { TXT: ["after"] };
    expect(await ask.txt("Example.TEST")).toEqual(found("after"));
    expect(dns.questions).toEqual([
      { name: "example.test", type: "TXT" },
      { name: "example.test", type: "TXT" },
    ]);
  });

  test("a wildcard answers for the names below it that are not in the zone", async () => {
    dns.zone = {
      "*.many.test": { A: ["192.0.2.9"] },
      "own.many.test": { TXT: ["mine"] },
    };
    const ask = resolver();
    expect(await ask.ipv4("a.many.test")).toEqual(found("192.0.2.9"));
    expect(await ask.ipv4("a.b.many.test")).toEqual(found("192.0.2.9"));
    expect(await ask.ipv4("own.many.test")).toEqual({ outcome: "absent", reason: "nodata" });
    expect(await ask.ipv4("below.own.many.test")).toEqual({ outcome: "absent", reason: "nxdomain" });
    expect(await ask.ipv4("many.test")).toEqual({ outcome: "absent", reason: "nodata" });
  });
});
