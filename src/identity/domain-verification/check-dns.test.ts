import { afterAll, describe, expect, test } from "vitest";
import { createResolver } from "#dns/network-resolver.ts";
import type { CheckedDkimKey } from "#identity/dkims/store.ts";
import type { CheckedDomain } from "#identity/sending-domains/store.ts";
import { dkimRecordValue, generateDkimKey } from "#mail/dkim/dkim.ts";
import { type DnsRecords, type DnsZone, startFakeDns } from "#test/support/fake-dns.ts";
import { checkDns, decisiveKey } from "./check-dns.ts";
import { dnsRecordsOf } from "./records-to-publish.ts";

const dns = await startFakeDns();
afterAll(() => dns.close());
const resolver = createResolver({ servers: [dns.address], timeoutMs: 2_000, tries: 1 });
const platform = { BOUNCE_DOMAIN: "bounce.posthaste.test", PLATFORM_SPF_DOMAIN: "spf.posthaste.test" };
const { publicKey } = await generateDkimKey(2048);
const { publicKey: otherKey } = await generateDkimKey(1024);
const created_at = new Date("2026-03-01T00:00:00Z");

const domain: CheckedDomain = {
  id: "0195d2a4-0000-7000-8000-000000000001",
  domain: "example.test",
  is_verified: false,
  spf_verified: false,
  dkim_verified: false,
  dmarc_verified: false,
  verified_at: null,
  is_active: true,
  custom_return_path: true,
  return_path_verified: false,
  dmarc_ingestion: true,
  checked_at: null,
  created_at,
  verification_token: "0123456789abcdef",
  dmarc_token: "fedcba9876543210",
  failed_checks: {},
  lost_checks: {},
};
const key: CheckedDkimKey = {
  id: "0195d2a4-0000-7000-8000-000000000002",
  domain: "example.test",
  selector: "ph1",
  bits: 2048,
  public_key: publicKey,
  is_automatic: true,
  verified_at: null,
  created_at,
  failed_checks: null,
};

const ownership = "posthaste-verification=0123456789abcdef";
const spf = "v=spf1 include:spf.posthaste.test ~all";
const dmarc = "v=DMARC1; p=none; rua=mailto:d-fedcba9876543210@bounce.posthaste.test";
const complete: DnsZone = {
  "example.test": { TXT: ["unrelated=1", spf] },
  "_posthaste-verify.example.test": { TXT: [ownership] },
  "ph1._domainkey.example.test": { TXT: [dkimRecordValue(publicKey)] },
  "_dmarc.example.test": { TXT: [dmarc] },
  "bounce.example.test": { CNAME: "Bounce.Posthaste.Test." },
  "bounce.posthaste.test": { A: ["127.0.0.1"] },
  "spf.posthaste.test": { TXT: ["v=spf1 ip4:127.0.0.1 -all"] },
};

/** The zone of a domain that has everything, with some names replaced. */
function check(changes: DnsZone = {}, keys = [key], settings: Partial<CheckedDomain> = {}) {
  dns.zone = { ...complete, ...changes };
  return checkDns(resolver, { ...domain, ...settings }, keys, platform);
}

const txt = (...texts: string[]): DnsRecords => ({ TXT: texts });

test("a complete zone passes every check", async () => {
  const checks = await check();
  expect(dnsRecordsOf(checks).map(({ purpose, status }) => [purpose, status])).toEqual([
    ["ownership", "verified"],
    ["spf", "verified"],
    ["dkim", "verified"],
    ["dmarc", "verified"],
    ["return_path", "verified"],
    ["dmarc_reports", "verified"],
  ]);
});

test("an empty zone misses everything and is given each record to publish", async () => {
  dns.zone = { test: {} };
  const records = dnsRecordsOf(await checkDns(resolver, domain, [key], platform));
  expect(records.map(({ status }) => status)).toEqual(Array(6).fill("missing"));
  expect(records.map(({ type, host, value }) => [type, host, value])).toEqual([
    ["TXT", "_posthaste-verify.example.test", ownership],
    ["TXT", "example.test", spf],
    ["TXT", "ph1._domainkey.example.test", dkimRecordValue(publicKey)],
    ["TXT", "_dmarc.example.test", dmarc],
    ["CNAME", "bounce.example.test", "bounce.posthaste.test"],
    ["TXT", "_dmarc.example.test", dmarc],
  ]);
  expect(records.map(({ host_in_zone }) => host_in_zone)).toEqual([
    "_posthaste-verify",
    "@",
    "ph1._domainkey",
    "_dmarc",
    "bounce",
    "_dmarc",
  ]);
  expect(records.map(({ required }) => required)).toEqual([true, true, true, true, false, false]);
});

