/**
 * Checks the domain's DMARC record, and whether it sends aggregate reports to us when report collection is on. The
 * suggested record is the published one with our address added; it never weakens a policy.
 */

import type { Resolver } from "#dns/resolver-interface.ts";
import { diagnosed } from "#identity/dns-checks/diagnose.ts";
import type { DnsCheck } from "#identity/dns-checks/dns-check.ts";
import { checkDmarc, type DmarcCheck, parseDmarcRecord } from "#mail/dns/dmarc-policy.ts";
import { repairDmarc } from "#mail/dns/dmarc-repair.ts";

export interface DmarcDnsChecks {
  readonly dmarc: DnsCheck;
  /** Null when report collection is off. */
  readonly reports: DnsCheck | null;
}

/** The address at BOUNCE_DOMAIN that receives the aggregate reports of a domain. */
export function reportAddress(dmarcToken: string, bounceDomain: string): string {
  return `d-${dmarcToken}@${bounceDomain}`;
}

/** @param reportsTo our address for aggregate reports; null when report collection is off */
export async function checkDomainDmarc(
  resolver: Resolver,
  domain: string,
  reportsTo: string | null,
): Promise<DmarcDnsChecks> {
  const check = await checkDmarc(resolver, domain);
  const { status, host, found, foundHost: found_host, message } = check;
  const expected = suggestedDmarc(check, domain, reportsTo);
  const dmarc = { status, host, type: "TXT" as const, expected, found: [...found], found_host, message };
  const reports = reportsTo === null ? null : { ...dmarc, ...reportsCheck(check, reportsTo) };
  return { dmarc: diagnosed(dmarc), reports: reports && diagnosed(reports) };
}

function reportsCheck(check: DmarcCheck, reportsTo: string): Pick<DnsCheck, "status" | "message"> {
  if (check.record === null) return { status: check.status, message: check.message };
  return sendsReportsTo(check, reportsTo)
    ? { status: "verified", message: `Aggregate reports go to ${reportsTo}.` }
    : { status: "mismatch", message: `The record does not send aggregate reports (rua) to ${reportsTo}.` };
}

function sendsReportsTo({ record }: Pick<DmarcCheck, "record">, address: string): boolean {
  const uri = `mailto:${address}`.toLowerCase();
  return record?.aggregateReports.some((report) => report.toLowerCase() === uri) ?? false;
}

/**
 * The record to publish (RFC 7489 section 6.3). Without report collection a new record names postmaster@, which every
 * domain has (RFC 5321 section 4.5.1).
 */
function suggestedDmarc(check: DmarcCheck, domain: string, reportsTo: string | null): string {
  const [found] = check.found;
  const mended = repairDmarc(check.found);
  const isRight = check.record !== null && !check.message.includes("Receivers ignore");
  const published = (isRight ? found : mended) ?? null;
  if (published === null) {
    return `v=DMARC1; p=none; rua=mailto:${reportsTo ?? `postmaster@${domain}`}`;
  }
  const parsed = parseDmarcRecord(published);
  const record = "fault" in parsed ? null : parsed;
  if (reportsTo === null || sendsReportsTo({ record }, reportsTo)) return published;
  const uri = `mailto:${reportsTo}`;
  const reports = /(;\s*rua\s*=\s*)([^;]*)/i;
  return reports.test(published)
    ? published.replace(reports, (_tag, name, uris) => name + [uris.trim(), uri].filter(Boolean).join(","))
    : `${published.replace(/[;\s]+$/, "")}; rua=${uri}`;
}
