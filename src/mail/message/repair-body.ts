/**
 * Repairs the body of a message that somebody else composed, where it is not as RFC 5322 and RFC 2045 want it: content
 * with lines beyond 998 octets gets a transfer encoding, and part headers in raw UTF-8 are written in ASCII. All other
 * octets stay as they are. What its author signed is never changed: a signature would no longer fit.
 */
import { isAscii } from "node:buffer";
import { asciiField } from "./ascii-field.ts";
import { renderHeaders } from "./header.ts";
import { type GivenField, type HeaderLimits, readHeaderSection, unfold } from "./header-section.ts";
import type { Octets } from "./octets.ts";
import { encodeBase64, encodeQuotedPrintable, maxLineLength } from "./transfer-encoding.ts";

export interface RepairedBody {
  readonly octets: Octets;
  /** The transfer encoding that it has now; null when it has the one it had. */
  readonly encoding: "quoted-printable" | "base64" | null;
}

const maxDepth = 10;
/** Delimiter lines of a multipart: more parts than any mail has. */
const maxDelimiters = 1_000;
const PART_HEADER: HeaderLimits = { octets: 64 * 1024, fields: 200 };
const LF = 10;
const lineBreak = Buffer.from("\r\n");
const OPAQUE = /^(?:multipart\/(?:signed|encrypted)|message\/|application\/(?:x-)?pkcs7-)/;
const PGP_SIGNED = "-----BEGIN PGP SIGNED MESSAGE-----";

/**
 * Null when the body has a line that is too long and cannot be repaired.
 * @param body lines end with CRLF
 */
export function repairBody(fields: readonly GivenField[], body: Buffer, depth = 0): RepairedBody | null {
  const asIs: RepairedBody = { octets: [body], encoding: null };
  const { type, boundary } = mediaTypeOf(fields);
  const isLong = hasLongLine(body);
  if (OPAQUE.test(type) || depth > maxDepth) return isLong ? null : asIs;
  if (type.startsWith("multipart/")) {
    if (!isLong && isAscii(body)) return asIs;
    const octets = repairParts(body, boundary, depth);
    return octets === null ? (isLong ? null : asIs) : { octets, encoding: null };
  }
  if (!isLong) return asIs;
  switch (encodingOf(fields)) {
    case "base64": {
      const octets = rewrapBase64(body);
      return octets && { octets, encoding: null };
    }
    case "quoted-printable":
      return { octets: breakSoftly(body), encoding: null };
    case "":
    case "7bit":
    case "8bit":
    case "binary":
      if (body.includes(PGP_SIGNED)) return null;
      return type.startsWith("text/")
        ? { octets: [encodeQuotedPrintable(body)], encoding: "quoted-printable" }
        : { octets: [encodeBase64(body), lineBreak], encoding: "base64" };
    default:
      return null;
  }
}

/** Whether a line is longer than RFC 5322 section 2.1.1 allows. */
export function hasLongLine(octets: Buffer): boolean {
  return longLineFrom(octets, 0) >= 0;
}

/**
 * Where the first line that is too long begins; -1 when there is none. It leaps from line end to line end, so that
 * millions of empty lines cost little.
 * @param start the beginning of a line
 */
export function longLineFrom(octets: Buffer, start: number): number {
  for (let at = start; at + maxLineLength < octets.length; ) {
    const end = octets.lastIndexOf(LF, at + maxLineLength + 1);
    if (end < at) return at;
    at = end + 1;
  }
  return -1;
}

/** The parts between delimiter lines (RFC 2046 section 5.1.1), each repaired; null when that is not possible. */
function repairParts(body: Buffer, boundary: string | null, depth: number): Octets | null {
  const delimiters = (boundary === null ? null : delimitersOf(body, boundary)) ?? [];
  const [first] = delimiters;
  const last = delimiters.at(-1);
  if (first === undefined || last === undefined) return null;
  const [preamble, epilogue] = [body.subarray(0, first.end), body.subarray(last.start)];
  if (hasLongLine(preamble) || hasLongLine(epilogue)) return null;
  const octets: (Buffer | Octets)[] = [preamble];
  for (const [at, delimiter] of delimiters.slice(0, -1).entries()) {
    const next = delimiters[at + 1] ?? last;
    const part = repairPart(body.subarray(delimiter.end, next.start), depth);
    if (part === null) return null;
    octets.push(part, next === last ? [] : body.subarray(next.start, next.end));
  }
  return [...octets, epilogue];
}

