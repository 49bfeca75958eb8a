/**
 * DMARC aggregate reports (RFC 7489 appendix C, RFC 9990): what receivers saw of mails that claim a domain. Both shapes
 * are read, with and without the new one's namespace. Written by strangers, so that nothing in it is believed: no DTD, no
 * entities of its own, sizes and numbers within limits. A refusal is a value, for it is counted and shown.
 */
import { isIP } from "node:net";
import { XMLParser } from "fast-xml-parser";
import { decodeEntities } from "../html/entities.ts";
import { type ReportAttachment, ReportRefused, reportAttachment } from "./report-attachment.ts";

export interface DmarcReport {
  readonly orgName: string;
  readonly email: string | null;
  readonly extraContactInfo: string | null;
  /** Unique only together with `orgName` and the policy's domain. */
  readonly reportId: string;
  readonly begin: Date;
  readonly end: Date;
  readonly errors: readonly string[];
  /** The program that wrote it (RFC 9990). */
  readonly generator: string | null;
  readonly policy: DmarcPublishedPolicy;
  readonly rows: readonly DmarcRow[];
  /** The sum of the rows' counts. */
  readonly messages: number;
}

/** The record as the receiver found it; null where it says nothing. */
export interface DmarcPublishedPolicy {
  /** Lower case. */
  readonly domain: string;
  readonly adkim: string | null;
  readonly aspf: string | null;
  readonly p: string | null;
  readonly sp: string | null;
  readonly np: string | null;
  /** Percent, of RFC 7489 only. */
  readonly pct: number | null;
  readonly fo: string | null;
  readonly testing: string | null;
  readonly discoveryMethod: string | null;
}

