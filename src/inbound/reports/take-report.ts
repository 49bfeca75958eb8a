/**
 * Reports of other mail systems about a sending domain, sent to the address that its DMARC or TLS-RPT record names. The
 * address decides whose they are; of what they say only what is about that domain is believed to be meant for it.
 */

import type { ReportedDomain } from "../../identity/sending-domains/store.ts";
import { organisationalDomain } from "../../mail/dns/dmarc-policy.ts";
import type { Queryable } from "../../platform/database/pool.ts";
import type { ReportReading } from "../reading/reading.ts";
import { processed, quarantined, type Settled } from "../returns/store.ts";
import { storable } from "../storable.ts";
import { countNewRecords, insertDmarcReport, insertTlsReport } from "./store.ts";

/** The address stands in the DNS for everybody: reports, and records in them, that a domain takes in a day. */
const MOST_A_DAY = { reports: 500, records: 20_000 };
const DAY_MS = 86_400_000;
/** Clocks differ. What ends later would be in every window, and could not be forgotten. */
const MOST_AHEAD_MS = DAY_MS;

/** Gives what writes down the report of a mail to that address. */
export function takeReport(
  reading: ReportReading,
  domain: ReportedDomain,
  now: Date,
): (tx: Queryable) => Promise<Settled> {
  if (reading.kind === "none")
    return async () => quarantined(`no report that can be read: ${reading.reason}`);
  if (reading.report.end.getTime() > now.getTime() + MOST_AHEAD_MS) {
    return async () => quarantined("a report about the future");
  }
  if (reading.kind === "dmarc") {
    const { report } = reading;
    const policyDomain = report.policy.domain;
    const isOwn = isWithin(policyDomain, domain.domain);
    // A subdomain without a record of its own has the parent's, whose reports are about all of its names.
    const isParents = !isOwn && policyDomain === organisationalDomain(domain.domain);
    if (!isOwn && !isParents) return foreign(policyDomain);
    return withinBounds(domain, report.records, now, async (tx) =>
      (await insertDmarcReport(tx, domain, { report, isParents }, now)) ? "dmarc_report" : "known",
    );
  }
  const { report } = reading;
  const stranger = report.domains.find((name) => !isWithin(name, domain.domain));
  if (stranger !== undefined) return foreign(stranger);
  return withinBounds(domain, 1, now, async (tx) =>
    (await insertTlsReport(tx, domain, report, now)) ? "tls_report" : "known",
  );
}

function withinBounds(
  domain: ReportedDomain,
  records: number,
  now: Date,
  insert: (tx: Queryable) => Promise<string>,
): (tx: Queryable) => Promise<Settled> {
  return async (tx) => {
    const taken = await countNewRecords(tx, domain, new Date(now.getTime() - DAY_MS));
    const isEnough = taken.reports >= MOST_A_DAY.reports || taken.records + records > MOST_A_DAY.records;
    return isEnough
      ? quarantined("the domain has had too many reports in a day")
      : processed(await insert(tx));
  };
}

function foreign(name: string) {
  return async () => quarantined(`a report about another domain: ${storable(name)}`);
}

/** The domain itself or a name below it. */
function isWithin(name: string, domain: string): boolean {
  return name === domain || name.endsWith(`.${domain}`);
}
