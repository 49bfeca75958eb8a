/** The records a domain's owner has to publish, ready to copy into a DNS panel. */
import { type Static, Type } from "typebox";
import { DnsCheck } from "#identity/dns-checks/dns-check.ts";
import { type DnsProvider, nameInForm } from "#identity/dns-checks/dns-provider.ts";
import { organisationalDomain } from "#mail/dns/dmarc-policy.ts";
import { type DomainChecks, decisiveKey } from "./check-dns.ts";

/** An hour: long enough for caches, short enough to correct a mistake. */
const TTL_SECONDS = 3600;

export const DnsRecord = Type.Object(
  {
    purpose: Type.Enum(
      ["ownership", "spf", "dkim", "dmarc", "return_path", "dmarc_reports", "tracking", "receiving"],
      {
        description: "What the record is for.",
      },
    ),
    type: DnsCheck.properties.type,
    host: Type.String({ description: "The full name of the record." }),
    host_in_zone: Type.String({
      description:
        "The name without the registered domain, as DNS panels want it that append the domain themselves; `@` for the domain itself.",
    }),
    host_relative: Type.String({
      description:
        "What to enter as the name in the form of the DNS provider, which appends its zone itself. It differs from `host_in_zone` where name servers have a zone below the registered domain, and where a provider wants the domain itself without a name (empty).",
    }),
    value: Type.String({
      description: "Includes what is already published when several services share one record.",
    }),
    ttl: Type.Integer({ description: "Seconds." }),
    required: Type.Boolean({
      description:
        "Ownership is required for sending; the other required records keep mail out of spam folders.",
    }),
    status: DnsCheck.properties.status,
  },
  { $id: "DnsRecord" },
);

export type DnsRecord = Static<typeof DnsRecord>;

function hostInZone(host: string): string {
  const zone = organisationalDomain(host);
  return host === zone ? "@" : host.slice(0, -zone.length - 1);
}

/** What the status of a domain shows beside the checks of its own records. */
export interface OtherChecks {
  /** Of the newest tracking domain below the domain. */
  readonly tracking: DnsCheck | null;
  /** Of the MX record of each name with active inbound routes. */
  readonly receiving: readonly DnsCheck[];
  /** Null if it is not known. */
  readonly provider: DnsProvider | null;
}

const none: OtherChecks = { tracking: null, receiving: [], provider: null };

export function dnsRecordsOf(
  checks: DomainChecks,
  { tracking, receiving, provider }: OtherChecks = none,
): DnsRecord[] {
  const record = (purpose: DnsRecord["purpose"], required: boolean, check: DnsCheck | null): DnsRecord[] => {
    if (check === null) return [];
    const { type, host, expected: value, status } = check;
    const host_in_zone = hostInZone(host);
    const host_relative = nameInForm(host, provider);
    return [{ purpose, type, host, host_in_zone, host_relative, value, ttl: TTL_SECONDS, required, status }];
  };
  const decisive = decisiveKey(checks);
  return [
    ...record("ownership", true, checks.ownership),
    ...record("spf", true, checks.spf),
    ...checks.keys.flatMap((one) => record("dkim", one === decisive, one.check)),
    ...record("dmarc", true, checks.dmarc),
    ...record("return_path", false, checks.return_path),
    ...record("dmarc_reports", false, checks.dmarc_reports),
    ...record("tracking", false, tracking),
    ...receiving.flatMap((check) => record("receiving", false, check)),
  ];
}
