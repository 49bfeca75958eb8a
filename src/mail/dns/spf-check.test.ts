import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type DnsZone, type FakeDns, startFakeDns } from "#test/support/fake-dns.ts";
import { checkSpf } from "./spf-check.ts";
import { parseSpfRecord } from "./spf-record.ts";

let dns: FakeDns;
beforeEach(async () => {
  dns = await startFakeDns();
});
afterEach(() => dns.close());

/** Checks customer.test with these records; the platform's own record is in the zone unless it is replaced. */
const check = (zone: DnsZone | string) => {
  dns.zone = {
    "spf.platform.test": { TXT: ["v=spf1 ip4:192.0.2.0/24 -all"] },
    ...(typeof zone === "string" ? { "customer.test": { TXT: [zone] } } : zone),
  };
  return checkSpf(dns.resolver, "Customer.test", "spf.platform.test");
};

describe("verified", () => {
  test.each([
    ["v=spf1 include:spf.platform.test -all", 1],
    ["V=SPF1 INCLUDE:SPF.Platform.Test. ~ALL", 1],
    ["v=spf1 +include:spf.platform.test", 1],
    ["v=spf1 redirect=spf.platform.test", 1],
    ["v=spf1   ip4:192.0.2.1  ip6:2001:db8::/32 include:spf.platform.test exp=why.customer.test ?all", 1],
    ["v=spf1 include:spf.platform.test include:%{ir}.dyn.test -all", 2],
    ["v=spf1 ptr exists:%{i}.allow.test include:spf.platform.test new=modifier -all", 3],
  ])("%s", async (record, lookups) => {
    expect(await check(record)).toMatchObject({
      status: "verified",
      found: [record],
      lookups,
      voidLookups: 0,
    });
  });

  test("through another include or redirect, and other TXT records do not matter", async () => {
    const result = await check({
      "customer.test": {
        TXT: ["verification=1", "v=spf10 nonsense", "v=spf1 a mx redirect=all.customer.test"],
      },
      "all.customer.test": { TXT: ["v=spf1 include:group.test -all"] },
      "group.test": { TXT: ["v=spf1 include:spf.platform.test -all"] },
      "www.customer.test": { A: ["192.0.2.5"] },
    });
    expect(result).toMatchObject({ status: "verified", lookups: 5, voidLookups: 2 });
  });

  test("with exactly ten look-ups and two void look-ups", async () => {
    const names = Array.from({ length: 9 }, (_, index) => `a:a${index}.customer.test`);
    const zone: DnsZone = {
      "customer.test": { TXT: [`v=spf1 ${names.join(" ")} include:spf.platform.test -all`] },
    };
    for (let index = 0; index < 7; index += 1) zone[`a${index}.customer.test`] = { A: ["192.0.2.7"] };
    expect(await check(zone)).toMatchObject({ status: "verified", lookups: 10, voidLookups: 2 });
  });

  test("an address of the other family makes the look-up not void", async () => {
    const result = await check({
      "customer.test": { TXT: ["v=spf1 a include:spf.platform.test -all"], AAAA: ["2001:db8::1"] },
    });
    expect(result).toMatchObject({ status: "verified", lookups: 2, voidLookups: 0 });
  });

  test("an error after the required include is a remark", async () => {
    const result = await check("v=spf1 include:spf.platform.test include:gone.test -all");
    expect(result).toMatchObject({ status: "verified", lookups: 2, voidLookups: 1 });
    expect(result.message).toContain("gone.test, which the record refers to, has no SPF record: remove it");
  });

  test.each(["include:", "redirect="])(
    "the %s of a missing platform record says who has to act",
    async (term) => {
      const { status, message } = await check({
        "customer.test": { TXT: [`v=spf1 ${term}spf.platform.test`] },
        "spf.platform.test": "nxdomain",
      });
      expect(status).toBe("verified");
      expect(message).toContain(
        "spf.platform.test, which the record refers to, has no SPF record: until the operator",
      );
    },
  );

  test("a platform record that is missing or cannot be looked up is not a failure of the domain", async () => {
    const customer = { TXT: ["v=spf1 include:spf.platform.test -all"] };
    const platforms: DnsZone[string][] = ["nxdomain", "servfail", { TXT: ["v=spf1 a:broken.test -all"] }];
    for (const platform of platforms) {
      const result = await check({
        "customer.test": customer,
        "spf.platform.test": platform,
        "broken.test": "servfail",
      });
      expect(result.status).toBe("verified");
    }
  });
});