test("publishing the suggested records passes every check", async () => {
  dns.zone = { test: {}, "spf.posthaste.test": txt("v=spf1 ip4:127.0.0.1 -all") };
  for (const { type, host, value } of dnsRecordsOf(await checkDns(resolver, domain, [key], platform))) {
    dns.zone[host] = type === "CNAME" ? { CNAME: value } : txt(value);
  }
  const records = dnsRecordsOf(await checkDns(resolver, domain, [key], platform));
  expect(records.map(({ status }) => status)).toEqual(Array(6).fill("verified"));
});

test("a record that names a host only this machine knows says to set MAIL_HOSTNAME first", async () => {
  dns.zone = { test: {} };
  const local = { BOUNCE_DOMAIN: "bounce.vm", PLATFORM_SPF_DOMAIN: "spf.vm", PRIVATE_NAME: "vm" };
  const checks = await checkDns(resolver, domain, [key], local);
  const warning = (name: string) =>
    expect.stringContaining(
      `MAIL_HOSTNAME is not set, so ${name} is not a public name: set it before you publish`,
    );
  expect(checks.spf.message).toEqual(warning("spf.vm"));
  expect(checks.return_path?.message).toEqual(warning("bounce.vm"));
  expect(checks.dmarc_reports?.message).toEqual(warning("bounce.vm"));
  const named = { ...local, PLATFORM_SPF_DOMAIN: "spf.example.net" };
  expect((await checkDns(resolver, domain, [key], named)).spf.message).not.toContain("MAIL_HOSTNAME");
  expect((await check()).spf.message).not.toContain("MAIL_HOSTNAME");
});

test.each([
  ["ownership", "_posthaste-verify.example.test", ownership],
  ["spf", "example.test", spf],
  ["dkim", "ph1._domainkey.example.test", dkimRecordValue(publicKey)],
  ["dmarc", "_dmarc.example.test", dmarc],
] as const)(
  "a record of %s to whose name the panel appended the domain is found there",
  async (purpose, host, value) => {
    const wrong = `${host}.example.test`;
    const checks = await check({ [host]: txt("unrelated=1"), [wrong]: txt(value) });
    const found = purpose === "dkim" ? decisiveKey(checks)?.check : checks[purpose];
    expect(found).toMatchObject({ status: "mismatch", host, found: [value], found_host: wrong });
    expect(found?.message).toContain("DNS panels append");
    expect((await check())[purpose === "dkim" ? "spf" : purpose].found_host).toBeNull();
  },
);

test("switched-off purposes are not looked up", async () => {
  dns.questions.length = 0;
  const checks = await check({}, [key], { custom_return_path: false, dmarc_ingestion: false });
  expect(checks.return_path).toBeNull();
  expect(checks.dmarc_reports).toBeNull();
  expect(dns.questions.map(({ name }) => name)).not.toContain("bounce.example.test");
});

test.each(["servfail", "timeout", "refuse"] as const)("%s is an error for every purpose", async (fault) => {
  const checks = await check(Object.fromEntries(Object.keys(complete).map((name) => [name, fault])));
  expect(dnsRecordsOf(checks).map(({ status }) => status)).toEqual(Array(6).fill("error"));
});

