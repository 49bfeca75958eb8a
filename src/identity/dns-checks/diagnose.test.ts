import { describe, expect, test } from "vitest";
import { checkKeyRecord } from "#identity/dkims/check-record.ts";
import { checkDomainDmarc } from "#identity/domain-verification/check-dmarc.ts";
import { checkOwnership } from "#identity/domain-verification/check-ownership.ts";
import { checkDomainSpf } from "#identity/domain-verification/check-spf.ts";
import { dkimRecordValue } from "#mail/dkim/dkim.ts";
import { type DnsRecords, type DnsZone, startFakeDns } from "#test/support/fake-dns.ts";
import { checkAlias } from "./check-alias.ts";
import { findDnsProvider, nameInForm } from "./dns-provider.ts";

/** The zone with its parents, so that absent names do not exist instead of being refused. */
const inZone = (zone: DnsZone): DnsZone => ({ test: {}, com: {}, ...zone });
const txt = (...texts: string[]): DnsRecords => ({ TXT: texts });
const cloudflare: DnsRecords = { NS: ["lola.ns.cloudflare.com", "bob.ns.cloudflare.com"] };
const TARGET = "bounce.posthaste.test";
const HOST = "bounce.example.com";
/** 2,048 bits of a public key are 392 characters of Base64. */
const publicKey = Array.from({ length: 392 }, (_, at) => "MIIBIjANBgkqhkiG9w0B"[(at * 7) % 20]).join("");
const key = { domain: "example.com", selector: "ph1", public_key: publicKey };
const keyHost = "ph1._domainkey.example.com";
const value = dkimRecordValue(publicKey);

async function alias(zone: DnsZone) {
  await using dns = await startFakeDns(inZone(zone));
  return await checkAlias(dns.resolver, HOST, TARGET);
}
async function dkim(...texts: string[]) {
  await using dns = await startFakeDns(inZone({ [keyHost]: txt(...texts) }));
  return await checkKeyRecord(dns.resolver, key);
}

describe("a CNAME", () => {
  test("that is right, or absent, has no diagnosis", async () => {
    expect(await alias({ [HOST]: { CNAME: TARGET } })).toMatchObject({ status: "verified", diagnosis: null });
    expect(await alias({})).toMatchObject({ status: "missing", diagnosis: null, found: [] });
    expect(await alias({ [HOST]: { CNAME: "other.test" } })).toMatchObject({ diagnosis: null });
    expect(await alias({ [HOST]: "servfail" })).toMatchObject({ status: "error", diagnosis: null });
  });

  test("to whose target the panel has appended the domain misses a dot", async () => {
    for (const appended of ["example.com", HOST]) {
      const check = await alias({ [HOST]: { CNAME: `${TARGET}.${appended}` } });
      expect(check).toMatchObject({ status: "mismatch", diagnosis: "missing_dot" });
      expect(check.message).toContain("end the target with a dot");
    }
  });

  test("that a provider hides behind its proxy is told from an address record", async () => {
    const ofCloudflare = { A: ["104.16.1.1"], AAAA: ["2606:4700::6810:101"] };
    const proxied = await alias({ [HOST]: ofCloudflare, "example.com": cloudflare });
    const found = [...ofCloudflare.A, ...ofCloudflare.AAAA];
    expect(proxied).toMatchObject({ status: "missing", diagnosis: "proxied", found });
    expect(proxied.message).toContain("Cloudflare");
    const elsewhere = { NS: ["ns1.example.net"] };
    for (const [addresses, zone] of [
      [{ A: ["192.0.2.1"] }, cloudflare],
      [{ A: ["104.16.1.1", "192.0.2.1"] }, cloudflare],
      [ofCloudflare, elsewhere],
    ] satisfies [DnsRecords, DnsRecords][]) {
      expect(await alias({ [HOST]: addresses, "example.com": zone })).toMatchObject({
        diagnosis: "address_record",
      });
    }
  });
});

