/**
 * Parses DMARC aggregate reports (RFC 7489 appendix C, RFC 9990) in both formats, with and without the newer XML
 * namespace. Reports are untrusted: no DTD, no custom entities, limited sizes and numbers. Readable records are kept:
 * unreadable ones are counted by reason, and only a report without any readable record is refused. A refusal is a
 * value, because it is counted and shown.
 */

import { ipAddressIn } from "#mail/find-ip-address.ts";
import { decodeEntities } from "#mail/html/entities.ts";
import {
  type DmarcRefusal,
  DmarcRefused,
  parseDmarcXml,
  type RecordFault,
  type XmlNode,
} from "./dmarc-xml.ts";
import {
  domainIn,
  fileParts,
  idFor,
  inOrder,
  instantOf,
  noHints,
  parseCount,
  type ReportHints,
  reporterOf,
} from "./report-values.ts";

/** A parsed aggregate report. */
export interface DmarcReport {
  readonly orgName: string;
  readonly email: string | null;
  readonly extraContactInfo: string | null;
  /** Unique only together with `orgName` and the policy's domain. */
  readonly reportId: string;
  readonly begin: Date;
  readonly end: Date;
  readonly errors: readonly string[];
  /** The program that wrote the report (RFC 9990). */
  readonly generator: string | null;
  readonly policy: DmarcPublishedPolicy;
  readonly rows: readonly DmarcRow[];
  /** The sum of the rows' counts. */
  readonly messages: number;
  /** Unreadable records by reason. */
  readonly unread: readonly UnreadRecords<RecordFault>[];
}

/** The number of records that are unreadable for one reason. */
export interface UnreadRecords<Reason extends string = string> {
  readonly reason: Reason;
  readonly records: number;
}

/** The DMARC record as the receiver found it; null for missing values. */
export interface DmarcPublishedPolicy {
  /** Lower case. */
  readonly domain: string;
  readonly adkim: string | null;
  readonly aspf: string | null;
  readonly p: string | null;
  readonly sp: string | null;
  readonly np: string | null;
  /** Percent; only in RFC 7489. */
  readonly pct: number | null;
  readonly fo: string | null;
  readonly testing: string | null;
  readonly discoveryMethod: string | null;
}

/** Messages of one source with the same results. */
export interface DmarcRow {
  readonly sourceIp: string;
  readonly count: number;
  /** "none", "quarantine", "reject"; in RFC 9990 also "pass". */
  readonly disposition: string | null;
  /** Aligned results: "pass" or "fail". */
  readonly dkim: string | null;
  readonly spf: string | null;
  readonly reasons: readonly { readonly type: string; readonly comment: string | null }[];
  readonly headerFrom: string;
  readonly envelopeFrom: string | null;
  readonly envelopeTo: string | null;
  readonly dkimResults: readonly DmarcAuthResult[];
  readonly spfResults: readonly DmarcAuthResult[];
}

/** One DKIM or SPF result of a row. */
export interface DmarcAuthResult {
  readonly domain: string;
  /** The selector of a DKIM key. */
  readonly selector: string | null;
  /** "mfrom" or "helo" of an SPF result. */
  readonly scope: string | null;
  readonly result: string;
}

export type DmarcReading =
  | { readonly ok: true; readonly report: DmarcReport }
  | { readonly ok: false; readonly reason: DmarcRefusal };

/** The largest receivers send some thousand records; many more would block the process for seconds. */
export const dmarcRecordLimit = 10_000;
const maxCount = 1_000_000_000;
const maxResults = 20;
const maxTextLength = 500;

/**
 * Parses the text of one report, or of several that follow each other. Never throws.
 * @param most limit of records of all of them together
 */
export function readDmarcReports(
  text: string,
  hints: ReportHints = noHints,
  most = dmarcRecordLimit,
): DmarcReading[] {
  try {
    const { roots, isCutOff, hasMore } = parseDmarcXml(text, most);
    const idOf = (at: number) => idFor(roots.length === 1 ? text : `${at} ${text}`);
    const readings = roots.map((root, at) =>
      refusable(() => readReport(root, hints, idOf(at), isCutOff && at === roots.length - 1)),
    );
    return hasMore ? [...readings, { ok: false, reason: "too_many_in_mail" }] : readings;
  } catch (error) {
    return [{ ok: false, reason: error instanceof DmarcRefused ? error.reason : "malformed" }];
  }
}

function refusable(read: () => DmarcReport): DmarcReading {
  try {
    return { ok: true, report: read() };
  } catch (error) {
    return { ok: false, reason: error instanceof DmarcRefused ? error.reason : "malformed" };
  }
}

function readReport(root: XmlNode, hints: ReportHints, id: string, isCutOff: boolean): DmarcReport {
  const metadata = childOf(root, "report_metadata");
  const { rows, unread } = readRows(elementsOf(root, "record"), isCutOff);
  const { begin, end } = readRange(childOf(metadata ?? root, "date_range") ?? metadata, hints);
  const email = textOf(metadata, "email");
  return {
    orgName: textOf(metadata, "org_name") ?? reporterOf(email, hints),
    email,
    extraContactInfo: textOf(metadata, "extra_contact_info"),
    reportId: textOf(metadata, "report_id") ?? id,
    begin,
    end,
    errors: textsOf(metadata, "error").slice(0, maxResults),
    generator: textOf(metadata, "generator") ?? textOf(root, "generator"),
    policy: readPolicy(childOf(root, "policy_published"), rows, hints),
    rows,
    messages: rows.reduce((sum, { count }) => sum + count, 0),
    unread,
  };
}

