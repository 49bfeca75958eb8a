import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type FakeDns, startFakeDns } from "#test/support/fake-dns.ts";
import { checkDmarc, organisationalDomain, parseDmarcRecord } from "./dmarc-policy.ts";

let dns: FakeDns;
beforeEach(async () => {
  dns = await startFakeDns();
});
afterEach(() => dns.close());

describe("the record", () => {
  test("a policy alone has the defaults of the standard", () => {
    expect(parseDmarcRecord("v=DMARC1; p=none")).toEqual({
      policy: "none",
      subdomainPolicy: "none",
      nonexistentPolicy: "none",
      dkimAlignment: "relaxed",
      spfAlignment: "relaxed",
      testing: false,
      percent: 100,
      aggregateReports: [],
      failureReports: [],
    });
  });

  test("every tag is read, with any white space, order and case of names", () => {
    const text =
      "v = DMARC1 ;\tRUA=mailto:a@x.test!10m, mailto:b@y.test;sp=Quarantine;np=reject; P=REJECT; adkim=S;aspf=s; " +
      "pct=20; ruf=mailto:f@x.test ;fo=1; t=y; new=tag; ";
    expect(parseDmarcRecord(text)).toEqual({
      policy: "reject",
      subdomainPolicy: "quarantine",
      nonexistentPolicy: "reject",
      dkimAlignment: "strict",
      spfAlignment: "strict",
      testing: true,
      percent: 20,
      aggregateReports: ["mailto:a@x.test", "mailto:b@y.test"],
      failureReports: ["mailto:f@x.test"],
    });
  });

  test("unknown values of optional tags are treated as absent", () => {
    expect(parseDmarcRecord("v=DMARC1; p=reject; sp=maybe; adkim=x; pct=101; t=n; rua=nobody")).toMatchObject(
      {
        subdomainPolicy: "reject",
        dkimAlignment: "relaxed",
        testing: false,
        percent: 100,
        aggregateReports: [],
      },
    );
  });

  test.each([
    "",
    "v=DMARC1",
    "v=DMARC1; rua=mailto:a@x.test",
    "v=DMARC1; p=",
    "v=DMARC1; p=block",
    "v=DMARC2; p=none",
    "v=dmarc1; p=none",
    "p=none; v=DMARC1",
    "p=none",
    "v=DMARC1; p=none; p=reject",
    "v=DMARC1; p=none; rubbish",
    "v=DMARC1 p=none",
  ])("%j is invalid", (text) => {
    expect(parseDmarcRecord(text)).toHaveProperty("fault");
  });
});

describe("where the record is found", () => {
  test("at the domain itself", async () => {
    dns.zone = { "_dmarc.customer.test": { TXT: ["other", "v=DMARC1; p=quarantine; sp=none"] } };
    expect(await checkDmarc(dns.resolver, "Customer.test")).toMatchObject({
      status: "verified",
      host: "_dmarc.customer.test",
      found: ["v=DMARC1; p=quarantine; sp=none"],
      policy: "quarantine",
    });
  });

  test("at the organizational domain, with the policy for subdomains", async () => {
    dns.zone = { "_dmarc.customer.co.uk": { TXT: ["v=DMARC1; p=reject; sp=quarantine"] } };
    const result = await checkDmarc(dns.resolver, "news.mail.customer.co.uk");
    expect(result).toMatchObject({ status: "verified", host: "_dmarc.customer.co.uk", policy: "quarantine" });
    expect(dns.questions.map((question) => question.name)).toEqual([
      "_dmarc.news.mail.customer.co.uk",
      "_dmarc.customer.co.uk",
    ]);
  });

  test("the subdomain's own record takes precedence, also if it is weaker", async () => {
    dns.zone = {
      "_dmarc.news.customer.test": { TXT: ["v=DMARC1; p=none"] },
      "_dmarc.customer.test": { TXT: ["v=DMARC1; p=reject"] },
    };
    expect(await checkDmarc(dns.resolver, "news.customer.test")).toMatchObject({ policy: "none" });
  });

  test("an invalid record is ignored if the organizational domain has a valid one, otherwise reported", async () => {
    dns.zone = {
      "_dmarc.news.customer.test": { TXT: ["v=DMARC1; p=nothing"] },
      "_dmarc.customer.test": { TXT: ["v=DMARC1; p=reject"] },
    };
    expect(await checkDmarc(dns.resolver, "news.customer.test")).toMatchObject({
      status: "verified",
      policy: "reject",
    });
    dns.zone["_dmarc.customer.test"] = "nxdomain";
    expect(await checkDmarc(dns.resolver, "news.customer.test")).toMatchObject({
      status: "mismatch",
      host: "_dmarc.news.customer.test",
      found: ["v=DMARC1; p=nothing"],
    });
  });

  test("an invalid record of the organizational domain is reported if the domain has none", async () => {
    dns.zone = { "_dmarc.customer.test": { TXT: ["v=DMARC1; p=none", "v=DMARC1; p=reject"] } };
    const result = await checkDmarc(dns.resolver, "news.customer.test");
    expect(result).toMatchObject({ status: "mismatch", host: "_dmarc.customer.test", policy: null });
    expect(result.message).toContain("2 DMARC records");
  });

  test("nowhere", async () => {
    dns.zone = { "_dmarc.customer.test": { TXT: ["something else"] } };
    expect(await checkDmarc(dns.resolver, "news.customer.test")).toMatchObject({
      status: "missing",
      host: "_dmarc.news.customer.test",
      found: [],
      record: null,
    });
  });

  test.each(["servfail", "refuse", "timeout"] as const)(
    "a DNS failure (%s) is inconclusive",
    async (fault) => {
      dns.zone = { "_dmarc.customer.test": fault };
      expect(await checkDmarc(dns.resolver, "customer.test")).toMatchObject({
        status: "error",
        policy: null,
      });
      expect(await checkDmarc(dns.resolver, "news.customer.test")).toMatchObject({ status: "error" });
    },
  );
});

test.each([
  ["a.b.example.com", "example.com"],
  ["example.co.uk", "example.co.uk"],
  ["x.someone.github.io", "someone.github.io"],
  ["co.uk", "co.uk"],
])("the organizational domain of %s is %s", (domain, organisation) => {
  expect(organisationalDomain(domain)).toBe(organisation);
});
