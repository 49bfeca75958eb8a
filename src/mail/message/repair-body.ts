/**
 * Repairs the body of a message that somebody else composed, where it is not as RFC 5322 and RFC 2045 want it: content
 * with lines beyond 998 octets gets a transfer encoding, and part headers in raw UTF-8 are written in ASCII. All other
 * octets stay as they are. What its author signed is never changed: a signature would no longer fit.
 */
import { isAscii } from "node:buffer";
import { asciiField } from "./ascii-header.ts";
import { renderHeaders } from "./header.ts";
import { type GivenField, type HeaderLimits, readHeaderSection, unfold } from "./header-section.ts";
import { readMediaType } from "./media-type.ts";
import type { Octets } from "./octets.ts";
import { encodeBase64, encodeQuotedPrintable, maxLineLength } from "./transfer-encoding.ts";

export interface RepairedBody {
  readonly octets: Octets;
  /** The transfer encoding that it has now; null when it has the one it had. */
  readonly encoding: "quoted-printable" | "base64" | null;
}

/**
 * How many octets of one message may be encoded or folded. All of this runs on the event loop, so that every other
 * session waits for it.
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
/** Delimiter lines of a multipart: more parts than any mail has. */
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
 * Null when the body has a line that is too long and cannot be repaired.
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
    // Two delimiters with an empty part between them share a CRLF, which is written already.
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

/** A part without the CRLF that belongs to the delimiter behind it. */
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

function encodingOf(fields: readonly GivenField[]): string {
  const value = fields.find(({ name }) => /^content-transfer-encoding$/i.test(name))?.value ?? "";
  return unfold(value).toLowerCase();
}

interface Folding {
  /** What is written where a line is broken. */
  readonly lineEnd: "\r\n" | "=\r\n";
  /** Where the line that begins at `start` is broken, when it has more than 76 octets. */
  readonly cut: (octets: Buffer, start: number) => number;
}

/** Breaks the lines that are too long, and no others: decoders do not see these breaks. */
function foldLongLines(body: Buffer, allowance: RepairAllowance, folding: Folding): RepairedBody | null {
  const octets: Buffer[] = [];
  let written = 0;
  for (let at = longLineFrom(body, 0); at >= 0; at = longLineFrom(body, written)) {
    const found = body.indexOf(lineBreak, at);
    const end = found < 0 ? body.length : found;
    if (!allowance.take(end - at)) return null;
    octets.push(body.subarray(written, at), foldLine(body.subarray(at, end), folding));
    written = end;
    // longLineFrom() wants the beginning of a line.
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

/** Leaves room for the "=" of a soft line break, and does not tear an escape apart (RFC 2045 section 6.7 rule 5). */
function softBreakIn(line: Buffer, start: number): number {
  const end = start + maxEncodedLine - 1;
  if (line[end - 1] === EQUALS) return end - 1;
  return line[end - 2] === EQUALS ? end - 2 : end;
}
