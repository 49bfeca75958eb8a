/**
 * Stores DMARC and TLS reports, which other mail systems send to the address in a domain's DMARC or TLS-RPT record. The
 * address decides which domain a report belongs to; only what it says about that domain is stored. A refused report is
 * listed for the owner of the domain, with the reason.
 */

import type { ReportedDomain } from "#identity/sending-domains/store.ts";
import { type MailResult, processed, quarantined } from "#inbound/parsing/mail-result.ts";
import type { ParsedReports, StorableReport } from "#inbound/parsing/parse-mail-in-threads.ts";
import { storable } from "#inbound/parsing/storable-text.ts";
import { organisationalDomain } from "#mail/dns/dmarc-policy.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { insertRefusedReports, type NewRefusal } from "./refused-store.ts";
import type { ReportRefusalReason } from "./report-refusal-sentences.ts";
import { countNewRecords, insertDmarcReport, insertTlsReport } from "./store.ts";

/**
 * Sources whose host names are looked up, of one report and of a domain in a day: anyone can send reports, and the table of
 * sources is one for all workspaces. A domain's records of the day count as sources.
 */
const MOST_SOURCES = { report: 100, day: 2_000 };

/** Limits per domain and day, because the address is public in the DNS. */
const MOST_A_DAY = { reports: 500, records: 20_000, xmlOctets: 4 * 1024 * 1024 };
/** Allows for wrong clocks. A report that ends later would be in every time window, and never be removed. */
const MOST_AHEAD_MS = DAY_MS;

type StoreResult =
  | { readonly ok: true; readonly result: string }
  | { readonly ok: false; readonly reason: ReportRefusalReason; readonly detail: string | null };

/** Stores the reports of a mail to the domain's address, in the transaction that is passed later. */
export function storeReports(
  { reports, refused, sender }: ParsedReports,
  domain: ReportedDomain,
  now: Date,
): (tx: Queryable) => Promise<MailResult> {
  return async (tx) => {
    const results: string[] = [];
    const refusals: NewRefusal[] = refused.map((one) => ({ ...one, sender, detail: null }));
    for (const report of reports) {
      const taken = await storeReport(tx, report, domain, now);
      if (taken.ok) results.push(taken.result);
      else refusals.push({ ...taken, kind: report.kind, name: report.name, sender });
    }
    await insertRefusedReports(tx, domain, refusals, now);
    const result = results.find((one) => one !== "known") ?? results[0];
    return result === undefined ? quarantined(quarantineReason(refusals)) : processed(result);
  };
}

/** Records a mail that could not be parsed. */
export function refuseUnreadable(
  fault: "too_slow" | "too_large",
  reasonText: string,
  domain: ReportedDomain,
  now: Date,
): (tx: Queryable) => Promise<MailResult> {
  return async (tx) => {
    const reason = fault === "too_slow" ? "reading_too_slow" : "reading_too_large";
    await insertRefusedReports(
      tx,
      domain,
      [{ kind: "dmarc", name: null, sender: null, reason, detail: null }],
      now,
    );
    return quarantined(reasonText);
  };
}

async function storeReport(
  tx: Queryable,
  read: StorableReport,
  domain: ReportedDomain,
  now: Date,
): Promise<StoreResult> {
  if (read.report.end.getTime() > now.getTime() + MOST_AHEAD_MS) return refuse("future");
  if (read.kind === "dmarc") {
    const { report } = read;
    const policyDomain = report.policy.domain;
    const isOwn = isWithin(policyDomain, domain.domain);
    // The record of the organisational domain applies to a subdomain without one; its reports are about all subdomains.
    const isParents = !isOwn && policyDomain === organisationalDomain(domain.domain);
    if (!isOwn && !isParents) return refuse("another_domain", policyDomain);
    const taken = await takenToday(tx, domain, now);
    if (isLimitReached(taken, report.records)) return refuse("too_many_reports");
    // A report about the organisational domain has records of domains that are none of this owner's business.
    const keepsXml = !isParents && taken.xml_octets + (report.xml?.length ?? 0) <= MOST_A_DAY.xmlOctets;
    const notedSources = Math.max(0, Math.min(MOST_SOURCES.report, MOST_SOURCES.day - taken.records));
    const stored = { report, isParents, keepsXml, notedSources };
    const isNew = await insertDmarcReport(tx, domain, stored, now);
    return { ok: true, result: isNew ? "dmarc_report" : "known" };
  }
  const { report } = read;
  const otherDomain = report.domains.find((name) => !isWithin(name, domain.domain));
  if (otherDomain !== undefined) return refuse("another_domain", otherDomain);
  if (isLimitReached(await takenToday(tx, domain, now), 1)) return refuse("too_many_reports");
  return { ok: true, result: (await insertTlsReport(tx, domain, report, now)) ? "tls_report" : "known" };
}

type Taken = Awaited<ReturnType<typeof countNewRecords>>;

function takenToday(tx: Queryable, domain: ReportedDomain, now: Date): Promise<Taken> {
  return countNewRecords(tx, domain, new Date(now.getTime() - DAY_MS));
}

function isLimitReached(taken: Taken, records: number): boolean {
  return taken.reports >= MOST_A_DAY.reports || taken.records + records > MOST_A_DAY.records;
}

function refuse(reason: ReportRefusalReason, detail: string | null = null): StoreResult {
  return { ok: false, reason, detail: detail === null ? null : storable(detail) };
}

/** For the operator's list of quarantined mail. */
function quarantineReason([first]: readonly NewRefusal[]): string {
  switch (first?.reason) {
    case "future":
      return "a report about the future";
    case "another_domain":
      return `a report about another domain: ${first.detail}`;
    case "too_many_reports":
      return "the domain has had too many reports in a day";
    default:
      return `no report that can be read: ${first?.reason ?? "no_report"}`;
  }
}

/** The domain itself or a name below it. */
function isWithin(name: string, domain: string): boolean {
  return name === domain || name.endsWith(`.${domain}`);
}
