/**
 * Reads a mail that a machine sent us about one of ours: bounces, complaints, reports. Such mails are often broken, and
 * anybody may send one, so everything is bounded and nothing throws: what cannot be read as MIME (RFC 2045, RFC 2046) is
 * read as text. An own reader, because libraries hide what reports live on: their parts as they were sent.
 */
import { decodeWords } from "postal-mime";
import { textFromHtml } from "#mail/html/body-conversion.ts";
import type { HeaderField } from "#mail/message/header.ts";
import { parseMediaType } from "#mail/message/media-type.ts";
import { decodeHeader, decodeText, needsDecoding } from "./charset.ts";

/** One part of a mail, or the whole of it. */
export interface MailPart {
  /** In the order of the mail, unfolded, values as they were sent. */
  readonly headers: readonly HeaderField[];
  /** Lower case, without parameters: "multipart/report". */
  readonly type: string;
  /** Of Content-Type, names in lower case. */
  readonly parameters: ReadonlyMap<string, string>;
  /** As it was transferred, one character for each octet, lines ending in LF. */
  readonly body: string;
  /** What a multipart holds, or the one mail that a message/rfc822 holds. */
  readonly parts: readonly MailPart[];
}

/** Octets that are read of a mail; what is beyond is taken as not sent. */
export const lenientMimeLimit = 1024 * 1024;
const maxDepth = 10;
/** Parts of a mail that are read, in the order of partRank() where there are more. */
const maxParts = 200;
/** Pieces of a multipart that are looked at to choose those parts. */
const maxPieces = 5_000;
/** Parts that are read before the mails that a report carries: the words of people and programs come first. */
const maxLeading = 20;
const maxHeaders = 1_000;
const maxValueLength = 10_000;

const FIELD = /^([!-9;-~]+)[ \t]*:[ \t]*(.*)$/s;
/** A delimiter line that declares itself by the header field of a part after it. */
const UNDECLARED_BOUNDARY = /^--(\S[^\n]*)\n(?:content-|\n)/im;
const REPORT_PART =
  /^content-type[ \t]*:\s*message\/(?:global-|x-)?(?:delivery-status|disposition-notification|feedback-report)/im;
const CARRIED_PART =
  /^content-type[ \t]*:\s*(?:message|multipart)\/|^content-type[ \t]*:\s*text\/rfc822-headers/im;
const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+$/;
const WHOLE_MESSAGES = new Set(["message/rfc822", "message/global"]);

/**
 * Reads a mail. Never throws, and takes time in proportion to what is read.
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

/** The first field of that name, whatever its case; null when there is none. */
export function headerValue({ headers }: Pick<MailPart, "headers">, name: string): string | null {
  const wanted = name.toLowerCase();
  return headers.find(([given]) => given.toLowerCase() === wanted)?.[1] ?? null;
}

/**
 * A field's words as people read them, "" when there is none: RFC 2047, and octets as they are (RFC 6532), in UTF-8 or
 * else in the charset of the part.
 */
export function headerText(part: Pick<MailPart, "headers" | "parameters">, name: string): string {
  const value = headerValue(part, name) ?? "";
  return decodeWords(needsDecoding(value) ? decodeHeader(value, part.parameters.get("charset")) : value);
}

/** The local part of the address in From, "" for the null sender; what a display name or a comment says is no part of it. */
export function senderLocalPart(mail: Pick<MailPart, "headers">): string {
  const from = headerValue(mail, "From") ?? "";
  const open = from.lastIndexOf("<");
  const address = open >= 0 ? from.slice(open + 1).replace(/>.*$/s, "") : from.replace(/\([^()]*\)/g, " ");
  const word = address.trim().split(/\s+/);
  // A phrase without an address names no mailbox.
  const only = word.length === 1 ? word[0] : word.find((one) => one.includes("@"));
  return (only ?? "").replace(/\\?@.*$/s, "").replace(/^["']|["']$/g, "");
}

/** What stands in angle brackets, "" for the null sender; undefined where nothing does. */
export function inBrackets(value: string): string | undefined {
  return /<([^<>]*)>/.exec(value)?.[1]?.trim();
}

/**
 * A field's value without its comments, nested ones included (RFC 5322 section 3.2.2). Quoted strings stay as they are; a
 * value whose parentheses do not close stays whole.
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

/** The content in octets, its transfer encoding undone (RFC 2045 section 6). */
export function partOctets({ headers, body }: Pick<MailPart, "headers" | "body">): Buffer {
  const encoding = withoutComments(headerValue({ headers }, "Content-Transfer-Encoding") ?? "").toLowerCase();
  if (/^"?base64/.test(encoding)) return fromBase64(body);
  return Buffer.from(encoding === "quoted-printable" ? fromQuotedPrintable(body) : body, "latin1");
}

/** The content as text: HTML as its words, other charsets than the declared one as charset.ts says. */
export function partText(part: MailPart): string {
  const text = decodeText(partOctets(part), part.parameters.get("charset"));
  return part.type === "text/html" ? textFromHtml(text) : text;
}

/** The part and all that it holds, in order, but nothing of the mails it carries. */
export function* ownParts(part: MailPart): Generator<MailPart> {
  yield part;
  if (!part.type.startsWith("multipart/")) return;
  for (const child of part.parts) yield* ownParts(child);
}

/**
 * The header fields at the beginning of a text, and where the text goes on after them. Lines that are no fields are
 * passed over, unless the first is none: then there is no header.
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

/** The end of the field that begins here, with the lines it is folded into. */
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
  // A multipart that is not divided is a text whose header is wrong.
  if (pieces.length === 0) return { ...part, type: "text/plain", parts: [] };
  const ranked = pieces
    .map((piece, at) => ({ piece, at, rank: partRank(piece, at) }))
    .sort((one, other) => one.rank - other.rank);
  const read: { at: number; part: MailPart }[] = [];
  ranked.forEach(({ piece, at }, place) => {
    if (budget.left <= 0) return;
    // A multipart leaves something to the parts behind it: two for each, because a carried mail is one itself.
    const kept = Math.min(2 * (ranked.length - place - 1), maxLeading, budget.left - 1);
    budget.left -= kept;
    read.push({ at, part: readPart(piece, depth + 1, budget) });
    budget.left += kept;
  });
  return { ...part, parts: read.sort((one, other) => one.at - other.at).map((one) => one.part) };
}

/** Which parts are read first where a mail has too many: reports for programs, the first texts, carried mails, the rest. */
function partRank(piece: string, at: number): number {
  const end = piece.indexOf("\n\n");
  const header = piece.slice(0, Math.min(end < 0 ? maxValueLength : end, maxValueLength));
  if (REPORT_PART.test(header)) return 0;
  if (at < maxLeading) return 1;
  return CARRIED_PART.test(header) ? 2 : 3;
}

/** The texts between delimiter lines (RFC 2046 section 5.1.1); the last need not be closed. */
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

/** Characters that do not belong to Base64 are ignored (RFC 2045 section 6.8); behind padding, another piece may follow. */
function fromBase64(body: string): Buffer {
  const pieces = body.replace(/[^A-Za-z0-9+/=]+/g, "").split(/=+/);
  return Buffer.concat(pieces.map((piece) => Buffer.from(piece, "base64")));
}

function fromQuotedPrintable(body: string): string {
  // Line by line, because a search for blanks at line ends takes the square of their number.
  const lines = body.split("\n").map((line) => line.trimEnd());
  return lines
    .join("\n")
    .replace(/=\n/g, "")
    .replace(/=([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
