/** Does the domain's SPF record include this service's addresses? And what would the record be that does? */

import type { Resolver } from "#dns/resolver.ts";
import type { DnsCheck } from "#identity/dns-checks/dns-check.ts";
import { checkSpf } from "#mail/dns/spf-check.ts";
import { suggestedSpf } from "./suggested-spf.ts";

export interface SpfDnsCheck extends DnsCheck {
  /** DNS look-ups that evaluating the record takes; receivers stop at 10 (RFC 7208 section 4.6.4). */
  lookups: number;
}

/** @param platformSpfDomain the domain that customers include. */
export async function checkDomainSpf(
  resolver: Resolver,
  domain: string,
  platformSpfDomain: string,
): Promise<SpfDnsCheck> {
  const { status, found, lookups, deadNames, message } = await checkSpf(resolver, domain, platformSpfDomain);
  const place = { status, host: domain, type: "TXT" as const, found: [...found], lookups };
  if (status === "verified") return { ...place, expected: found[0] ?? "", message };
  const { value, notes } = suggestedSpf(found, platformSpfDomain, deadNames);
  return { ...place, expected: value, message: [message, ...notes].join(" ") };
}
