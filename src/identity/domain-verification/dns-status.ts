/** The dns-status answer: the DNS records to publish and what is published now. Reading it changes no flag. */
import { type Static, Type } from "typebox";
import { DnsCheck } from "#identity/dns-checks/dns-check.ts";
import { DnsProvider } from "#identity/dns-checks/dns-provider.ts";
import type { CheckedDomain } from "#identity/sending-domains/store.ts";
import { described, nullable } from "#platform/shapes.ts";
import { type DomainChecks, decisiveKey, type PlatformDomains } from "./check-dns.ts";
import { DnsRecord, dnsRecordsOf, type OtherChecks } from "./records-to-publish.ts";

const SpfCheck = Type.Object(
  {
    ...DnsCheck.properties,
    lookups: Type.Integer({
      description: "DNS look-ups that evaluating the record takes; receivers stop at 10.",
    }),
  },
  { $id: "SpfCheck" },
);

/** One check for each purpose; null when it does not apply. */
export const DomainDnsChecks = Type.Object(
  {
    ownership: described(DnsCheck, "The TXT record that proves ownership."),
    spf: described(SpfCheck, "The SPF record."),
    dkim: nullable(
      described(DnsCheck, "The record of the DKIM key that signs; null if the domain has no key."),
    ),
    dmarc: described(DnsCheck, "The DMARC record."),
    return_path: nullable(
      described(DnsCheck, "The record of the domain's own return path; null if it is switched off."),
    ),
    dmarc_reports: nullable(
      described(
        DnsCheck,
        "The record that sends DMARC reports to this service; null if their collection is switched off.",
      ),
    ),
  },
  { $id: "DomainDnsChecks" },
);

export const DnsStatus = Type.Object(
  {
    id: Type.String({ format: "uuid", description: "Id of the sending domain." }),
    domain: Type.String({ description: "The sending domain." }),
    verification_token: Type.String({ description: "Proves ownership." }),
    platform_spf_domain: Type.String({ description: "The domain to include in SPF." }),
    dns_provider: nullable(
      described(DnsProvider, "The DNS provider of the domain; null if its name servers are not found."),
    ),
    dns: Type.Object(
      {
        ...DomainDnsChecks.properties,
        tracking: Type.Union([DnsCheck, Type.Null()], {
          description: "The newest tracking domain below this domain.",
        }),
        receiving: Type.Array(DnsCheck, {
          description:
            "The MX record of each name, the domain or below it, that has active inbound routes; at most 20. Empty if mail is not received.",
        }),
        ownership_verified: Type.Boolean({ description: "As published now; so are the next three." }),
        spf_verified: Type.Boolean({ description: "Whether SPF is correct, as published now." }),
        dkim_verified: Type.Boolean({
          description: "Whether the record of the signing key is correct, as published now.",
        }),
        dmarc_verified: Type.Boolean({ description: "Whether DMARC is correct, as published now." }),
        dkim_selector: nullable(
          Type.String({ description: "Selector of the signing key; null if the domain has no key." }),
        ),
        dkim_public_key: nullable(Type.String({ description: "Base64, as in the p= tag." })),
        dkim_record: nullable(Type.String({ description: "The value to publish." })),
        dmarc_suggested: Type.String({
          description: "The value to publish; never weaker than what is published.",
        }),
        dmarc_record: nullable(Type.String({ description: "The published value." })),
        records: Type.Array(DnsRecord, { description: "Every record to publish, for a table." }),
      },
      { description: "What is published now, and what to publish." },
    ),
  },
  { $id: "DnsStatus" },
);
export type DnsStatus = Static<typeof DnsStatus>;

export function dnsChecksOf(checks: DomainChecks): Static<typeof DomainDnsChecks> {
  const { keys: _, ...others } = checks;
  return { ...others, dkim: decisiveKey(checks)?.check ?? null };
}

export function dnsStatusOf(
  domain: CheckedDomain,
  checks: DomainChecks,
  platform: PlatformDomains,
  others: OtherChecks,
): DnsStatus {
  const key = decisiveKey(checks);
  return {
    id: domain.id,
    domain: domain.domain,
    verification_token: domain.verification_token,
    platform_spf_domain: platform.PLATFORM_SPF_DOMAIN,
    dns_provider: others.provider,
    dns: {
      ...dnsChecksOf(checks),
      tracking: others.tracking,
      receiving: [...others.receiving],
      ownership_verified: checks.ownership.status === "verified",
      spf_verified: checks.spf.status === "verified",
      dkim_verified: key?.check.status === "verified",
      dmarc_verified: checks.dmarc.status === "verified",
      dkim_selector: key?.key.selector ?? null,
      dkim_public_key: key?.key.public_key ?? null,
      dkim_record: key?.check.expected ?? null,
      dmarc_suggested: checks.dmarc.expected,
      dmarc_record: checks.dmarc.found[0] ?? null,
      records: dnsRecordsOf(checks, others),
    },
  };
}
