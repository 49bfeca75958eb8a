/**
 * Finds the reports in a mail (DMARC aggregate reports, TLS reports), or in the content of an attachment. A report is
 * recognized by its content, not by media type or file name.
 */

import { isUtf8 } from "node:buffer";
import iconv from "iconv-lite";
import { decodeWords } from "postal-mime";
import { headerValue, type MailPart, partOctets, readMime } from "#mail/bounces/lenient-mime.ts";
import { InflateBudget } from "./gzip.ts";
import { isPacked, unpack } from "./unpack.ts";
import type { UnpackRefusal } from "./unpack-result.ts";

/** The kind of a report, also of an unreadable one: aggregate reports are XML, TLS reports JSON. */
export type ReportKind = "dmarc" | "tls";

/** The text of one report. */
export interface ReportDocument {
  readonly kind: ReportKind;
  /** The file name. */
  readonly name: string | null;
  readonly text: string;
  /** The archive is truncated: `text` ends at the cut. */
  readonly isCutOff: boolean;
}

/** Why a document is refused. "too_many_in_mail": more reports or parts than are read of one mail. */
export type DocumentRefusal = UnpackRefusal | "no_report" | "too_many_in_mail";

/** A document that is not a readable report, with the reason. */
export interface RefusedDocument<Reason extends string = DocumentRefusal> {
  readonly kind: ReportKind;
  readonly name: string | null;
  readonly reason: Reason;
}

export interface ReportDocuments {
  /** The domain in From; null if there is none, as for the content of an attachment. */
  readonly sender: string | null;
  readonly documents: readonly ReportDocument[];
  readonly refused: readonly RefusedDocument[];
}

/** Thrown inside the parsers to refuse a report. */
export class ReportRefused<Reason extends string> extends Error {
  readonly reason: Reason;
  constructor(reason: Reason) {
    super(reason);
    this.reason = reason;
  }
}

/** Limit of a mail in octets: aggregate reports are larger than bounces (RFC 9990 allows 10 MB). */
export const attachmentMailLimit = 14 * 1024 * 1024;
/** Limit of unpacked octets of a mail; more than ten thousand DMARC records need. */
const reportTextLimit = 16 * 1024 * 1024;
/** Limit of parts of a mail that are read. */
const maxParts = 50;
/** Limit of reports in one document: of a JSON list, or of XML reports that follow each other. */
export const maxReportsOfDocument = 20;
const XML = /^<(?:\?xml|!--|!doctype|(?:[\w-]+:)?feedback)/i;
const JSON_TEXT = /^\s*[{[]/;
/** An unpacked document of a mail is a report only if it contains a name that all reports have. */
const REPORT_WORDS = {
  dmarc: /<(?:[\w-]+:)?feedback[\s>]/i,
  tls: /"(?:policies|date[-_]range|report[-_]id)"/i,
};
const DECLARED = /^\s*<\?xml\s[^>]{0,200}?encoding\s*=\s*["']\s*([\w.:-]{1,40})/;
const WIDE = /^(?:utf|ucs|iso-?10646|unicode|csunicode)[-_]?(?:16|32|2|4|ucs)/i;
/** The first characters of gzip, zip, zlib, XML and JSON in Base64. */
const BASE64_TEXT = /^\s*(?:H4sI|UEsDB|eJ[w-z]|eNo|PD94|PGZlZWRiYWNr|77u\/|\/\/48|eyJ|ewo|ew0K)[\w+/=\s]+$/;

/** The reports of a mail as it was received, or of the content of an attachment. Never throws. */
export function reportDocuments(raw: Uint8Array, limit = reportTextLimit): ReportDocuments {
  const octets = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  const collected = new Collection(limit);
  if (octets.length === 0 || isPacked(octets) || kindOf(octets) !== null) {
    collected.add({ name: null, octets, isDeclaredTls: false, needsWords: false });
    return { sender: null, ...collected.result() };
  }
  const mail = readMime(octets, attachmentMailLimit);
  const leaves = partsWithContent(mail);
  for (const part of leaves.slice(0, maxParts)) collected.add(fileOf(part));
  const [unread] = leaves.slice(maxParts);
  if (unread !== undefined) collected.leaveOut(unread);
  return { sender: senderDomain(mail), ...collected.result() };
}

interface GivenFile {
  readonly name: string | null;
  readonly octets: Buffer;
  readonly isDeclaredTls: boolean;
  readonly needsWords: boolean;
}

/** Collects documents until the limit of unpacked octets is reached. */
class Collection {
  readonly #documents: ReportDocument[] = [];
  readonly #refused: RefusedDocument[] = [];
  readonly #budget: InflateBudget;

  constructor(limit: number) {
    this.#budget = new InflateBudget(limit);
  }

  add({ name, octets, isDeclaredTls, needsWords }: GivenFile): void {
    const isArchive = isPacked(octets);
    if (!isArchive && needsWords && kindOf(octets) === null) return;
    const guess = (file: string | null) => likelyKind(isDeclaredTls, file ?? name);
    let found = 0;
    for (const file of unpack(octets, this.#budget)) {
      const fileName = file.name ?? name;
      if (!file.ok) {
        this.#refused.push({ kind: guess(fileName), name: fileName, reason: file.reason });
        found++;
        continue;
      }
      const kind = kindOf(file.octets);
      if (kind === null && !file.isCutOff) continue;
      if (kind === null) {
        this.#refused.push({ kind: guess(fileName), name: fileName, reason: "corrupt" });
        found++;
        continue;
      }
      const text = reportText(file.octets);
      if (needsWords && !isArchive && !REPORT_WORDS[kind].test(text)) return;
      if (!isArchive) this.#budget.take(octets.length);
      this.#documents.push({ kind, name: fileName, text, isCutOff: file.isCutOff });
      found++;
    }
    if (found === 0) this.#refused.push({ kind: guess(null), name, reason: "no_report" });
  }

  /** Records that the mail has more parts than the limit; `part` is the first of them. */
  leaveOut(part: MailPart): void {
    this.#refused.push({
      kind: likelyKind(isDeclaredTls(part), nameOf(part)),
      name: null,
      reason: "too_many_in_mail",
    });
  }

  result(): Pick<ReportDocuments, "documents" | "refused"> {
    const isEmpty = this.#documents.length + this.#refused.length === 0;
    const none: RefusedDocument = { kind: "dmarc", name: null, reason: "no_report" };
    return { documents: this.#documents, refused: isEmpty ? [none] : this.#refused };
  }
}

function likelyKind(isDeclared: boolean, name: string | null): ReportKind {
  return isDeclared || /\.json(?:\.gz)?$/i.test(name ?? "") ? "tls" : "dmarc";
}

function isDeclaredTls({ type }: MailPart): boolean {
  return /tlsrpt/i.test(type);
}

function kindOf(octets: Buffer): ReportKind | null {
  const beginning = beginningOf(octets).replace(/^[\s\0]+/, "");
  return XML.test(beginning) ? "dmarc" : JSON_TEXT.test(beginning) ? "tls" : null;
}

function fileOf(part: MailPart): GivenFile {
  const given = partOctets(part);
  const isUnmarkedBase64 = !isPacked(given) && BASE64_TEXT.test(part.body);
  const octets = isUnmarkedBase64 ? Buffer.from(part.body, "base64") : given;
  return { name: nameOf(part), octets, isDeclaredTls: isDeclaredTls(part), needsWords: true };
}

/** The file name of a part (RFC 2183, RFC 2231), or the name parameter of its type, which older programs use. */
function nameOf(part: MailPart): string | null {
  const disposition = headerValue(part, "Content-Disposition") ?? "";
  const pieces = [
    ...disposition.matchAll(/;\s*filename(?:\*\d*\*?)?\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]*))/gi),
  ];
  const written = pieces.map(([, quoted, plain = ""]) => quoted ?? plain).join("");
  const name = written === "" ? (part.parameters.get("name") ?? "") : written;
  return decodeWords(name).trim().slice(0, 200) || null;
}