/** Mails of one source with the same results. */
export interface DmarcRow {
  readonly sourceIp: string;
  readonly count: number;
  /** "none", "quarantine", "reject", and "pass" in RFC 9990. */
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

export interface DmarcAuthResult {
  readonly domain: string;
  /** The key's selector, for DKIM. */
  readonly selector: string | null;
  /** "mfrom" or "helo", for SPF. */
  readonly scope: string | null;
  readonly result: string;
}

export type DmarcRefusal =
  | Extract<ReportAttachment, { ok: false }>["reason"]
  | "document_type"
  | "malformed"
  | "too_many_records"
  | "missing_field"
  | "bad_date"
  | "bad_count"
  | "bad_source_ip";

export type DmarcReading =
  | { readonly ok: true; readonly report: DmarcReport }
  | { readonly ok: false; readonly reason: DmarcRefusal };

/** The largest receivers send some thousand; more than this would stop everything else for seconds. */
export const dmarcRecordLimit = 10_000;
/** Octets of the XML: what ten thousand records take, and some more. */
export const dmarcReportLimit = 16 * 1024 * 1024;
/** Tags, those that end an element included; a record has about fifty. */
const maxTags = 600_000;
/** Characters between the beginnings of two tags; for longer ones the parser takes the square of their number. */
const maxGap = 16 * 1024;
/** Of the XML declaration's kind. */
const maxInstructions = 3;
const maxCount = 1_000_000_000;
const maxResults = 20;
const maxTextLength = 500;
const maxDomainLength = 253;
const LAST_SECOND = Date.UTC(2100, 0, 1) / 1_000;
const RECORD = /<(?:[\w-]+:)?record[\s/>]/g;
/** A comment ends in one place only: with `.*?` there were two ways to read each pair of them. */
const END = /<\/(?:[\w-]+:)?feedback\s*>(?:\s|<!--(?:(?!-->).)*-->)*$/s;

interface XmlNode {
  readonly [name: string]: readonly (XmlNode | string)[];
}

class Refused extends ReportRefused<DmarcRefusal> {}

/** Reads a mail as it was received, or an attachment's content: XML, gzip or zip. Never throws. */
export function readDmarcReport(raw: Uint8Array): DmarcReading {
  const attachment = reportAttachment(
    raw,
    /^<(?:\?xml|!--|!doctype|(?:[\w-]+:)?feedback)/i,
    dmarcReportLimit,
  );
  if (!attachment.ok) return attachment;
  try {
    return { ok: true, report: readReport(parse(attachment.octets)) };
  } catch (error) {
    return { ok: false, reason: error instanceof Refused ? error.reason : "malformed" };
  }
}

function parse(octets: Buffer): XmlNode {
  const xml = new TextDecoder().decode(octets);
  if (xml.split("<?", maxInstructions + 2).length > maxInstructions + 1) throw new Refused("malformed");
  if (/<!(?:doctype|entity)/i.test(xml)) throw new Refused("document_type");
  let records = 0;
  for (const _ of xml.matchAll(RECORD))
    if (++records > dmarcRecordLimit) throw new Refused("too_many_records");
  if (isUnlikely(xml)) throw new Refused("too_large");
  if (!END.test(xml.slice(-2_000))) throw new Refused("malformed");
  const parser = new XMLParser({
    ignoreAttributes: true,
    removeNSPrefix: true,
    processEntities: false,
    parseTagValue: false,
    isArray: () => true,
  });
  const document: XmlNode = parser.parse(xml);
  const root = childOf(document, "feedback");
  if (root === null) throw new Refused("malformed");
  return root;
}

/** Whether a document has more tags, or longer words, than a report can have. */
function isUnlikely(xml: string): boolean {
  let tags = 0;
  for (let at = -1, next = 0; next >= 0; at = next, tags++) {
    next = xml.indexOf("<", at + 1);
    if (tags > maxTags || (next < 0 ? xml.length : next) - at > maxGap) return true;
  }
  return false;
}

function readReport(root: XmlNode): DmarcReport {
  const metadata = childOf(root, "report_metadata");
  const published = childOf(root, "policy_published");
  if (metadata === null || published === null) throw new Refused("missing_field");
  const range = childOf(metadata, "date_range");
  const rows = childrenOf(root, "record").map(readRow);
  const begin = secondsOf(textOf(range, "begin"));
  const end = secondsOf(textOf(range, "end"));
  if (end < begin) throw new Refused("bad_date");
  return {
    orgName: needed(metadata, "org_name"),
    email: textOf(metadata, "email"),
    extraContactInfo: textOf(metadata, "extra_contact_info"),
    reportId: needed(metadata, "report_id"),
    begin: new Date(begin * 1_000),
    end: new Date(end * 1_000),
    errors: textsOf(metadata, "error").slice(0, maxResults),
    generator: textOf(metadata, "generator") ?? textOf(root, "generator"),
    policy: readPolicy(published),
    rows,
    messages: rows.reduce((sum, { count }) => sum + count, 0),
  };
}

function readPolicy(published: XmlNode): DmarcPublishedPolicy {
  const pct = textOf(published, "pct");
  const word = (name: string) => textOf(published, name)?.toLowerCase() ?? null;
  return {
    domain: domainOf(needed(published, "domain")),
    adkim: word("adkim"),
    aspf: word("aspf"),
    p: word("p"),
    sp: word("sp"),
    np: word("np"),
    pct: pct !== null && /^\d{1,3}$/.test(pct) && Number(pct) <= 100 ? Number(pct) : null,
    fo: word("fo"),
    testing: word("testing"),
    discoveryMethod: word("discovery_method"),
  };
}

function readRow(record: XmlNode): DmarcRow {
  const row = childOf(record, "row");
  const identifiers = childOf(record, "identifiers") ?? childOf(record, "identities");
  const evaluated = row && childOf(row, "policy_evaluated");
  const results = childOf(record, "auth_results");
  const sourceIp = textOf(row, "source_ip") ?? "";
  const count = textOf(row, "count") ?? "";
  if (isIP(sourceIp) === 0 || sourceIp.includes("%")) throw new Refused("bad_source_ip");
  if (!/^\d{1,10}$/.test(count) || Number(count) > maxCount) throw new Refused("bad_count");
  const domain = (name: string) => {
    const text = textOf(identifiers, name);
    return text === null ? null : domainOf(text);
  };
  return {
    sourceIp,
    count: Number(count),
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
    domain: domainOf(textOf(result, "domain") ?? ""),
    selector: textOf(result, "selector"),
    scope: wordOf(result, "scope"),
    result: wordOf(result, "result") ?? "none",
  };
}

function secondsOf(text: string | null): number {
  if (text === null || !/^\d{1,10}$/.test(text) || Number(text) > LAST_SECOND) throw new Refused("bad_date");
  return Number(text);
}

function needed(node: XmlNode, name: string): string {
  const text = textOf(node, name);
  if (text === null) throw new Refused("missing_field");
  return text;
}

function domainOf(text: string): string {
  return text.toLowerCase().replace(/\.$/, "").slice(0, maxDomainLength);
}

function wordOf(node: XmlNode | null, name: string): string | null {
  return textOf(node, name)?.toLowerCase() ?? null;
}

function textOf(node: XmlNode | null, name: string): string | null {
  return textsOf(node, name)[0] ?? null;
}

/** The words of the elements of that name, without those that have none. */
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
