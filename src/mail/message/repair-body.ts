/**
 * Repairs the body of a submitted message that violates RFC 5322 or RFC 2045: content with lines beyond 998 octets gets
 * a transfer encoding, and part headers in raw UTF-8 are converted to ASCII. All other octets stay unchanged. Signed or
 * encrypted parts are never changed, because that would break the signature.
 */
import { isAscii } from "node:buffer";
import { asciiField } from "./ascii-header.ts";
import { renderHeaders } from "./encode-header.ts";
import { type GivenField, type HeaderLimits, readHeaderSection, unfold } from "./header-section.ts";
import { readMediaType } from "./media-type.ts";
import type { Octets } from "./octet-pieces.ts";
import { encodeBase64, encodeQuotedPrintable, maxLineLength } from "./transfer-encoding.ts";

/** A body after repair; the caller writes the new transfer encoding into the header. */
export interface RepairedBody {
  readonly octets: Octets;
  /** The new transfer encoding; null if it has not changed. */
  readonly encoding: "quoted-printable" | "base64" | null;
}

/**
 * Limit of octets of one message that may be encoded or folded. The work runs on the event loop, so every other session
 * waits for it.
 */
export class RepairAllowance {
  #left: number;
  #isExceeded = false;

  constructor(most: number) {
    this.#left = most;
  }

  /** Whether a repair was refused because of its size. */
  get isExceeded(): boolean {
    return this.#isExceeded;
  }

  take(octets: number): boolean {
    if (octets > this.#left) {
      this.#isExceeded = true;
      return false;
    }
    this.#left -= octets;
    return true;
  }
}

const maxDepth = 10;
/** Limit of delimiter lines of a multipart; no real message has so many parts. */
const maxDelimiters = 1_000;
const PART_HEADER: HeaderLimits = { octets: 64 * 1024, fields: 200 };
const LF = 10;
const EQUALS = 0x3d;
/** RFC 2045 section 6.7 rule 5 and section 6.8. */
const maxEncodedLine = 76;
const lineBreak = Buffer.from("\r\n");
const OPAQUE = /^(?:multipart\/(?:signed|encrypted)|message\/|application\/(?:x-)?pkcs7-)/;
const PGP_SIGNED = "-----BEGIN PGP SIGNED MESSAGE-----";

/**
 * Returns the repaired body; null if a line is too long and cannot be repaired.
 * @param body lines end with CRLF
 */