describe("ownership", () => {
  const host = "_posthaste-verify.example.test";

  test.each<[string, DnsZone, string]>([
    [
      "at the domain itself, among others",
      { [host]: "nxdomain", "example.test": txt("a", spf, ownership) },
      "verified",
    ],
    ["behind an alias", { [host]: { CNAME: "v.other.test" }, "v.other.test": txt(ownership) }, "verified"],
    ["in capitals, quotes and blanks", { [host]: txt(`"${ownership.toUpperCase()} "`) }, "verified"],
    ["beside an old token", { [host]: txt("posthaste-verification=old", ownership) }, "verified"],
    ["at one place while the other one fails", { "example.test": "servfail" }, "verified"],
    ["nowhere", { [host]: "nxdomain" }, "missing"],
    ["of another workspace", { [host]: txt("posthaste-verification=fedcba") }, "mismatch"],
    ["cut off", { [host]: txt(ownership.slice(0, -1)) }, "mismatch"],
    ["with more behind it", { [host]: txt(`${ownership}0`) }, "mismatch"],
    ["without its prefix", { [host]: txt(domain.verification_token) }, "missing"],
    ["only in a wildcard of something else", { [host]: "nxdomain", "*.example.test": txt("x=1") }, "missing"],
    ["unknown at one place while the other one fails", { [host]: "servfail" }, "error"],
  ])("a token %s", async (_where, zone, status) => {
    expect((await check(zone)).ownership.status).toBe(status);
  });

  test("the record that was found is shown", async () => {
    const { found, message } = (await check({ [host]: txt("posthaste-verification=fedcba") })).ownership;
    expect(found).toEqual(["posthaste-verification=fedcba"]);
    expect(message).toContain("another token");
  });
});

describe("SPF", () => {
  const at = (...texts: string[]): DnsZone => ({ "example.test": txt(...texts) });
  const includes = (count: number) => Array.from({ length: count }, (_, n) => `include:i${n}.test`).join(" ");
  const included: DnsZone = Object.fromEntries(
    Array.from({ length: 12 }, (_, n) => [`i${n}.test`, txt("v=spf1 -all")]),
  );

  test("two records are a mismatch, and one that does the work of both is suggested", async () => {
    const { status, found, expected } = (await check(at("v=spf1 mx -all", "v=spf1 ip4:192.0.2.1 ~all"))).spf;
    expect(status).toBe("mismatch");
    expect(found).toHaveLength(2);
    expect(expected).toBe("v=spf1 include:spf.posthaste.test mx ip4:192.0.2.1 -all");
  });

  test("an existing record is extended, never replaced", async () => {
    const { status, expected } = (await check(at("v=spf1 a mx include:i0.test ?all"))).spf;
    expect(status).toBe("mismatch");
    expect(expected).toBe("v=spf1 include:spf.posthaste.test a mx include:i0.test ?all");
  });

  test("a redirect stays at the end; +all and nonsense are left out", async () => {
    expect((await check(at("v=spf1 redirect=i0.test"))).spf.expected).toBe(
      "v=spf1 include:spf.posthaste.test redirect=i0.test",
    );
    expect((await check(at("v=spf1 nonsense mx +all"))).spf.expected).toBe(
      "v=spf1 include:spf.posthaste.test mx ~all",
    );
  });

  test("ten look-ups pass, eleven do not, and both are reported", async () => {
    const ten = `v=spf1 ${includes(9)} include:spf.posthaste.test ~all`;
    const eleven = `v=spf1 ${includes(10)} include:spf.posthaste.test ~all`;
    expect((await check({ ...included, ...at(ten) })).spf).toMatchObject({ status: "verified", lookups: 10 });
    expect((await check({ ...included, ...at(eleven) })).spf).toMatchObject({
      status: "mismatch",
      lookups: 11,
    });
  });
});

