/** Does the domain's SPF record include this service's addresses? And what would the record be that does? */
import type { Resolver } from "../../mail/dns/resolver.ts";
import { checkSpf } from "../../mail/dns/spf.ts";
import { parseSpfRecord } from "../../mail/dns/spf-record.ts";
import type { DnsCheck } from "../dns-check.ts";

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
  const { status, found, lookups, message } = await checkSpf(resolver, domain, platformSpfDomain);
  const expected = status === "verified" ? found.join() : suggestedSpf(found, platformSpfDomain);
  return { status, host: domain, type: "TXT", expected, found: [...found], message, lookups };
}

/**
 * One record that keeps what the existing ones say, since a second one beside them would break both (RFC 7208 section
 * 4.5): the include first, terms that cannot be understood and a blanket "+all" left out.
 */
export function suggestedSpf(found: readonly string[], include: string): string {
  const existing = found.flatMap((record) => record.trim().split(/ +/).slice(1));
  const understood = existing.filter((term) => !("faulty" in parseSpfRecord(`v=spf1 ${term}`)));
  const ends = understood.filter((term) => /^(redirect=|[-~?]all$)/i.test(term));
  const others = understood.filter((term) => !/^(redirect=|[-+~?]?all$)/i.test(term));
  const end = ends.find((term) => !/^redirect=/i.test(term)) ?? ends[0] ?? "~all";
  return ["v=spf1", ...new Set([`include:${include}`, ...others]), end].join(" ");
}
