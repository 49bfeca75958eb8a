/**
 * In which encoding a text file is written. Spreadsheets say nothing about it, or a byte order mark: without one a file
 * is UTF-8 when all of it is valid UTF-8, UTF-16 when every other byte is NUL, and Windows-1252 otherwise.
 */
import { open } from "node:fs/promises";
import { ApiError } from "../errors.ts";
import { readPieces } from "./pieces.ts";

export type Encoding = "utf-8" | "utf-16le" | "utf-16be" | "windows-1252";

const SAMPLE_BYTES = 64 * 1024;

const NOT_CSV = "Save the table as CSV (in a spreadsheet: Save as, or Download) and send that file";

/** How files begin that are often sent in place of a CSV file. */
const signatures: readonly (readonly [beginning: readonly number[], kind: string])[] = [
  [[0x50, 0x4b, 0x03, 0x04], "a spreadsheet (xlsx, ods, numbers) or a ZIP archive"],
  [[0xd0, 0xcf, 0x11, 0xe0], "an old spreadsheet (xls)"],
  [[0x25, 0x50, 0x44, 0x46], "a PDF document"],
  [[0x89, 0x50, 0x4e, 0x47], "a PNG image"],
  [[0xff, 0xd8, 0xff], "a JPEG image"],
  [[0x1f, 0x8b], "a gzip archive"],
  [[0x7b, 0x5c, 0x72, 0x74, 0x66], "an RTF document"],
  [[0xff, 0xfe, 0x00, 0x00], "text in UTF-32"],
  [[0x00, 0x00, 0xfe, 0xff], "text in UTF-32"],
];

/** How text begins that is often sent in place of a table. */
const otherTexts: readonly (readonly [beginning: RegExp, kind: string])[] = [
  [/^\s*<(?:!--|(?:!doctype|html|head|body|table)[\s>])/i, "a web page (HTML)"],
  [/^\s*<\?xml\s/i, "an XML document"],
  [/^\s*(?:\{\s*"|\[\s*[{["])/, "JSON"],
];

const byteOrderMarks: readonly (readonly [mark: readonly number[], encoding: Encoding])[] = [
  [[0xef, 0xbb, 0xbf], "utf-8"],
  [[0xff, 0xfe], "utf-16le"],
  [[0xfe, 0xff], "utf-16be"],
];

/**
 * Reads the whole file once.
 * @throws ApiError BAD_REQUEST for a file that is no text, or breaks the encoding that its mark names
 */
export async function detectEncoding(path: string): Promise<Encoding> {
  const sample = await beginningOf(path);
  const [, kind] = signatures.find(([beginning]) => startsWith(sample, beginning)) ?? [];
  if (kind !== undefined) throw noTable(kind);
  const [, marked] = byteOrderMarks.find(([mark]) => startsWith(sample, mark)) ?? [];
  const claimed = marked ?? utf16WithoutMark(sample);
  if (await isValid(path, claimed ?? "utf-8")) {
    if (claimed === undefined && shareOf(sample, isNul) > MOST_NULS) throw noTable("not text");
    return claimed ?? "utf-8";
  }
  if (claimed !== undefined) {
    throw refusal(`The file begins as ${claimed.toUpperCase()} but is not: save it again as CSV in UTF-8`);
  }
  if (sample.includes(0)) throw noTable("not text");
  return "windows-1252";
}

/** Text may hold a stray NUL; a file of NULs, as a broken disk leaves it, is no text. */
const MOST_NULS = 0.1;
/** NULs on one side of the byte pairs of Western text in UTF-16; on the other side there are none. */
const LEAST_NULS = 0.4;

function utf16WithoutMark(sample: Uint8Array): Encoding | undefined {
  const nulsAt = (side: 0 | 1) => 2 * shareOf(sample, (byte, at) => byte === 0 && at % 2 === side);
  const [first, second] = [nulsAt(0), nulsAt(1)];
  if (second > LEAST_NULS && first < MOST_NULS / 10) return "utf-16le";
  if (first > LEAST_NULS && second < MOST_NULS / 10) return "utf-16be";
  return undefined;
}

async function isValid(path: string, encoding: Encoding): Promise<boolean> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  try {
    for await (const piece of readPieces(path)) decoder.decode(piece, { stream: true });
    decoder.decode();
    return true;
  } catch (fault) {
    if (fault instanceof TypeError) return false;
    throw fault;
  }
}

async function beginningOf(path: string): Promise<Uint8Array> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(SAMPLE_BYTES) });
  return buffer.subarray(0, bytesRead);
}

/**
 * The first characters of a file, for a look at how it is laid out.
 * @throws ApiError BAD_REQUEST for text that is plainly no table
 */
export async function sampleOf(path: string, encoding: Encoding): Promise<string> {
  // Cut where it may be in the middle of a character, which is then left out.
  const sample = new TextDecoder(encoding).decode(await beginningOf(path), { stream: true });
  const [, kind] = otherTexts.find(([beginning]) => beginning.test(sample)) ?? [];
  if (kind !== undefined) throw noTable(kind);
  return sample;
}

function startsWith(bytes: Uint8Array, beginning: readonly number[]): boolean {
  return beginning.every((byte, at) => bytes[at] === byte);
}

function shareOf(bytes: Uint8Array, is: (byte: number, at: number) => boolean): number {
  let found = 0;
  for (let at = 0; at < bytes.length; at++) if (is(bytes[at] ?? 0, at)) found++;
  return found / Math.max(1, bytes.length);
}

const isNul = (byte: number) => byte === 0;

function noTable(kind: string): ApiError {
  return refusal(`The file is ${kind}. ${NOT_CSV}`);
}

function refusal(sentence: string): ApiError {
  return new ApiError("BAD_REQUEST", sentence);
}