describe("missing", () => {
  test("no such domain, no TXT record, no SPF among the TXT records", async () => {
    expect((await check({})).status).toBe("missing");
    expect((await check({ "customer.test": { A: ["192.0.2.1"] } })).status).toBe("missing");
    const result = await check({ "customer.test": { TXT: ["spf1", "v=spf2.0/pra", "v=spf10 x"] } });
    expect(result).toMatchObject({
      status: "missing",
      found: [],
      message: "customer.test has no SPF record.",
    });
  });
});

describe("mismatch", () => {
  test("several records, even if one of them is right", async () => {
    const records = ["v=spf1 include:spf.platform.test -all", "v=spf1 mx -all"];
    const result = await check({ "customer.test": { TXT: records } });
    expect(result).toMatchObject({ status: "mismatch", found: records });
    expect(result.message).toContain("2 SPF records");
  });

  test.each([
    ["v=spf1 -all", "does not contain include:spf.platform.test"],
    ["v=spf1 a:spf.platform.test -all", "does not contain"],
    ["v=spf1 include:notspf.platform.test include:x.spf.platform.test -all", "has no SPF record"],
    ["v=spf1 -all include:spf.platform.test", "does not contain"],
    ["v=spf1 ~all redirect=spf.platform.test", "does not contain"],
    ["v=spf1 -include:spf.platform.test ~all", "does not contain"],
    ["v=spf1 ?include:spf.platform.test ~all", "does not contain"],
  ])("%s", async (record, message) => {
    const result = await check(record);
    expect(result.status).toBe("mismatch");
    expect(result.message).toContain(message);
  });

  test.each([
    "include",
    "include:",
    "include:localhost",
    "inclde:spf.platform.test",
    "ip4:192.0.2.300",
    "ip4:192.0.2.0/33",
    "ip4:2001:db8::1",
    "ip6:192.0.2.1",
    "ip6:2001:db8::/129",
    "a/33",
    "mx//129",
    "all:customer.test",
    "exists",
    "spf.platform.test",
    "redirect=",
    "redirect=a.test redirect=b.test",
    "-",
  ])("a record with the faulty term %s at any position", async (term) => {
    const result = await check(`v=spf1 include:spf.platform.test -all ${term}`);
    expect(result).toMatchObject({ status: "mismatch" });
    expect(result.message).toContain("cannot be understood");
  });

  const label64 = "a".repeat(64);
  test.each([
    ["include:a.testinclude:b.test", 'the blank between "include:a.test" and "include:b.test" is missing'],
    ["ip4:192.0.2.1ip4:192.0.2.2", 'between "ip4:192.0.2.1" and "ip4:192.0.2.2"'],
    ["include:a.test~all", 'between "include:a.test" and "~all"'],
    ["include:a.test-all", 'between "include:a.test" and "-all"'],
    ["mx-all", 'between "mx" and "-all"'],
    ["a:m.testmx:n.testip6:2001:db8::1", '"a:m.test" and "mx:n.test" and "ip6:2001:db8::1"'],
    ["~allv=spf1", 'between "~all" and "v=spf1"'],
    [`a:${label64}.test`, "a label has 64 characters"],
    [`include:${Array(5).fill("a".repeat(60)).join(".")}.test`, "the name has 309 characters"],
    ["a:..test", "empty label"],
    ["mx:.a.test", "empty label"],
    ["include:a..test", "empty label"],
    ["include:_spf.a.test,", '"," is not part of a host name'],
    ["include:_spf.a.test;", '";" is not part of a host name'],
    ["include:<a.test>", '"<" is not part'],
    ["include:user@a.test", '"@" is not part'],
    ["include:https://a.test", '":" is not part'],
    ["include:\u201ca.test\u201d", "is not allowed in a term"],
    ["include:a.test\u200b", "the invisible character U+200B"],
    ["include:xn--a.test", '"xn--a" is not a valid international label'],
    ["a:192.0.2.1", '"1" is not a top-level domain'],
    ["exists:%{z}.a.test", "%{z} is not a macro"],
    ["exists:%{i.a.test", "no closing brace"],
    ["exists:%i.a.test", 'a "%" does not begin a macro'],
    ["exists:100%.a.test", 'a "%" does not begin a macro'],
    ["exists:%{}.a.test", "%{} is not a macro"],
    ["exists:%{d0}.a.test", "%{d0} is not a macro"],
    ["exists:%{dr2}.a.test", "%{dr2} is not a macro"],
    ["exists:%{i!}.a.test", "%{i!} is not a macro"],
    ["exists:%{t}.a.test", "%{t} is for explanation texts only"],
    ["x=%{q}", "%{q} is not a macro"],
    ["redirect=%{d", "no closing brace"],
    ["exp=why", '"why" is not a complete domain name'],
    ["ip6:::1//33", '"//33" is not a prefix length from 0 to 128'],
    ["ip4:192.0.2.0/08", '"/08" is not a prefix length'],
    ["ip4:192.0.2.0/", '"/" is not a prefix length'],
    ["ip4:192.0.2", '"192.0.2" is not an IPv4 address'],
    ["ip6:fe80::1%eth0", "is not an IPv6 address"],
    ["a:m.test/24/64", "is neither a domain nor a prefix length"],
    ["include:a.test/24", '"/" is not part of a host name'],
    ["all/24", '"all" takes no argument'],
    ["ipv4:192.0.2.1", '"ipv4" is not an SPF mechanism'],
  ])("the faulty term %s is named, and nothing is looked up for it", async (term, why) => {
    const result = await check(`v=spf1 include:spf.platform.test ${term} -all`);
    expect(result.status).toBe("mismatch");
    expect(result.message).toContain(why);
    expect(dns.questions.map(({ name }) => name)).toEqual(["customer.test"]);
  });

  test.each([
    "a:_spf.a_b.test",
    `a:${"a".repeat(63)}.test`,
    "exists:%{l1r+-}.%{dr}.%{D2.}.%%.test",
    "exists:%{ir}.%{v}._spf.%{d2}",
    "a:%{d}/24//64",
    "mx/0//0",
    "ip6:::1/33",
    "ip6:::ffff:192.0.2.1",
    "a:m.test./24",
    "a:xn--mnchen-3ya.test",
    "op=%{d}.auth",
    "x=",
  ])("the term %s is valid", async (term) => {
    expect(await check(`v=spf1 include:spf.platform.test ${term} -all`)).toMatchObject({
      status: "verified",
    });
  });

  test("the required record reached through an include that does not pass", async () => {
    const zone: DnsZone = { "group.test": { TXT: ["v=spf1 include:spf.platform.test -all"] } };
    expect(
      (await check({ ...zone, "customer.test": { TXT: ["v=spf1 ~include:group.test -all"] } })).status,
    ).toBe("mismatch");
  });

  test.each([
    [
      "a record that includes nothing",
      { TXT: ["v=spf1 include:gone.test include:spf.platform.test -all"] },
      {},
    ],
    [
      "two records in an include",
      { TXT: ["v=spf1 include:two.test include:spf.platform.test -all"] },
      { "two.test": { TXT: ["v=spf1 -all", "v=spf1 ~all"] } },
    ],
    [
      "an invalid record in an include",
      { TXT: ["v=spf1 include:bad.test include:spf.platform.test -all"] },
      { "bad.test": { TXT: ["v=spf1 ipv4:192.0.2.1 -all"] } },
    ],
    [
      "more than ten MX hosts",
      {
        TXT: ["v=spf1 mx include:spf.platform.test -all"],
        MX: Array.from({ length: 11 }, (_, index) => [index, `mx${index}.customer.test`] as [number, string]),
      },
      {},
    ],
  ])("an error before the required include: %s", async (_name, customer, zone: DnsZone) => {
    expect((await check({ ...zone, "customer.test": customer })).status).toBe("mismatch");
  });

  test("eleven look-ups, counted through every include", async () => {
    const result = await check({
      "customer.test": { TXT: ["v=spf1 include:spf.platform.test include:one.test include:two.test -all"] },
      "one.test": {
        TXT: ["v=spf1 a mx ptr include:three.test -all"],
        A: ["192.0.2.1"],
        MX: [[1, "one.test"]],
      },
      "two.test": { TXT: ["v=spf1 exists:%{i}.two.test redirect=three.test"] },
      "three.test": { TXT: ["v=spf1 a:one.test -all"] },
    });
    expect(result).toMatchObject({ status: "mismatch", lookups: 11, voidLookups: 0 });
    expect(result.message).toContain("needs 11 DNS look-ups; receivers stop at 10");
  });

  test("three void look-ups", async () => {
    const result = await check("v=spf1 a mx exists:gone.customer.test include:spf.platform.test -all");
    expect(result).toMatchObject({ status: "mismatch", lookups: 4, voidLookups: 3 });
  });

  test.each([
    ["v=spf1 include:customer.test -all", {}],
    ["v=spf1 redirect=customer.test", {}],
    [
      "v=spf1 include:a.test -all",
      { "a.test": { TXT: ["v=spf1 include:b.test"] }, "b.test": { TXT: ["v=spf1 include:a.test"] } },
    ],
  ])("an include loop is followed once: %s", async (record, zone: DnsZone) => {
    const result = await check({ ...zone, "customer.test": { TXT: [record] } });
    expect(result.status).toBe("mismatch");
    expect(result.message).toContain("includes itself");
  });

  test("an endless record is abandoned after a limited number of queries", async () => {
    const includes = Array.from({ length: 10 }, (_, index) => `include:i${index}.customer.test`).join(" ");
    const zone: DnsZone = { "*.customer.test": { TXT: [`v=spf1 ${includes}`] } };
    const result = await check({ ...zone, "customer.test": { TXT: [`v=spf1 ${includes}`] } });
    expect(result.status).toBe("mismatch");
    expect(dns.questions.length).toBeLessThanOrEqual(26);
  });
});

