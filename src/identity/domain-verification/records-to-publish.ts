/** The records a domain's owner has to publish, ready to copy into a DNS panel. */
import { type Static, Type } from "typebox";
import { DnsCheck } from "#identity/dns-checks/dns-check.ts";
import { type DomainChecks, decisiveKey } from "./check-dns.ts";

/** An hour: long enough for caches, short enough to correct a mistake. */
const TTL_SECONDS = 3600;

export const DnsRecord = Type.Object(
  {
    purpose: Type.Enum(["ownership", "spf", "dkim", "dmarc", "return_path", "dmarc_reports", "tracking"], {
      description: "What the record is for.",
    }),
    type: DnsCheck.properties.type,
    host: Type.String({ description: "The full name of the record." }),
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

export function dnsRecordsOf(checks: DomainChecks, tracking: DnsCheck | null = null): DnsRecord[] {
  const record = (purpose: DnsRecord["purpose"], required: boolean, check: DnsCheck | null): DnsRecord[] => {
    if (check === null) return [];
    const { type, host, expected: value, status } = check;
    return [{ purpose, type, host, value, ttl: TTL_SECONDS, required, status }];
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
  ];
}