describe("DKIM", () => {
  const host = "ph1._domainkey.example.test";
  const value = dkimRecordValue(publicKey);

  test.each<[string, DnsZone, string]>([
    [
      "reordered, quoted and spaced",
      { [host]: txt(`p=${publicKey.slice(0, 9)} ${publicKey.slice(9)};  k=rsa`) },
      "verified",
    ],
    ["behind an alias", { [host]: { CNAME: "k.other.test" }, "k.other.test": txt(value) }, "verified"],
    ["of another key", { [host]: txt(dkimRecordValue(otherKey)) }, "mismatch"],
    ["revoked", { [host]: txt("v=DKIM1; k=rsa; p=") }, "mismatch"],
    ["cut at 255 characters", { [host]: txt(value.slice(0, 255)) }, "mismatch"],
    ["beside another key", { [host]: txt(value, dkimRecordValue(otherKey)) }, "mismatch"],
    ["absent", { [host]: "nxdomain" }, "missing"],
    ["unknown", { [host]: "servfail" }, "error"],
  ])("a record %s", async (_form, zone, status) => {
    const checks = await check(zone);
    expect(decisiveKey(checks)?.check.status).toBe(status);
  });

  test("a value of more than 255 characters is served in pieces and read as one", () => {
    expect(value.length).toBeGreaterThan(255);
  });

  test("of several keys the published one decides, the others stay to be published", async () => {
    const second = {
      ...key,
      id: "0195d2a4-0000-7000-8000-000000000003",
      selector: "new",
      public_key: otherKey,
    };
    const checks = await check({}, [second, key]);
    expect(decisiveKey(checks)?.key.selector).toBe("ph1");
    const records = dnsRecordsOf(checks).filter(({ purpose }) => purpose === "dkim");
    expect(records.map(({ host, status, required }) => [host, status, required])).toEqual([
      ["new._domainkey.example.test", "missing", false],
      ["ph1._domainkey.example.test", "verified", true],
    ]);
  });

  test("a domain without keys has nothing to check", async () => {
    expect(decisiveKey(await check({}, []))).toBeUndefined();
  });
});

describe("DMARC", () => {
  const at = (...texts: string[]): DnsZone => ({ "_dmarc.example.test": txt(...texts) });
  const ours = "mailto:d-fedcba9876543210@bounce.posthaste.test";

  test.each([
    ["v=DMARC1; p=reject", `v=DMARC1; p=reject; rua=${ours}`],
    ["v=DMARC1; p=reject; ", `v=DMARC1; p=reject; rua=${ours}`],
    ["v=DMARC1; p=reject; rua=; pct=50", `v=DMARC1; p=reject; rua=${ours}; pct=50`],
    [
      "v=DMARC1; p=quarantine; rua=mailto:a@b.test; fo=1",
      `v=DMARC1; p=quarantine; rua=mailto:a@b.test,${ours}; fo=1`,
    ],
    [`v=DMARC1; p=reject; rua=${ours.toUpperCase()}`, `v=DMARC1; p=reject; rua=${ours.toUpperCase()}`],
    ["v=DMARC1; p=sometimes", `v=DMARC1; p=none; rua=${ours}`],
    ["v=DMARC1: p=reject", `v=DMARC1; p=reject; rua=${ours}`],
    ["v=DMARC1; p: reject; rua: mailto:a@b.test", `v=DMARC1; p=reject; rua=mailto:a@b.test,${ours}`],
    ["v=DMARC1; p='reject'", `v=DMARC1; p=reject; rua=${ours}`],
    ["v=DMARC2; p=reject", `v=DMARC1; p=reject; rua=${ours}`],
    ["v=DMRC1; p=reject", `v=DMARC1; p=reject; rua=${ours}`],
    ["rua=mailto:a@b.test; p=reject; v=DMARC1", `v=DMARC1; p=reject; rua=mailto:a@b.test,${ours}`],
    ["v=DMARC1; rua=mailto:a@b.test", `v=DMARC1; p=none; rua=mailto:a@b.test,${ours}`],
    ["v=DMARC1; p=rejected", `v=DMARC1; p=reject; rua=${ours}`],
    ["v=DMARC1; policy=reject", `v=DMARC1; p=reject; rua=${ours}`],
    ["v=DMARC1; p quarantine", `v=DMARC1; p=quarantine; rua=${ours}`],
    ["v=DMARC1; p=quarantine; p=reject", `v=DMARC1; p=reject; rua=${ours}`],
    ["v=DMARC1;p=rejectrua=mailto:a@b.test", `v=DMARC1; p=reject; rua=mailto:a@b.test,${ours}`],
    ["v=DMARC1; p=reject; -all", `v=DMARC1; p=reject; rua=${ours}`],
    ["v=DMARC1; p=none; rua=mailto;a@b.test", `v=DMARC1; p=none; rua=mailto:a@b.test,${ours}`],
    [
      "v=DMARC1; p=none; rua=mailto:a@b.test; rua=mailto:c@d.test",
      `v=DMARC1; p=none; rua=mailto:a@b.test,mailto:c@d.test,${ours}`,
    ],
    [
      "v=DMARC1; p=none; rua=mailto:a@b.test mailto:c@d.test",
      `v=DMARC1; p=none; rua=mailto:a@b.test,mailto:c@d.test,${ours}`,
    ],
    [
      "v=DMARC1; p=none; sp=qurantine; adkim=strict; pct=50%",
      `v=DMARC1; p=none; sp=quarantine; adkim=s; pct=50; rua=${ours}`,
    ],
  ])("%j is suggested as %j", async (published, suggested) => {
    expect((await check(at(published))).dmarc.expected).toBe(suggested);
  });

  test("of two records the suggestion has the stricter policy and both addresses", async () => {
    const checks = await check(
      at("v=DMARC1; p=none; rua=mailto:a@b.test", "v=DMARC1; p=reject; rua=mailto:c@d.test"),
    );
    expect(checks.dmarc.expected).toBe(`v=DMARC1; p=reject; rua=mailto:a@b.test,mailto:c@d.test,${ours}`);
  });

  test("a value that receivers ignore is named, and a blank of another kind makes the record none", async () => {
    const { status, message } = (await check(at("v=DMARC1; p=none; sp=qurantine; pct=50%"))).dmarc;
    expect([status, message]).toEqual(["verified", expect.stringMatching(/"sp=qurantine".*"pct=50%"/)]);
    expect((await check(at("v=DMARC1\u00a0; p=none"))).dmarc.status).toBe("mismatch");
  });

  test("a record that reports elsewhere is verified, its reports are a mismatch", async () => {
    const checks = await check(at("v=DMARC1; p=none; rua=mailto:a@b.test"));
    expect(checks.dmarc.status).toBe("verified");
    expect(checks.dmarc_reports?.status).toBe("mismatch");
  });

  test("without ingestion nothing is suggested that would change a published record", async () => {
    const checks = await check(at("v=DMARC1; p=reject"), [key], { dmarc_ingestion: false });
    expect(checks.dmarc.expected).toBe("v=DMARC1; p=reject");
  });

  test("a new record reports to a mailbox that every domain has", async () => {
    const checks = await check({ "_dmarc.example.test": "nxdomain" }, [key], { dmarc_ingestion: false });
    expect(checks.dmarc.expected).toBe("v=DMARC1; p=none; rua=mailto:postmaster@example.test");
  });

  test("a subdomain has its organisational parent's", async () => {
    const checks = await check({}, [], { domain: "news.example.test" });
    expect(checks.dmarc).toMatchObject({ status: "verified", host: "_dmarc.example.test" });
  });
});

