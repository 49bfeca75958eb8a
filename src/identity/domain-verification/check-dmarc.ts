/**
 * Is there a DMARC record for the domain, and does it send its reports to us where that was switched on? The record
 * that is suggested is the published one with our address added: it never weakens a policy.
 */

import type { Resolver } from "#dns/resolver.ts";
import type { DnsCheck } from "#identity/dns-checks/dns-check.ts";
import { checkDmarc, type DmarcCheck, parseDmarcRecord } from "#mail/dns/dmarc-policy.ts";
import { repairDmarc } from "#mail/dns/dmarc-repair.ts";

export interface DmarcDnsChecks {
  readonly dmarc: DnsCheck;
  /** Null while ingestion is off. */
  readonly reports: DnsCheck | null;
}

/** The mailbox of BOUNCE_DOMAIN that takes a domain's aggregate reports. */
export function reportAddress(dmarcToken: string, bounceDomain: string): string {
  return `d-${dmarcToken}@${bounceDomain}`;
}

/** @param reportsTo our address for aggregate reports, null while ingestion is off. */
export async function checkDomainDmarc(
  resolver: Resolver,
  domain: string,
  reportsTo: string | null,
): Promise<DmarcDnsChecks> {
  const check = await checkDmarc(resolver, domain);
  const { status, host, found, message } = check;
  const expected = suggestedDmarc(check, domain, reportsTo);
  const dmarc: DnsCheck = { status, host, type: "TXT", expected, found: [...found], message };
  return { dmarc, reports: reportsTo === null ? null : { ...dmarc, ...judgeReports(check, reportsTo) } };
}

function judgeReports(check: DmarcCheck, reportsTo: string): Pick<DnsCheck, "status" | "message"> {
  if (check.record === null) return { status: check.status, message: check.message };
  return sendsReportsTo(check, reportsTo)
    ? { status: "verified", message: `Aggregate reports go to ${reportsTo}.` }
    : { status: "mismatch", message: `The record does not send aggregate reports (rua) to ${reportsTo}.` };
}

function sendsReportsTo({ record }: Pick<DmarcCheck, "record">, address: string): boolean {
  const uri = `mailto:${address}`.toLowerCase();
  return record?.aggregateReports.some((report) => report.toLowerCase() === uri) ?? false;
}

/** RFC 7489 section 6.3; without ingestion a new record reports to the mailbox that every domain has (RFC 5321). */
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
