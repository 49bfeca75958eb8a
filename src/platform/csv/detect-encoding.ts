/**
 * Detects the encoding of a text file: from its byte order mark; else as the sender says; else UTF-8 if most of it is valid
 * UTF-8, and UTF-16 if every other byte is NUL. Any other encoding is guessed.
 */
import { open } from "node:fs/promises";
import { ApiError } from "#platform/errors.ts";
import { decoderOf, type Encoding } from "./encodings.ts";
import { readFileChunks } from "./file-chunks.ts";
import { guessEncoding } from "./guess-encoding.ts";
import { Utf8Evidence } from "./utf8-evidence.ts";

export interface FoundEncoding {
  readonly encoding: Encoding;
  /** Neither the sender nor the file names the encoding. */
  readonly isGuessed: boolean;
  /** Some bytes may be invalid in this encoding: rows that contain them cannot be read. */
  readonly mayBeBroken: boolean;
  /** Sentences to show to the sender. */
  readonly warnings: readonly string[];
}

const SAMPLE_BYTES = 64 * 1024;

const NOT_CSV = "Save the table as CSV (in a spreadsheet: Save as, or Download) and send that file";

/** First bytes of files that are often sent instead of a CSV file. */
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

/** Beginnings of text files that are often sent instead of a table. */
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
 * Reads the whole file once, or twice if it is not UTF-8.
 * @param given the encoding that the sender names
 * @param isBeginning the file may end within a character
 * @throws ApiError BAD_REQUEST if the file is not text, or is marked as UTF-16 and is not
 */
export async function detectEncoding(
  path: string,
  given?: Encoding,
  isBeginning = false,
): Promise<FoundEncoding> {
  const sample = await beginningOf(path);
  const [, kind] = signatures.find(([beginning]) => startsWith(sample, beginning)) ?? [];
  if (kind !== undefined) throw noTable(kind);
  const [, marked] = byteOrderMarks.find(([mark]) => startsWith(sample, mark)) ?? [];
  const claimed = marked ?? utf16WithoutMark(sample);
  if (claimed !== undefined && claimed !== "utf-8") {
    const warnings = overruled(claimed, given);
    if (await isValid(path, claimed, isBeginning)) return { ...certain, encoding: claimed, warnings };
    if ((await replacedShare(path, claimed)) > MOST_REPLACED) throw brokenUtf16(claimed);
    return {
      encoding: claimed,
      isGuessed: false,
      mayBeBroken: true,
      warnings: [...warnings, brokenText(claimed)],
    };
  }
  if (given !== undefined && marked === undefined) {
    if (shareOf(sample, isNul) > MOST_NULS && !given.startsWith("utf-16")) throw noTable("not text");
    return { ...certain, encoding: given, mayBeBroken: true };
  }
  const isUtf8 = await isValid(path, "utf-8", isBeginning);
  if (isUtf8 && marked === undefined) {
    if (shareOf(sample, isNul) > MOST_NULS) throw noTable("not text");
    if (hasJapaneseEscapes(sample)) return guessed("iso-2022-jp");
  }
  const warnings = overruled("utf-8", marked && given);
  if (isUtf8) return { ...certain, warnings };
  if (marked === undefined && sample.includes(0)) throw noTable("not text");
  const evidence = await Utf8Evidence.of(path, isBeginning);
  const other = marked === undefined ? otherThanUtf8(evidence) : undefined;
  if (other !== undefined) return guessed(other);
  return { ...certain, mayBeBroken: true, warnings: [...warnings, brokenUtf8(evidence.brokenLines)] };
}

const certain: FoundEncoding = { encoding: "utf-8", isGuessed: false, mayBeBroken: false, warnings: [] };

function guessed(encoding: Encoding): FoundEncoding {
  const warning = `The file is not UTF-8. It was read as ${encoding}, which is a guess: if names look wrong, send it again with the form field encoding`;
  return { encoding, isGuessed: true, mayBeBroken: true, warnings: [warning] };
}

/** Warnings if the byte order mark or NUL bytes contradict the sender; the file decides. */
function overruled(encoding: Encoding, given: Encoding | undefined): string[] {
  if (given === undefined || given === encoding) return [];
  return [`The file is marked as ${encoding} and was read as such, not as ${given}`];
}

function brokenText(encoding: Encoding): string {
  return `The file is ${encoding}, but some of its bytes are invalid: the rows that contain them are refused`;
}

