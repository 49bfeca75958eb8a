/**
 * The text of a report, whatever it is encoded in: UTF-8, UTF-16 and UTF-32 with a byte order mark or without one, and
 * what an XML declaration names. A declaration is not believed where the octets show that it is wrong: some programs
 * declare UTF-16 and write UTF-8.
 */
import { isUtf8 } from "node:buffer";
import iconv from "iconv-lite";

const DECLARED = /^\s*<\?xml\s[^>]{0,200}?encoding\s*=\s*["']\s*([\w.:-]{1,40})/;
const WIDE = /^(?:utf|ucs|iso-?10646|unicode|csunicode)[-_]?(?:16|32|2|4|ucs)/i;

export function reportText(octets: Buffer): string {
  return iconv.decode(octets, encodingOf(octets));
}

/** The first characters, to see what kind of text it is. */
export function beginningOf(octets: Buffer): string {
  return iconv.decode(octets.subarray(0, 400), encodingOf(octets.subarray(0, 400)));
}

function encodingOf(octets: Buffer): string {
  const [a, b, c, d] = [octets[0], octets[1], octets[2], octets[3]];
  if (a === 0xff && b === 0xfe) return c === 0 && d === 0 ? "utf-32le" : "utf-16le";
  if (a === 0xfe && b === 0xff) return "utf-16be";
  if (a === 0 && b === 0 && c === 0xfe && d === 0xff) return "utf-32be";
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8";
  // Both XML and JSON begin with an ASCII character, whose other octets are NULs.
  if (a === 0 && b === 0 && c === 0 && d !== 0) return "utf-32be";
  if (a !== 0 && b === 0) return c === 0 && d === 0 ? "utf-32le" : "utf-16le";
  if (a === 0 && b !== 0) return "utf-16be";
  const declared = DECLARED.exec(octets.toString("latin1", 0, 400))?.[1];
  const isUsable = declared !== undefined && !WIDE.test(declared) && iconv.encodingExists(declared);
  if (isUsable && !/^(?:utf-?8|(?:us-)?ascii)$/i.test(declared)) return declared;
  return isUtf8(octets) ? "utf-8" : "windows-1252";
}