describe("an SPF record that fails by a name", () => {
  test("names those that are not there, and the suggestion goes without their terms", async () => {
    const records = "v=spf1 a:one.gone.test a:two.gone.test a:three.gone.test mx:example.test ~all";
    const { message, expected } = (await check({ "example.test": txt(records) })).spf;
    expect(message).toContain("find nothing (one.gone.test, two.gone.test, three.gone.test");
    expect(expected).toBe("v=spf1 include:spf.posthaste.test ~all");
    expect((await check({ "example.test": txt(expected) })).spf.status).toBe("verified");
  });

  test("a record in quotation marks beside the right one is told of", async () => {
    const zone = { "example.test": txt(spf, '"v=spf1 ip4:192.0.2.1 ~all"') };
    expect((await check(zone)).spf).toMatchObject({
      status: "verified",
      message: expect.stringContaining("ip4:192.0.2.1"),
    });
  });

  test.each(["-", "~", "?"])("%sinclude is said to permit nothing", async (sign) => {
    const record = `v=spf1 ${sign}include:spf.posthaste.test mx ~all`;
    const { message, expected } = (await check({ "example.test": txt(record) })).spf;
    expect(message).toContain(`with "${sign}" in front of it the include permits nothing`);
    expect(expected).toBe("v=spf1 include:spf.posthaste.test mx ~all");
  });
});

describe("the return path", () => {
  test.each<[string, DnsRecords | "servfail" | "nxdomain", string]>([
    ["an alias of another host", { CNAME: "mail.other.test" }, "mismatch"],
    ["an address instead of an alias", { A: ["127.0.0.1"] }, "missing"],
    ["nothing", "nxdomain", "missing"],
    ["a fault", "servfail", "error"],
  ])("%s", async (_what, records, status) => {
    expect((await check({ "bounce.example.test": records })).return_path?.status).toBe(status);
  });
});