describe("a text", () => {
  test("that is right has no diagnosis", async () => {
    expect(await dkim(value)).toMatchObject({ status: "verified", diagnosis: null });
  });

  test("in two records is split, in either order; of two other records one is too many", async () => {
    const parts = [value.slice(0, 255), value.slice(255)] as const;
    for (const found of [parts, parts.toReversed()]) {
      const check = await dkim(...found);
      expect(check.diagnosis).toBe("split_text");
      expect(check.message).toContain("into one record");
    }
    const other = dkimRecordValue(publicKey.replaceAll("M", "N"));
    expect(await dkim(value, other)).toMatchObject({ diagnosis: "several_records" });
  });

  test("without its end is cut, and one with quotation marks is quoted", async () => {
    expect(await dkim(value.slice(0, 255))).toMatchObject({ diagnosis: "cut_text" });
    expect(await dkim(`"${value}"`)).toMatchObject({ status: "mismatch", diagnosis: "quoted_text" });
    expect(await dkim("v=DKIM1; k=rsa; p=AAAA")).toMatchObject({ status: "mismatch", diagnosis: null });
  });

  test("at a name with the domain twice is told from one at another wrong name", async () => {
    for (const [host, diagnosis] of [
      [`${keyHost}.example.com`, "doubled_domain"],
      ["ph1.example.com", "wrong_host"],
    ] as const) {
      await using dns = await startFakeDns(inZone({ [host]: txt(value) }));
      expect(await checkKeyRecord(dns.resolver, key)).toMatchObject({ found_host: host, diagnosis });
    }
  });

  test("of SPF or DMARC that is there twice may be there once", async () => {
    const labels = "abcdefghijkl".split("");
    await using dns = await startFakeDns(
      inZone({
        "example.com": txt("v=spf1 include:a.test ~all", "v=spf1 include:b.test ~all"),
        "_dmarc.example.com": txt("v=DMARC1; p=none", "v=DMARC1; p=reject"),
        ...Object.fromEntries(labels.map((name) => [`${name}.test`, txt("v=spf1 a -all")])),
        "many.example.com": txt(`v=spf1 ${labels.map((name) => `include:${name}.test`).join(" ")} -all`),
      }),
    );
    const { resolver } = dns;
    expect(await checkDomainSpf(resolver, "example.com", "spf.test")).toMatchObject({
      diagnosis: "several_records",
    });
    expect((await checkDomainDmarc(resolver, "example.com", null)).dmarc.diagnosis).toBe("several_records");
    expect(await checkDomainSpf(resolver, "many.example.com", "n11.test")).toMatchObject({
      diagnosis: "too_many_lookups",
    });
  });
});

test("two tokens of other workspaces are not several records, which may stand side by side", async () => {
  const tokens = txt("posthaste-verification=one", "posthaste-verification=two");
  await using dns = await startFakeDns(inZone({ "_posthaste-verify.example.com": tokens }));
  const check = await checkOwnership(dns.resolver, "example.com", "three");
  expect(check).toMatchObject({ status: "mismatch", diagnosis: null });
  expect(check.found).toHaveLength(2);
});

describe("the DNS provider", () => {
  const providerOf = async (domain: string, zone: DnsZone) => {
    await using dns = await startFakeDns(inZone(zone));
    return await findDnsProvider(dns.resolver, domain);
  };

  test("is known by its name servers, at the nearest zone above the domain", async () => {
    expect(await providerOf("example.com", { "example.com": cloudflare })).toEqual({
      name: "Cloudflare",
      zone: "example.com",
      name_servers: ["bob.ns.cloudflare.com", "lola.ns.cloudflare.com"],
      name_field: "Name",
      value_field: "Content",
      proxies_aliases: true,
    });
    const delegated = { "mail.example.com": { NS: ["ns-1.awsdns-01.co.uk"] }, "example.com": cloudflare };
    expect(await providerOf("news.mail.example.com", delegated)).toMatchObject({
      name: "Amazon Route 53",
      zone: "mail.example.com",
    });
    expect(await providerOf("news.example.com", { "example.com": cloudflare })).toMatchObject({
      zone: "example.com",
    });
  });

  test("may be unknown, or not be found", async () => {
    const own = await providerOf("example.com", { "example.com": { NS: ["ns.cloudflare.com.example.net"] } });
    expect(own).toMatchObject({ name: null, zone: "example.com", proxies_aliases: false });
    expect(await providerOf("example.com", {})).toBeNull();
    expect(await providerOf("example.com", { "example.com": "servfail" })).toBeNull();
  });

  test("wants names without its zone", () => {
    const at = (name: string | null, zone: string) => ({ name, zone });
    expect(nameInForm("_dmarc.example.com", at("Cloudflare", "example.com"))).toBe("_dmarc");
    expect(nameInForm("example.com", at("Cloudflare", "example.com"))).toBe("@");
    expect(nameInForm("example.com", at("Amazon Route 53", "example.com"))).toBe("");
    expect(nameInForm("_dmarc.mail.example.com", at(null, "mail.example.com"))).toBe("_dmarc");
    expect(nameInForm("_dmarc.mail.example.com", null)).toBe("_dmarc.mail");
  });
});