/** A part without the CRLF that belongs to the delimiter behind it. */
function repairPart(part: Buffer, depth: number): Octets | null {
  const section = readHeaderSection(part, PART_HEADER);
  if (!section.ok) return hasLongLine(part) ? null : [part];
  const { fields, bodyStart } = section;
  const header = part.subarray(0, bodyStart);
  const body = repairBody(fields, part.subarray(bodyStart), depth + 1);
  if (body === null || hasLongLine(header)) return null;
  if (isAscii(header) && body.encoding === null) return [header, body.octets];
  const lines = fields.map(({ name, value, start, end }) => {
    const octets = part.subarray(start, end);
    if (body.encoding !== null && name.toLowerCase() === "content-transfer-encoding") return "";
    const ascii = isAscii(octets) ? null : asciiField(name, value);
    return ascii === null ? octets : renderHeaders([[name, ascii]]);
  });
  if (body.encoding !== null) lines.push(renderHeaders([["Content-Transfer-Encoding", body.encoding]]));
  return [...lines, lineBreak, body.octets];
}

interface Delimiter {
  /** Where its line begins, with the CRLF before it, and where the next line begins. */
  readonly start: number;
  readonly end: number;
}

/** Up to the closing one; the body's end stands for one that is missing. Null when there are too many. */
function delimitersOf(body: Buffer, boundary: string): Delimiter[] | null {
  const mark = `--${boundary}`;
  const delimiters: Delimiter[] = [];
  const isFirstLine = body.subarray(0, mark.length).equals(Buffer.from(mark));
  let at = isFirstLine ? 0 : body.indexOf(`\r\n${mark}`);
  for (let found = 0; at >= 0; found++) {
    if (found > maxDelimiters) return null;
    const markEnd = at + mark.length + (at === 0 && isFirstLine ? 0 : lineBreak.length);
    const lineEnd = body.indexOf(lineBreak, markEnd);
    const end = lineEnd < 0 ? body.length : lineEnd + lineBreak.length;
    const rest = body.toString("latin1", markEnd, Math.min(end, markEnd + 100)).trimEnd();
    if (rest === "" || rest === "--") delimiters.push({ start: at, end });
    if (rest === "--") return delimiters;
    // The CRLF at the end of one delimiter is the one before the next, when a part is empty.
    at = body.indexOf(`\r\n${mark}`, Math.max(markEnd, end - lineBreak.length));
  }
  return delimiters.length === 0 ? [] : [...delimiters, { start: body.length, end: body.length }];
}

function mediaTypeOf(fields: readonly GivenField[]): {
  readonly type: string;
  readonly boundary: string | null;
} {
  const value = unfold(fields.find(({ name }) => /^content-type$/i.test(name))?.value ?? "");
  const type = value.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const [, quoted, plain] = /;\s*boundary\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/i.exec(value) ?? [];
  return { type: type || "text/plain", boundary: quoted?.replace(/\\(.)/g, "$1") ?? plain ?? null };
}

function encodingOf(fields: readonly GivenField[]): string {
  const value = fields.find(({ name }) => /^content-transfer-encoding$/i.test(name))?.value ?? "";
  return unfold(value).toLowerCase();
}

/** Base64 in lines of 76 characters; null when it is not one piece of Base64. */
function rewrapBase64(body: Buffer): Octets | null {
  const content = Buffer.from(body.toString("latin1"), "base64");
  const characters = body.reduce((count, octet) => (isBase64(octet) ? count + 1 : count), 0);
  return Math.floor((characters * 3) / 4) === content.length ? [encodeBase64(content), lineBreak] : null;
}

function isBase64(octet: number): boolean {
  return (
    (octet >= 0x41 && octet <= 0x5a) ||
    (octet >= 0x61 && octet <= 0x7a) ||
    (octet >= 0x2f && octet <= 0x39) ||
    octet === 0x2b
  );
}

/** Quoted-printable with soft line breaks in the lines that are too long (RFC 2045 section 6.7 rule 5). */
function breakSoftly(body: Buffer): Octets {
  const pieces: (Buffer | string)[] = [];
  let written = 0;
  for (let at = longLineFrom(body, 0); at >= 0; at = longLineFrom(body, written)) {
    const found = body.indexOf(lineBreak, at);
    const end = found < 0 ? body.length : found + lineBreak.length;
    const line = body.toString("latin1", at, found < 0 ? end : found);
    const broken = (line.match(/(?:=[\dA-F]{2}|[^=]|=){1,25}/gi) ?? []).join("=\r\n");
    pieces.push(body.subarray(written, at), broken, found < 0 ? "" : lineBreak);
    written = end;
  }
  return [...pieces, body.subarray(written)];
}