function brokenUtf8(lines: number): string {
  const where = lines === 1 ? "1 line contains" : `${lines} lines contain`;
  return `The file is UTF-8, but ${where} invalid bytes: save it as UTF-8, or name its encoding in the form field encoding`;
}

/** Share of the non-ASCII lines that are valid UTF-8 by chance in a file of another encoding. */
const CHANCE = 0.01;
/** The same share for East Asian encodings, whose byte pairs are valid UTF-8 by chance more often. */
const CHANCE_IN_PAIRS = 0.2;
const pairEncodings = new Set<Encoding>(["gb18030", "big5", "euc-kr", "euc-jp", "shift_jis"]);

/** The encoding of a file that is not valid UTF-8; undefined if it is UTF-8 with some invalid lines. */
function otherThanUtf8(evidence: Utf8Evidence): Encoding | undefined {
  const { validLines, brokenLines, characters, strayBytes } = evidence;
  const share = validLines / (validLines + brokenLines);
  if (share > CHANCE_IN_PAIRS || characters >= strayBytes) return undefined;
  const guess = guessEncoding(evidence.sample);
  return share > (pairEncodings.has(guess) ? CHANCE_IN_PAIRS : CHANCE) ? undefined : guess;
}

/** ISO-2022-JP consists of ASCII bytes; escape sequences switch the character set. */
function hasJapaneseEscapes(sample: Uint8Array): boolean {
  const text = Buffer.from(sample).toString("latin1");
  return text.includes("\u001b$@") || text.includes("\u001b$B");
}

function brokenUtf16(encoding: Encoding): ApiError {
  return refusal(
    `The file starts like ${encoding.toUpperCase()} but is not valid: save it again as CSV in UTF-8`,
  );
}

/** Largest share of NUL bytes in text. A file full of NULs, as after a disk fault, is not text. */
const MOST_NULS = 0.1;
/** Smallest share of byte pairs of Western text in UTF-16 that have NUL on one side; the other side has none. */
const LEAST_NULS = 0.4;

function utf16WithoutMark(sample: Uint8Array): Encoding | undefined {
  const nulsAt = (side: 0 | 1) => 2 * shareOf(sample, (byte, at) => byte === 0 && at % 2 === side);
  const [first, second] = [nulsAt(0), nulsAt(1)];
  if (second > LEAST_NULS && first < MOST_NULS / 10) return "utf-16le";
  if (first > LEAST_NULS && second < MOST_NULS / 10) return "utf-16be";
  return undefined;
}

async function isValid(path: string, encoding: Encoding, isBeginning: boolean): Promise<boolean> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  try {
    for await (const piece of readFileChunks(path)) decoder.decode(piece, { stream: true });
    if (!isBeginning) decoder.decode();
    return true;
  } catch (fault) {
    if (fault instanceof TypeError) return false;
    throw fault;
  }
}

/** Largest share of invalid characters in a file that counts as UTF-16. In other files nearly all are invalid. */
const MOST_REPLACED = 0.01;

/** The share of characters that replace invalid bytes (U+FFFD). */
async function replacedShare(path: string, encoding: Encoding): Promise<number> {
  const decoder = new TextDecoder(encoding);
  let [replaced, all] = [0, 0];
  const count = (text: string) => {
    all += text.length;
    replaced += text.match(/\ufffd/g)?.length ?? 0;
  };
  for await (const piece of readFileChunks(path)) count(decoder.decode(piece, { stream: true }));
  count(decoder.decode());
  return replaced / Math.max(1, all);
}

/** Removes byte order marks, also several or wrongly decoded ones, which programs leave that join or convert files. */
export function withoutMarks(text: string): string {
  return text.replace(/^(?:\ufeff|ï»¿)+/, "");
}

async function beginningOf(path: string): Promise<Uint8Array> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(SAMPLE_BYTES) });
  return buffer.subarray(0, bytesRead);
}

/**
 * The first characters of a file, to detect its layout.
 * @throws ApiError BAD_REQUEST for HTML, XML and JSON
 */
export async function sampleOf(path: string, encoding: Encoding): Promise<string> {
  // The sample may end within a character, which is then left out.
  const decoded = decoderOf(encoding).decode(await beginningOf(path), { stream: true });
  const sample = withoutMarks(decoded);
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