describe("a record that receivers do not recognise is called by its fault", () => {
  const spfOf = async (text: string) => (await check({ "example.test": txt(text) })).spf;
  const suggested = "v=spf1 include:spf.posthaste.test mx ~all";

  test.each([
    ['"v=spf1 mx ~all"', "quotation marks"],
    ["\u201cv=spf1 mx ~all\u201d", "quotation marks"],
    ["'v=spf1 mx ~all'", "quotation marks"],
    [" v=spf1 mx ~all\n", "line breaks"],
    ["\ufeffv=spf1 mx ~all", "blanks or line breaks"],
    ["v=spf1\tmx ~all", "blanks or line breaks"],
    ['example.test. IN TXT "v=spf1 mx ~all"', "zone file"],
    ["v=spf1; mx ~all", "misspelled"],
    ["v=spf2 mx ~all", "misspelled"],
    ["v=spf1.0 mx ~all", "misspelled"],
    ["=spf1 mx ~all", "misspelled"],
    ["spf2.0/mfrom,pra mx ~all", "Sender ID"],
    ["spf1 mx ~all", "misspelled"],
    ["v=spf mx ~all", "misspelled"],
    ["v = spf1 mx ~all", "misspelled"],
  ])("SPF %j", async (text, fault) => {
    const { status, message, expected } = await spfOf(text);
    expect([status, expected]).toEqual(["mismatch", suggested]);
    expect(message).toContain(fault);
  });

  test.each([
    ['"v=DMARC1; p=reject"', "quotation marks"],
    ["v=DMARC1\\; p=reject", "backslashes"],
    ["\u201cv=DMARC1; p=reject\u201d", "quotation marks"],
    ["v=DMARC1 p=reject", "DMARC"],
    ["v=DMARC1, p=reject", "DMARC"],
    ["v=DMARC; p=reject", "misspelled"],
    ["DMARC1; p=reject", "misspelled"],
    ["p=reject", "misspelled"],
    ["v=dmarc1; p=reject", "invalid"],
    ["v=DMARC1; p=rejcet", "invalid"],
  ])("DMARC %j, whose policy the suggestion keeps", async (text, fault) => {
    const { status, message, expected } = (await check({ "_dmarc.example.test": txt(text) })).dmarc;
    expect([status, expected]).toEqual([
      "mismatch",
      "v=DMARC1; p=reject; rua=mailto:d-fedcba9876543210@bounce.posthaste.test",
    ]);
    expect(message).toContain(fault);
  });

  test("an address for reports without mailto: is named and mended", async () => {
    const { message, expected } = (
      await check({ "_dmarc.example.test": txt("v=DMARC1; p=none; rua=a@b.test") })
    ).dmarc;
    expect(message).toContain('Receivers ignore "a@b.test" in rua=');
    expect(expected).toContain("rua=mailto:a@b.test,mailto:d-fedcba9876543210@bounce.posthaste.test");
  });
});

describe("a record at another name is named with the name", () => {
  const value = dkimRecordValue(publicKey);

  test.each<[string, "spf" | "dmarc" | "dkim", DnsZone]>([
    [
      "example.test.example.test",
      "spf",
      { "example.test": "nxdomain", "example.test.example.test": txt(spf) },
    ],
    [
      "_dmarc.example.test.example.test",
      "dmarc",
      { "_dmarc.example.test": "nxdomain", "_dmarc.example.test.example.test": txt(dmarc) },
    ],
    ["dmarc.example.test", "dmarc", { "_dmarc.example.test": "nxdomain", "dmarc.example.test": txt(dmarc) }],
    [
      "ph1._domainkey.example.test.example.test",
      "dkim",
      {
        "ph1._domainkey.example.test": "nxdomain",
        "ph1._domainkey.example.test.example.test": txt(value),
      },
    ],
    [
      "ph1.example.test",
      "dkim",
      { "ph1._domainkey.example.test": "nxdomain", "ph1.example.test": txt(value) },
    ],
  ])("%s", async (host, purpose, zone) => {
    const checks = await check(zone);
    const found = purpose === "dkim" ? decisiveKey(checks)?.check : checks[purpose];
    expect(found?.status).toBe("mismatch");
    expect(found?.message).toContain(`is published at ${host},`);
  });
});
