/**
 * Content transfer encodings (RFC 2045 section 6) for the hot path: a text that needs no encoding is only scanned by
 * native functions, and quoted-printable is one loop over octets with a lookup table.
 */

export type TransferEncoding = "7bit" | "quoted-printable" | "base64";

/** Content and the encoding that it has. */
export interface EncodedContent {
  readonly encoding: TransferEncoding;
  /** Lines end in CRLF and have at most 998 octets (7bit, a string of ASCII) or 76 octets (the others). */
  readonly content: Buffer | string;
}

/** RFC 5322 section 2.1.1, without the CRLF. */
export const maxLineLength = 998;
/** RFC 2045 section 6.7 rule 5, without the "=" of a soft line break. */
const maxQuotedLength = 75;
/** 57 octets make one line of 76 base64 characters. */
const base64LineLength = 76;

const tab = 0x09;
const lf = 0x0a;
const cr = 0x0d;
const space = 0x20;
const equals = 0x3d;
const hexDigits = Buffer.from("0123456789ABCDEF");

/** 1 for the octets that quoted-printable does not escape (rules 2 and 3). */
const literal = new Uint8Array(256)
  .fill(1, space, 0x7f)
  .fill(1, tab, lf)
  .fill(0, equals, equals + 1);

/**
 * Encodes a text as UTF-8 in the simplest encoding that survives every relay: 7bit for ASCII in short lines,
 * quoted-printable for most text, and base64 if more than about a third of the characters are not ASCII. All line
 * breaks become CRLF.
 */
export function encodeTextContent(text: string): EncodedContent {
  const lines = text.includes("\r") ? text.replaceAll(/\r\n?|\n/g, "\r\n") : text.replaceAll("\n", "\r\n");
  if (Buffer.byteLength(lines) === lines.length && !lines.includes("\0") && linesFit(lines))
    return { encoding: "7bit", content: lines };
  const octets = Buffer.from(lines);
  if (octets.length * 3 > lines.length * 4) return { encoding: "base64", content: encodeBase64(octets) };
  return { encoding: "quoted-printable", content: encodeQuotedPrintable(octets) };
}

/**
 * Quoted-printable (RFC 2045 section 6.7) of text whose line breaks are CRLF. Bare CR and LF are escaped, and so are
 * blanks at line ends, which relays strip.
 */
export function encodeQuotedPrintable(octets: Buffer): Buffer {
  const end = octets.length;
  // An octet takes at most 3, and every 25 escaped octets need a soft line break of 3 more.
  const output = Buffer.allocUnsafe(end * 3 + Math.ceil(end / 25) * 3 + 6);
  let written = 0;
  let room = maxQuotedLength;
  let index = 0;
  while (index < end) {
    const start = index;
    const stop = Math.min(end, start + room);
    while (index < stop && literal[octets[index] ?? 0] === 1) output[written++] = octets[index++] ?? 0;
    room -= index - start;
    if (index === end) break;
    const octet = octets[index] ?? 0;
    if (octet === cr && octets[index + 1] === lf) {
      written = writeLineBreak(output, protectBlank(output, written, room));
      room = maxQuotedLength;
      index += 2;
    } else if (room < 3 || literal[octet] === 1) {
      written = writeSoftBreak(output, written);
      room = maxQuotedLength;
    } else {
      written = writeEscape(output, written, octet);
      room -= 3;
      index++;
    }
  }
  return output.subarray(0, protectBlank(output, written, room));
}

/** Escapes a blank at the end of a line; returns the new number of octets written. */
function protectBlank(output: Buffer, written: number, room: number): number {
  const last = output[written - 1] ?? 0;
  if (written === 0 || (last !== space && last !== tab)) return written;
  return writeEscape(output, room < 2 ? writeSoftBreak(output, written - 1) : written - 1, last);
}

function writeEscape(output: Buffer, at: number, octet: number): number {
  output[at] = equals;
  output[at + 1] = hexDigits[octet >> 4] ?? 0;
  output[at + 2] = hexDigits[octet & 15] ?? 0;
  return at + 3;
}

function writeSoftBreak(output: Buffer, at: number): number {
  output[at] = equals;
  return writeLineBreak(output, at + 1);
}

function writeLineBreak(output: Buffer, at: number): number {
  output[at] = cr;
  output[at + 1] = lf;
  return at + 2;
}

/** Base64 in lines of 76 characters, without a CRLF after the last one. */
export function encodeBase64(octets: Buffer): Buffer {
  const encoded = Buffer.from(octets.toString("base64"), "latin1");
  const breaks = Math.max(0, Math.ceil(encoded.length / base64LineLength) - 1);
  const output = Buffer.allocUnsafe(encoded.length + 2 * breaks);
  let written = 0;
  for (let start = 0; start < encoded.length; start += base64LineLength) {
    if (start > 0) written = writeLineBreak(output, written);
    written += encoded.copy(output, written, start, start + base64LineLength);
  }
  return output;
}

/** Whether no line is longer than RFC 5322 allows. */
function linesFit(lines: string): boolean {
  let start = 0;
  for (let end = lines.indexOf("\n"); end >= 0; end = lines.indexOf("\n", start)) {
    if (end - start - 1 > maxLineLength) return false;
    start = end + 1;
  }
  return lines.length - start <= maxLineLength;
}
