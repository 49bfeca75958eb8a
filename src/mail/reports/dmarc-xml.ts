/**
 * Parses the XML of DMARC reports into a tree of elements, with names in lower case and without namespaces. All limits
 * are checked before the parser runs. Text after the last report is ignored. If a report is truncated, the records
 * before the cut are kept.
 */
import { XMLParser } from "fast-xml-parser";
import { maxReportsOfDocument, ReportRefused } from "./report-documents.ts";

/** The children of an element by name; an element without children is its text. */
export interface XmlNode {
  readonly [name: string]: readonly (XmlNode | string)[];
}

export interface DmarcXml {
  /** One element for each report. */
  readonly roots: readonly XmlNode[];
  /** The last report has no end tag. */
  readonly isCutOff: boolean;
  /** There are more reports than in `roots`. */
  readonly hasMore: boolean;
}

/** Why a record is unreadable. "cut_off": the report ends inside it. */
export type RecordFault = "bad_count" | "bad_source_ip" | "cut_off";

export type DmarcRefusal =
  | RecordFault
  | "document_type"
  | "malformed"
  | "too_large"
  | "too_many_records"
  | "too_many_in_mail"
  | "missing_field"
  | "bad_date";

export class DmarcRefused extends ReportRefused<DmarcRefusal> {}

/** Limit of tags, including end tags; a record has about fifty. */
const maxTags = 600_000;
/** Limit of characters between two tags; for longer gaps the parser needs quadratic time. */
const maxGap = 16 * 1024;
/** Limit of processing instructions. */
const maxInstructions = 3;
const RECORD = /<(?:[\w-]+:)?record[\s/>]/gi;
const ROOT = /<((?:[\w-]+:)?feedback)[\s>]/gi;
const ROOT_END = /<\/(?:[\w-]+:)?feedback\s*>/gi;
const RECORD_END = /<\/(?:[\w-]+:)?record\s*>/gi;
const DECLARATION = /<\?xml\s[^<>]{0,200}\?>/gi;

/** @throws DmarcRefused, or the parser's error */
export function parseDmarcXml(xml: string, mostRecords: number): DmarcXml {
  if (/<!(?:doctype|entity)/i.test(xml)) throw new DmarcRefused("document_type");
  let records = 0;
  for (const _ of xml.matchAll(RECORD))
    if (++records > mostRecords) throw new DmarcRefused("too_many_records");
  if (isUnlikely(xml)) throw new DmarcRefused("too_large");
  const { text, isCutOff } = withoutRest(xml);
  // Each of several reports in one document has a declaration.
  const bare = text.replace(DECLARATION, "");
  if (bare.split("<?", maxInstructions + 2).length > maxInstructions + 1) throw new DmarcRefused("malformed");
  const parser = new XMLParser({
    ignoreAttributes: true,
    removeNSPrefix: true,
    processEntities: false,
    parseTagValue: false,
    transformTagName: (name) => name.toLowerCase(),
    isArray: () => true,
  });
  const document: XmlNode = parser.parse(bare);
  const roots = Object.hasOwn(document, "feedback") ? (document.feedback ?? []) : [];
  const all = roots.filter((root) => typeof root !== "string");
  if (all.length === 0) throw new DmarcRefused("malformed");
  const hasMore = all.length > maxReportsOfDocument;
  return { roots: all.slice(0, maxReportsOfDocument), isCutOff: isCutOff && !hasMore, hasMore };
}

/** Removes text after the last report, or after the last record of a truncated report. */
function withoutRest(xml: string): { readonly text: string; readonly isCutOff: boolean } {
  const end = lastMatch(xml, ROOT_END);
  const begin = lastMatch(xml, ROOT);
  if (begin === null) throw new DmarcRefused("malformed");
  if (end !== null && end.index > begin.index) {
    return { text: xml.slice(0, end.index + end[0].length), isCutOff: false };
  }
  const record = lastMatch(xml, RECORD_END);
  if (record === null || record.index < begin.index) throw new DmarcRefused("malformed");
  return { text: `${xml.slice(0, record.index + record[0].length)}</${begin[1]}>`, isCutOff: true };
}

function lastMatch(text: string, pattern: RegExp): RegExpExecArray | null {
  let last: RegExpExecArray | null = null;
  for (const match of text.matchAll(pattern)) last = match;
  return last;
}

/** Whether a document has more tags, or longer gaps, than a report can have. */
function isUnlikely(xml: string): boolean {
  let tags = 0;
  for (let at = -1, next = 0; next >= 0; at = next, tags++) {
    next = xml.indexOf("<", at + 1);
    if (tags > maxTags || (next < 0 ? xml.length : next) - at > maxGap) return true;
  }
  return false;
}