function readRange(range: XmlNode | null, hints: ReportHints): { readonly begin: Date; readonly end: Date } {
  const file = fileParts(hints);
  const begin = instantOf(textOf(range, "begin")) ?? instantOf(file.begin);
  const end = instantOf(textOf(range, "end")) ?? instantOf(file.end);
  if (begin === null || end === null) throw new DmarcRefused("bad_date");
  return inOrder(begin, end);
}

/** If the policy is missing, its domain is taken from the file name, or from the records. */
function readPolicy(
  published: XmlNode | null,
  rows: readonly DmarcRow[],
  hints: ReportHints,
): DmarcPublishedPolicy {
  const domain = domainIn(
    textOf(published, "domain") ?? fileParts(hints).domain ?? rows[0]?.headerFrom ?? "",
  );
  if (domain === "") throw new DmarcRefused("missing_field");
  const pct = textOf(published, "pct");
  const word = (name: string) => wordOf(published, name);
  return {
    domain,
    adkim: word("adkim"),
    aspf: word("aspf"),
    p: word("p"),
    sp: word("sp"),
    np: word("np"),
    pct: parseCount(pct, 100),
    fo: word("fo"),
    testing: word("testing"),
    discoveryMethod: word("discovery_method"),
  };
}

/** @throws DmarcRefused if there are records and none of them is readable */
function readRows(
  records: readonly (XmlNode | string)[],
  isCutOff: boolean,
): Pick<DmarcReport, "rows" | "unread"> {
  const rows: DmarcRow[] = [];
  const faults = new Map<RecordFault, number>();
  const count = (fault: RecordFault) => faults.set(fault, (faults.get(fault) ?? 0) + 1);
  for (const record of records) {
    const row = readRow(typeof record === "string" ? {} : record);
    if (typeof row === "string") count(row);
    else rows.push(row);
  }
  if (isCutOff) count("cut_off");
  const [first] = faults.keys();
  if (rows.length === 0 && first !== undefined) throw new DmarcRefused(first);
  return { rows, unread: [...faults].map(([reason, records]) => ({ reason, records })) };
}

function readRow(record: XmlNode): DmarcRow | RecordFault {
  const row = childOf(record, "row");
  const identifiers = childOf(record, "identifiers") ?? childOf(record, "identities");
  const evaluated = row && childOf(row, "policy_evaluated");
  const results = childOf(record, "auth_results");
  const sourceIp = ipAddressIn(textOf(row, "source_ip") ?? "");
  const count = parseCount(textOf(row, "count"), maxCount);
  if (sourceIp === null) return "bad_source_ip";
  if (count === null) return "bad_count";
  const domain = (name: string) => {
    const text = textOf(identifiers, name);
    return text === null ? null : domainIn(text);
  };
  return {
    sourceIp,
    count,
    disposition: wordOf(evaluated, "disposition"),
    dkim: wordOf(evaluated, "dkim"),
    spf: wordOf(evaluated, "spf"),
    reasons: childrenOf(evaluated, "reason")
      .slice(0, maxResults)
      .map((reason) => ({ type: wordOf(reason, "type") ?? "other", comment: textOf(reason, "comment") })),
    headerFrom: domain("header_from") ?? "",
    envelopeFrom: domain("envelope_from"),
    envelopeTo: domain("envelope_to"),
    dkimResults: childrenOf(results, "dkim").slice(0, maxResults).map(readResult),
    spfResults: childrenOf(results, "spf").slice(0, maxResults).map(readResult),
  };
}

function readResult(result: XmlNode): DmarcAuthResult {
  return {
    domain: domainIn(textOf(result, "domain") ?? ""),
    selector: textOf(result, "selector"),
    scope: wordOf(result, "scope"),
    result: wordOf(result, "result") ?? "none",
  };
}

function wordOf(node: XmlNode | null, name: string): string | null {
  return textOf(node, name)?.toLowerCase() ?? null;
}

function textOf(node: XmlNode | null, name: string): string | null {
  return textsOf(node, name)[0] ?? null;
}

/** The texts of the elements with that name, without empty ones. */
function textsOf(node: XmlNode | null, name: string): string[] {
  return elementsOf(node, name).flatMap((element) => {
    const text = typeof element === "string" ? decodeEntities(element).trim().slice(0, maxTextLength) : "";
    return text === "" ? [] : [text];
  });
}

function childOf(node: XmlNode, name: string): XmlNode | null {
  return childrenOf(node, name)[0] ?? null;
}

function childrenOf(node: XmlNode | null, name: string): XmlNode[] {
  return elementsOf(node, name).flatMap((element) => (typeof element === "string" ? [] : [element]));
}

function elementsOf(node: XmlNode | null, name: string): readonly (XmlNode | string)[] {
  return node !== null && Object.hasOwn(node, name) ? (node[name] ?? []) : [];
}
