/**
 * Decodes the text of bounces. Many declare no charset or a wrong one, so a declared charset is verified and a missing
 * one guessed.
 */
import { isUtf8 } from "node:buffer";
import chardet from "chardet";
import iconv from "iconv-lite";

/** ISO-2022-JP, which uses only ASCII octets. */
const ESCAPED_JAPANESE = new RegExp(`${String.fromCharCode(0x1b)}[$(][@BJ]`);
/** Declared charsets that are ignored. */
const NO_CHARSET = /^(?:(?:us-)?ascii|ansi_x3.*|unknown.*|x-unknown|default|8bit|binary)$/i;
/** Charsets in which every octet is valid: UTF-8 text decodes without an error, but to nonsense. */
const SINGLE_BYTE =
  /^(?:(?:x-)?(?:iso[-_]?8859|windows|cp|koi8|latin)[-_]?\w*|macintosh|x-mac-\w+)(?:$|[-_])/i;

/** Octets that the guess is based on. */
const SAMPLE_OCTETS = 4_096;
/** Chardet's names of the charsets for Western European languages. */
const WESTERN = new Set(["ISO-8859-1", "windows-1252"]);
/** Charsets of other Latin languages, which are hard to tell from the Western ones. */
const OTHER_LATIN = new Set(["ISO-8859-2", "windows-1250", "ISO-8859-9", "windows-1254", "windows-1257"]);
/** Confidence values of chardet, from 0 to 100. */
const LEAST_CONFIDENCE = 12;
const LEAD_OVER_WESTERN = 15;

/** Whether a latin1 string needs decoding: it is ISO-2022-JP, or has octets beyond ASCII. */
export function needsDecoding(value: string): boolean {
  return ESCAPED_JAPANESE.test(value) || (/[\x80-\xff]/.test(value) && !/[^\0-\xff]/.test(value));
}

/** Decodes a header value with raw octets: UTF-8 (RFC 6532), else the charset of the part. */
export function decodeHeader(value: string, charset: string | undefined): string {
  const octets = Buffer.from(value, "latin1");
  if (!ESCAPED_JAPANESE.test(value) && isUtf8(octets)) return octets.toString("utf8");
  return decodeText(octets, charset);
}

/**
 * Decodes text in the declared charset, unless that is unknown or clearly wrong; then in UTF-8 or the guessed charset.
 */
export function decodeText(octets: Buffer, charset: string | undefined): string {
  const declared = charset?.trim() ?? "";
  const isMislabelled = SINGLE_BYTE.test(declared) && isUtf8(octets);
  const named = declared === "" || isMislabelled ? null : decode(octets, declared);
  if (named !== null) return named;
  if (ESCAPED_JAPANESE.test(octets.toString("latin1"))) return new TextDecoder("iso-2022-jp").decode(octets);
  if (isUtf8(octets)) return octets.toString("utf8");
  return decode(octets, guessCharset(octets)) ?? new TextDecoder("windows-1252").decode(octets);
}

function decode(octets: Buffer, charset: string): string | null {
  if (NO_CHARSET.test(charset)) return null;
  const name = /^iso-2022-jp/i.test(charset) ? "iso-2022-jp" : charset;
  try {
    return new TextDecoder(name).decode(octets);
  } catch {
    return iconv.encodingExists(name) ? iconv.decode(octets, name) : null;
  }
}

/** Windows-1252 unless another charset is clearly more likely. */
function guessCharset(octets: Buffer): string {
  const matches = chardet.analyse(sampleOf(octets));
  const western = Math.max(
    0,
    ...matches.filter(({ name }) => WESTERN.has(name)).map(({ confidence }) => confidence),
  );
  const guess = matches.find(
    ({ name, confidence }) =>
      !WESTERN.has(name) &&
      name !== "ASCII" &&
      confidence >= LEAST_CONFIDENCE &&
      confidence >= western + (OTHER_LATIN.has(name) ? LEAD_OVER_WESTERN : 0),
  );
  return guess?.name ?? "windows-1252";
}

/** The lines with non-ASCII octets, because only those differ between charsets. */
function sampleOf(octets: Buffer): Buffer {
  const lines = octets
    .toString("latin1")
    .split("\n")
    .filter((line) => /[\x80-\xff]/.test(line));
  return Buffer.from(lines.join("\n").slice(0, SAMPLE_OCTETS), "latin1");
}