export function repairBody(
  fields: readonly GivenField[],
  body: Buffer,
  allowance: RepairAllowance,
  depth = 0,
): RepairedBody | null {
  const asIs: RepairedBody = { octets: [body], encoding: null };
  const { type, boundary } = readMediaType(fields);
  const isLong = hasLongLine(body);
  if (OPAQUE.test(type) || depth > maxDepth) return isLong ? null : asIs;
  if (type.startsWith("multipart/")) {
    if (!isLong && isAscii(body)) return asIs;
    const octets = repairParts(body, boundary, allowance, depth);
    return octets === null ? (isLong ? null : asIs) : { octets, encoding: null };
  }
  if (!isLong) return asIs;
  switch (encodingOf(fields)) {
    case "base64":
      return foldLongLines(body, allowance, { lineEnd: "\r\n", cut: (_, start) => start + maxEncodedLine });
    case "quoted-printable":
      return foldLongLines(body, allowance, { lineEnd: "=\r\n", cut: softBreakIn });
    case "":
    case "7bit":
    case "8bit":
    case "binary":
      if (body.includes(PGP_SIGNED) || !allowance.take(body.length)) return null;
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
 * The start of the first line that is too long, -1 if there is none. It jumps ahead by whole lines, so that millions of
 * empty lines cost little.
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

/** Repairs each part between the delimiter lines (RFC 2046 section 5.1.1); null if that is impossible. */
function repairParts(
  body: Buffer,
  boundary: string | null,
  allowance: RepairAllowance,
  depth: number,
): Octets | null {
  const [first, ...others] = (boundary === null ? null : delimitersOf(body, boundary)) ?? [];
  if (first === undefined) return null;
  const preamble = body.subarray(0, first.end);
  if (hasLongLine(preamble)) return null;
  const octets: (Buffer | Octets)[] = [preamble];
  let written = first.end;
  for (const { start, end } of others) {
    // Two delimiters with an empty part between them share a CRLF, which is already written.
    const partEnd = Math.max(written, start);
    const delimiter = body.subarray(partEnd, end);
    const part = hasLongLine(delimiter)
      ? null
      : repairPart(body.subarray(written, partEnd), allowance, depth);
    if (part === null) return null;
    octets.push(part, delimiter);
    written = end;
  }
  const epilogue = body.subarray(written);
  return hasLongLine(epilogue) ? null : [...octets, epilogue];
}

/** Repairs a part, given without the CRLF that belongs to the delimiter after it. */
function repairPart(part: Buffer, allowance: RepairAllowance, depth: number): Octets | null {
  const section = readHeaderSection(part, PART_HEADER);
  if (!section.ok) return hasLongLine(part) ? null : [part];
  const { fields, bodyStart } = section;
  const header = part.subarray(0, bodyStart);
  const body = repairBody(fields, part.subarray(bodyStart), allowance, depth + 1);
  if (body === null || hasLongLine(header)) return null;
  if (isAscii(header) && body.encoding === null) return [header, body.octets];
  const lines = fields.map(({ name, value, start, end }) => {
    const octets = part.subarray(start, end);
    if (body.encoding !== null && name.toLowerCase() === "content-transfer-encoding") return "";
    const ascii = isAscii(octets) || !allowance.take(octets.length) ? null : asciiField(name, value);
    return ascii === null ? octets : renderHeaders([[name, ascii]]);
  });
  if (body.encoding !== null) lines.push(renderHeaders([["Content-Transfer-Encoding", body.encoding]]));
  return [...lines, lineBreak, body.octets];
}

interface Delimiter {
  /** The offset of the delimiter line with the CRLF before it, and of the next line. */
  readonly start: number;
  readonly end: number;
}

/** The delimiters up to the closing one; if that is missing, the end of the body. Null if there are too many. */
function delimitersOf(body: Buffer, boundary: string): Delimiter[] | null {
  const delimiter = `--${boundary}`;
  const delimiters: Delimiter[] = [];
  const isFirstLine = body.subarray(0, delimiter.length).equals(Buffer.from(delimiter));
  let at = isFirstLine ? 0 : body.indexOf(`\r\n${delimiter}`);
  for (let found = 0; at >= 0; found++) {
    if (found > maxDelimiters) return null;
    const delimiterEnd = at + delimiter.length + (at === 0 && isFirstLine ? 0 : lineBreak.length);
    const lineEnd = body.indexOf(lineBreak, delimiterEnd);
    const end = lineEnd < 0 ? body.length : lineEnd + lineBreak.length;
    const rest = body.toString("latin1", delimiterEnd, Math.min(end, delimiterEnd + 100)).trimEnd();
    if (rest === "" || rest === "--") delimiters.push({ start: at, end });
    if (rest === "--") return delimiters;
    // If a part is empty, the CRLF at the end of one delimiter is also the one before the next.
    at = body.indexOf(`\r\n${delimiter}`, Math.max(delimiterEnd, end - lineBreak.length));
  }
  return delimiters.length === 0 ? [] : [...delimiters, { start: body.length, end: body.length }];
}

function encodingOf(fields: readonly GivenField[]): string {
  const value = fields.find(({ name }) => /^content-transfer-encoding$/i.test(name))?.value ?? "";
  return unfold(value).toLowerCase();
}

interface Folding {
  /** Written at each break of a line. */
  readonly lineEnd: "\r\n" | "=\r\n";
  /** The offset at which the line that begins at `start` is broken, if it has more than 76 octets. */
  readonly cut: (octets: Buffer, start: number) => number;
}

/** Breaks only the lines that are too long. Decoders ignore these breaks. */
function foldLongLines(body: Buffer, allowance: RepairAllowance, folding: Folding): RepairedBody | null {
  const octets: Buffer[] = [];
  let written = 0;
  for (let at = longLineFrom(body, 0); at >= 0; at = longLineFrom(body, written)) {
    const found = body.indexOf(lineBreak, at);
    const end = found < 0 ? body.length : found;
    if (!allowance.take(end - at)) return null;
    octets.push(body.subarray(written, at), foldLine(body.subarray(at, end), folding));
    written = end;
    // longLineFrom() expects the beginning of a line.
    if (found >= 0) {
      octets.push(lineBreak);
      written += lineBreak.length;
    }
  }
  return { octets: [...octets, body.subarray(written)], encoding: null };
}

function foldLine(line: Buffer, { lineEnd, cut }: Folding): Buffer {
  const shortest = maxEncodedLine - "=XX".length;
  const output = Buffer.allocUnsafe(line.length + Math.ceil(line.length / shortest) * lineEnd.length);
  let written = 0;
  let start = 0;
  while (line.length - start > maxEncodedLine) {
    const end = cut(line, start);
    written += line.copy(output, written, start, end);
    written += output.write(lineEnd, written, "latin1");
    start = end;
  }
  written += line.copy(output, written, start);
  return output.subarray(0, written);
}

/** Leaves room for the "=" of a soft line break, and keeps escapes whole (RFC 2045 section 6.7 rule 5). */
function softBreakIn(line: Buffer, start: number): number {
  const end = start + maxEncodedLine - 1;
  if (line[end - 1] === EQUALS) return end - 1;
  return line[end - 2] === EQUALS ? end - 2 : end;
}