describe("+all", () => {
  test.each(["v=spf1 include:spf.platform.test +all", "v=spf1 include:spf.platform.test all"])(
    "%s is verified with a warning",
    async (record) => {
      const result = await check(record);
      expect(result.status).toBe("verified");
      expect(result.message).toContain('"+all" lets the whole Internet send');
    },
  );

  test("does not replace the include", async () => {
    expect(await check("v=spf1 +all")).toMatchObject({ status: "mismatch" });
  });
});

describe("valid terms that the owner did not mean are reported", () => {
  test.each([
    ["v=spf1 include=a.test include:spf.platform.test ~all", 'Receivers ignore "include=a.test"'],
    ["v=spf1 include:spf.platform.test -all mx", 'Receivers never read "mx"'],
    ["v=spf1 v=spf1 include:spf.platform.test -all", '"v=spf1" occurs twice'],
    ["v=spf1 include:spf.platform.test redirect=a.test -all", 'Receivers ignore "redirect=a.test"'],
  ])("%s", async (record, remark) => {
    const result = await check(record);
    expect(result.status).toBe("verified");
    expect(result.message).toContain(remark);
  });
});

describe("a DNS failure is inconclusive", () => {
  test.each(["servfail", "refuse", "timeout"] as const)("%s at the domain", async (fault) => {
    expect(await check({ "customer.test": fault })).toMatchObject({ status: "error", found: [] });
  });

  test("also at a record that is referred to", async () => {
    const result = await check({
      "customer.test": { TXT: ["v=spf1 include:other.test include:spf.platform.test -all"] },
      "other.test": "servfail",
    });
    expect(result.status).toBe("error");
    expect(result.message).toContain("other.test");
  });

  test("except that what is certain is reported", async () => {
    const result = await check({
      "customer.test": { TXT: ["v=spf1 include:gone.test a:broken.test -all"] },
      "broken.test": "servfail",
    });
    expect(result.status).toBe("mismatch");
  });
});

test("a record is read up to its all", () => {
  expect(parseSpfRecord("v=spf1 a:Mail.Example.test/24//64 -all mx redirect=x.test")).toEqual({
    directives: [
      {
        qualifier: "+",
        mechanism: "a",
        value: "mail.example.test",
        prefix: { ipv4: 24, ipv6: 64 },
      },
      { qualifier: "-", mechanism: "all", value: null, prefix: { ipv4: 32, ipv6: 128 } },
    ],
    redirect: null,
  });
});