function senderDomain(mail: MailPart): string | null {
  const from = headerValue(mail, "From") ?? "";
  return /@([\w.-]{1,253})[^@]*$/.exec(from)?.[1]?.toLowerCase() ?? null;
}

/**
 * Parts with content, including those of attached mails, because reports are also forwarded: up to the limit, and one
 * more if there are more.
 */
function partsWithContent(mail: MailPart): MailPart[] {
  const leaves: MailPart[] = [];
  const visit = (part: MailPart) => {
    if (leaves.length > maxParts) return;
    if (part.parts.length > 0) for (const child of part.parts) visit(child);
    else if (part.body.trim() !== "") leaves.push(part);
  };
  visit(mail);
  return leaves;
}

/**
 * The text of a report: UTF-8, UTF-16 or UTF-32, with or without a byte order mark, or the charset that an XML
 * declaration names. A declaration that the octets contradict is ignored: some programs declare UTF-16 and write UTF-8.
 */
function reportText(octets: Buffer): string {
  return iconv.decode(octets, encodingOf(octets));
}

/** The first characters, to recognize the kind of text. */
function beginningOf(octets: Buffer): string {
  return iconv.decode(octets.subarray(0, 400), encodingOf(octets.subarray(0, 400)));
}

function encodingOf(octets: Buffer): string {
  const [a, b, c, d] = [octets[0], octets[1], octets[2], octets[3]];
  if (a === 0xff && b === 0xfe) return c === 0 && d === 0 ? "utf-32le" : "utf-16le";
  if (a === 0xfe && b === 0xff) return "utf-16be";
  if (a === 0 && b === 0 && c === 0xfe && d === 0xff) return "utf-32be";
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8";
  // XML and JSON begin with an ASCII character, whose other octets are NUL.
  if (a === 0 && b === 0 && c === 0 && d !== 0) return "utf-32be";
  if (a !== 0 && b === 0) return c === 0 && d === 0 ? "utf-32le" : "utf-16le";
  if (a === 0 && b !== 0) return "utf-16be";
  const declared = DECLARED.exec(octets.toString("latin1", 0, 400))?.[1];
  const isUsable = declared !== undefined && !WIDE.test(declared) && iconv.encodingExists(declared);
  if (isUsable && !/^(?:utf-?8|(?:us-)?ascii)$/i.test(declared)) return declared;
  return isUtf8(octets) ? "utf-8" : "windows-1252";
}
