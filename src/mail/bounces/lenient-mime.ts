/**
 * Parses bounces, complaints and reports as MIME (RFC 2045, RFC 2046). Such mails are often malformed, and anyone can
 * send one, so all sizes are limited and nothing throws: what is not valid MIME is read as text.
 * Why not postal-mime: it returns decoded texts and attachments and hides what reports depend on, the raw parts with
 * their header fields in order. Why not message/header-section.ts: that parser is strict, because it decides whether a
 * submitted message is accepted.
 */
import { decodeWords } from "postal-mime";
import { textFromHtml } from "#mail/html/body-conversion.ts";
import type { HeaderField } from "#mail/message/encode-header.ts";
import { parseMediaType } from "#mail/message/media-type.ts";
import { decodeHeader, decodeText, needsDecoding } from "./charset.ts";

/** One part of a mail, or the whole mail. */
export interface MailPart {
  /** In the order of the mail, unfolded, otherwise unchanged. */
  readonly headers: readonly HeaderField[];
  /** Lower case, without parameters: "multipart/report". */
  readonly type: string;
  /** The parameters of Content-Type, with names in lower case. */
  readonly parameters: ReadonlyMap<string, string>;
  /** The encoded body as latin1, with lines ending in LF. */
  readonly body: string;
  /** The parts of a multipart, or the one mail in a message/rfc822. */
  readonly parts: readonly MailPart[];
}

/** Limit of a mail in octets; the rest is ignored. */
export const lenientMimeLimit = 1024 * 1024;
const maxDepth = 10;
/** Limit of parts that are read; partRank() decides which ones. */
const maxParts = 200;
/** Limit of parts of a multipart that are ranked. */
const maxPieces = 5_000;
/** Parts that are read before the mails that a report contains, because texts and status parts come first. */
const maxLeading = 20;
const maxHeaders = 1_000;
const maxValueLength = 10_000;

const FIELD = /^([!-9;-~]+)[ \t]*:[ \t]*(.*)$/s;
/** A delimiter line, recognized by the header field of the part after it. */
const UNDECLARED_BOUNDARY = /^--(\S[^\n]*)\n(?:content-|\n)/im;
const REPORT_PART =
  /^content-type[ \t]*:\s*message\/(?:global-|x-)?(?:delivery-status|disposition-notification|feedback-report)/im;
const CARRIED_PART =
  /^content-type[ \t]*:\s*(?:message|multipart)\/|^content-type[ \t]*:\s*text\/rfc822-headers/im;
const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+$/;
const WHOLE_MESSAGES = new Set(["message/rfc822", "message/global"]);

/**
 * Parses a mail. Never throws; the time is linear in what is read.
 * @param limit octets that are read at most
 */
export function readMime(raw: Uint8Array, limit: number = lenientMimeLimit): MailPart {
  const octets = Buffer.from(raw.buffer, raw.byteOffset, Math.min(raw.byteLength, limit));
  const source = octets
    .toString("latin1")
    .replace(/\r\n?/g, "\n")
    .replace(/^\n+|^(?:From |>From )[^\n]*\n/, "");
  return readPart(source, 0, { left: maxParts });
}

/** The value of the first field with that name in any case; null if there is none. */
export function headerValue({ headers }: Pick<MailPart, "headers">, name: string): string | null {
  const wanted = name.toLowerCase();
  return headers.find(([given]) => given.toLowerCase() === wanted)?.[1] ?? null;
}

/**
 * The decoded text of a field, "" if there is none: encoded-words (RFC 2047), or raw octets (RFC 6532) in UTF-8 or else
 * in the charset of the part.
 */
export function headerText(part: Pick<MailPart, "headers" | "parameters">, name: string): string {
  const value = headerValue(part, name) ?? "";
  return decodeWords(needsDecoding(value) ? decodeHeader(value, part.parameters.get("charset")) : value);
}

