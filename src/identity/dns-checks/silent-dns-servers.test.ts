import { expect, test } from "vitest";
import { createResolver } from "#dns/network-resolver.ts";
import type { Resolver } from "#dns/resolver-interface.ts";
import { checkKeyRecord } from "#identity/dkims/check-record.ts";
import { checkOwnership } from "#identity/domain-verification/check-ownership.ts";
import { checkReceiving } from "#identity/domain-verification/check-receiving.ts";
import { checkDmarc } from "#mail/dns/dmarc-policy.ts";
import { checkSpf } from "#mail/dns/spf-check.ts";
import { startFakeDns } from "#test/support/fake-dns.ts";
import { checkAlias } from "./check-alias.ts";

const domain = "acme.test";
const checks: readonly ((
  resolver: Resolver,
) => Promise<{ readonly status: string; readonly message: string }>)[] = [
  (resolver) => checkOwnership(resolver, domain, "token"),
  (resolver) => checkKeyRecord(resolver, { domain, selector: "s1", public_key: "AAAA" }),
  (resolver) => checkSpf(resolver, domain, "spf.ours.test"),
  (resolver) => checkDmarc(resolver, domain),
  (resolver) => checkAlias(resolver, `bounce.${domain}`, "bounce.ours.test"),
  (resolver) => checkReceiving(resolver, domain, { names: ["mx.ours.test"], areKnown: true }),
];

test("no check blames the domain while our own DNS servers are silent", async () => {
  const dns = await startFakeDns(
    Object.fromEntries(
      ["", "_posthaste-verify.", "s1._domainkey.", "_dmarc.", "bounce."].map((below) => [
        `${below}${domain}`,
        "servfail",
      ]),
    ),
  );
  const resolver = createResolver({ servers: [dns.address], timeoutMs: 5_000, tries: 1, isFresh: true });
  const messages = async () => {
    const answers = await Promise.all(checks.map((check) => check(resolver)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => "error"));
    return answers.map(({ message }) => message);
  };
  try {
    for (const theirs of await messages()) expect(theirs).toMatch(/ could not be looked up \(ESERVFAIL\)\.$/);
  } finally {
    await dns.close();
  }
  for (const ours of await messages()) {
    expect(ours).toContain("(ECONNREFUSED). The DNS servers of this service do not answer");
    expect(ours).not.toContain(dns.address);
  }
});