/** The local part of the address in From, "" for the null sender; display name and comments are ignored. */
export function senderLocalPart(mail: Pick<MailPart, "headers">): string {
  const from = headerValue(mail, "From") ?? "";
  const open = from.lastIndexOf("<");
  const address = open >= 0 ? from.slice(open + 1).replace(/>.*$/s, "") : from.replace(/\([^()]*\)/g, " ");
  const word = address.trim().split(/\s+/);
  // A phrase without an address has no mailbox.
  const only = word.length === 1 ? word[0] : word.find((one) => one.includes("@"));
  return (only ?? "").replace(/\\?@.*$/s, "").replace(/^["']|["']$/g, "");
}

/** The content of angle brackets, "" for the null sender; undefined without brackets. */
export function inBrackets(value: string): string | undefined {
  return /<([^<>]*)>/.exec(value)?.[1]?.trim();
}

/**
 * A value without its comments, also nested ones (RFC 5322 section 3.2.2). Quoted strings are kept. A value with
 * unbalanced parentheses is returned whole.
 */
export function withoutComments(value: string): string {
  let kept = "";
  let depth = 0;
  let isQuoted = false;
  for (let at = 0; at < value.length; at++) {
    const character = value[at] ?? "";
    const isOutside = depth === 0;
    if (character === "\\") {
      if (isOutside) kept += value.slice(at, at + 2);
      at++;
      continue;
    }
    if (isOutside && character === '"') isQuoted = !isQuoted;
    if (!isQuoted && character === "(") depth++;
    if (depth === 0) kept += character;
    if (!isQuoted && character === ")" && depth > 0 && --depth === 0) kept += " ";
  }
  return depth > 0 ? value : kept.replace(/\s+/g, " ").trim();
}

/** The content without its transfer encoding (RFC 2045 section 6). */
export function partOctets({ headers, body }: Pick<MailPart, "headers" | "body">): Buffer {
  const encoding = withoutComments(headerValue({ headers }, "Content-Transfer-Encoding") ?? "").toLowerCase();
  if (/^"?base64/.test(encoding)) return fromBase64(body);
  return Buffer.from(encoding === "quoted-printable" ? fromQuotedPrintable(body) : body, "latin1");
}

/** The content as text. HTML is converted; a wrong charset is handled by charset.ts. */
export function partText(part: MailPart): string {
  const text = decodeText(partOctets(part), part.parameters.get("charset"));
  return part.type === "text/html" ? textFromHtml(text) : text;
}

/** The part and all parts inside it in order, but not those of attached mails. */
export function* ownParts(part: MailPart): Generator<MailPart> {
  yield part;
  if (!part.type.startsWith("multipart/")) return;
  for (const child of part.parts) yield* ownParts(child);
}

/**
 * The header fields at the beginning of a text, and the offset after them. Lines that are not fields are skipped; if
 * the first line is not a field, there is no header.
 */
export function readFields(source: string): { headers: HeaderField[]; end: number } {
  const headers: HeaderField[] = [];
  let start = 0;
  while (start < source.length && source[start] !== "\n" && headers.length < maxHeaders) {
    const end = endOfField(source, start);
    const [, name = "", value = ""] =
      FIELD.exec(source.slice(start, Math.min(end, start + maxValueLength))) ?? [];
    if (name !== "") headers.push([name, value.replace(/\n[ \t]*/g, " ").trim()]);
    else if (start === 0) return { headers, end: 0 };
    start = end + 1;
  }
  const blank = source[start] === "\n" ? start + 1 : start;
  return { headers, end: Math.min(headers.length < maxHeaders ? blank : source.length, source.length) };
}

/** The end of a field, including its folded lines. */
function endOfField(source: string, start: number): number {
  let end = start;
  do {
    end = source.indexOf("\n", end + 1);
    if (end < 0) return source.length;
  } while (source[end + 1] === " " || source[end + 1] === "\t");
  return end;
}

function readPart(source: string, depth: number, budget: { left: number }): MailPart {
  budget.left--;
  const { headers, end } = readFields(source);
  const body = source.slice(end);
  const declared = parseMediaType(withoutComments(headerValue({ headers }, "Content-Type") ?? ""));
  const { parameters } = declared;
  const type = MEDIA_TYPE.test(declared.type) ? declared.type : "text/plain";
  const part = { headers, type, parameters, body };
  if (depth === maxDepth) return { ...part, parts: [] };
  if (WHOLE_MESSAGES.has(type) && budget.left > 0) {
    const carried = partOctets(part).toString("latin1").replace(/\r\n?/g, "\n").replace(/^\n+/, "");
    return { ...part, parts: [readPart(carried, depth + 1, budget)] };
  }
  if (!type.startsWith("multipart/")) return { ...part, parts: [] };
  const pieces = piecesOf(body, parameters.get("boundary"), maxPieces);
  // A multipart without delimiters is a text with a wrong header.
  if (pieces.length === 0) return { ...part, type: "text/plain", parts: [] };
  const ranked = pieces
    .map((piece, at) => ({ piece, at, rank: partRank(piece, at) }))
    .sort((one, other) => one.rank - other.rank);
  const read: { at: number; part: MailPart }[] = [];
  ranked.forEach(({ piece, at }, place) => {
    if (budget.left <= 0) return;
    // A multipart leaves budget to its later siblings: two parts each, because an attached mail is two.
    const kept = Math.min(2 * (ranked.length - place - 1), maxLeading, budget.left - 1);
    budget.left -= kept;
    read.push({ at, part: readPart(piece, depth + 1, budget) });
    budget.left += kept;
  });
  return { ...part, parts: read.sort((one, other) => one.at - other.at).map((one) => one.part) };
}

/**
 * The order in which parts are read if there are too many: machine-readable reports, the first texts, attached mails,
 * the rest.
 */
function partRank(piece: string, at: number): number {
  const end = piece.indexOf("\n\n");
  const header = piece.slice(0, Math.min(end < 0 ? maxValueLength : end, maxValueLength));
  if (REPORT_PART.test(header)) return 0;
  if (at < maxLeading) return 1;
  return CARRIED_PART.test(header) ? 2 : 3;
}

/** The parts between delimiter lines (RFC 2046 section 5.1.1); the last one need not be closed. */
function piecesOf(body: string, declared: string | undefined, most: number): string[] {
  const boundary =
    declared !== undefined && `\n${body}`.includes(`\n--${declared}`) ? declared : undeclared(body);
  if (boundary === undefined) return [];
  const delimiter = `\n--${boundary}`;
  const text = `\n${body}`;
  const pieces: string[] = [];
  let at = text.indexOf(delimiter);
  while (at >= 0 && pieces.length < most && !text.startsWith("--", at + delimiter.length)) {
    const lineEnd = text.indexOf("\n", at + delimiter.length);
    if (lineEnd < 0) break;
    at = text.indexOf(delimiter, lineEnd);
    pieces.push(text.slice(lineEnd + 1, at < 0 ? undefined : at));
  }
  return pieces;
}

function undeclared(body: string): string | undefined {
  return UNDECLARED_BOUNDARY.exec(body)?.[1]?.trimEnd();
}

/** Characters outside of Base64 are ignored (RFC 2045 section 6.8); more data may follow padding. */
function fromBase64(body: string): Buffer {
  const pieces = body.replace(/[^A-Za-z0-9+/=]+/g, "").split(/=+/);
  return Buffer.concat(pieces.map((piece) => Buffer.from(piece, "base64")));
}

function fromQuotedPrintable(body: string): string {
  // Line by line, because searching blanks at line ends needs quadratic time.
  const lines = body.split("\n").map((line) => line.trimEnd());
  return lines
    .join("\n")
    .replace(/=\n/g, "")
    .replace(/=([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
