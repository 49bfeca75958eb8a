/**
 * Reads the files of a zip archive through its central directory (APPNOTE 4.3.12 and 4.3.16), or, if the archive is
 * truncated, through the local headers (4.3.7). Folders and files that operating systems add to archives (`__MACOSX/`,
 * `.DS_Store`) are ignored. Nothing is written to disk, so names do no harm; but a name that leads out of the archive
 * shows a malicious file, which is refused.
 */

import { crc32 } from "node:zlib";
import { type InflateBudget, type Inflated, inflate, numberAt } from "./gzip.ts";
import type { Unpacked, UnpackRefusal } from "./unpack-result.ts";

const LOCAL_HEADER = 0x04034b50;
const DESCRIPTOR = 0x08074b50;
const CENTRAL_HEADER = 0x02014b50;
const END_OF_DIRECTORY = 0x06054b50;
const END_LENGTH = 22;
const CENTRAL_LENGTH = 46;
const LOCAL_LENGTH = 30;
const DESCRIPTOR_LENGTH = 12;
const FLAG_ENCRYPTED = 1;
/** Length and checksum of a file follow its data. */
const FLAG_DESCRIPTOR = 8;
/** The length is in the extra field (zip64). */
const UNTOLD_LENGTH = 0xffffffff;
const maxCommentLength = 0xffff;
const STORED = 0;
const DEFLATED = 8;
/** Limit of entries, including folders. */
const maxEntries = 100;
const UNWANTED = /(?:^|\/)(?:__MACOSX\/.*|\.[^/]*|Thumbs\.db|desktop\.ini)$|\/$/i;
const CORRUPT = { ok: false, reason: "corrupt" } as const;
const HARMFUL = /\\|^\/|^[a-z]:|^$|(?:^|\/)\.\.?(?:\/|$)/i;

export function isZip(octets: Buffer): boolean {
  return octets.length >= 4 && octets.readUInt32LE(0) === LOCAL_HEADER;
}

/** Reads the files up to the first one that is too large. */
export function unzip(octets: Buffer, budget: InflateBudget): Unpacked[] {
  const end = endOfDirectory(octets);
  if (end < 0) return unzipBroken(octets, budget);
  const entries = octets.readUInt16LE(end + 10);
  if (entries > maxEntries) return [refuse(null, "too_many_entries")];
  const files: Unpacked[] = [];
  const seen = new Set<number>();
  let at = octets.readUInt32LE(end + 16);
  for (let entry = 0; entry < entries; entry++) {
    if (at + CENTRAL_LENGTH > end || octets.readUInt32LE(at) !== CENTRAL_HEADER) {
      files.push(refuse(null, "corrupt"));
      break;
    }
    const file = unzipEntry(octets, { at, seen, budget });
    if (file !== null) files.push(file);
    if (file?.ok === false && file.reason === "too_large") break;
    // Name, extra field and comment.
    const more = [28, 30, 32].reduce((sum, length) => sum + octets.readUInt16LE(at + length), 0);
    at += CENTRAL_LENGTH + more;
  }
  return files;
}

interface Entry {
  /** Offset of the entry in the central directory. */
  readonly at: number;
  /** Local header offsets of earlier entries: two entries that share a file would inflate it twice. */
  readonly seen: Set<number>;
  readonly budget: InflateBudget;
}

/** Null for folders and for files that do not belong to the report. */
function unzipEntry(octets: Buffer, { at, seen, budget }: Entry): Unpacked | null {
  const flags = octets.readUInt16LE(at + 8);
  const method = octets.readUInt16LE(at + 10);
  const checksum = octets.readUInt32LE(at + 16);
  const packedLength = octets.readUInt32LE(at + 20);
  const local = octets.readUInt32LE(at + 42);
  const name = octets.toString(
    "utf8",
    at + CENTRAL_LENGTH,
    at + CENTRAL_LENGTH + octets.readUInt16LE(at + 28),
  );
  const refusal = refusalOf(name, flags);
  if (refusal !== "none") return refusal;
  if (seen.has(local)) return refuse(name, "corrupt");
  seen.add(local);
  if (local + LOCAL_LENGTH > at || octets.readUInt32LE(local) !== LOCAL_HEADER)
    return refuse(name, "corrupt");
  const start = local + LOCAL_LENGTH + octets.readUInt16LE(local + 26) + octets.readUInt16LE(local + 28);
  if (start + packedLength > at) return refuse(name, "corrupt");
  const packed = octets.subarray(start, start + packedLength);
  const content =
    method === STORED ? stored(packed, budget) : method === DEFLATED ? inflate(packed, budget) : CORRUPT;
  if (!content.ok) return refuse(name, content.reason);
  const isWhole = !content.isCutOff && crc32(content.octets) === checksum;
  return isWhole ? { ok: true, name, octets: content.octets, isCutOff: false } : refuse(name, "corrupt");
}

/** Reads an archive without a central directory. Files after one whose end is unknown are left out. */
function unzipBroken(octets: Buffer, budget: InflateBudget): Unpacked[] {
  const files: Unpacked[] = [];
  let at = 0;
  for (let entry = 0; at >= 0 && at + LOCAL_LENGTH <= octets.length; entry++) {
    if (octets.readUInt32LE(at) !== LOCAL_HEADER) break;
    if (entry === maxEntries) return [refuse(null, "too_many_entries")];
    const { file, end } = unzipLocal(octets, at, budget);
    if (file !== null) files.push(file);
    at = end;
  }
  return files.length > 0 ? files : [refuse(null, "corrupt")];
}

/** Reads the file whose local header is at `at`. `end`: the offset after it, -1 if it is unknown. */
function unzipLocal(
  octets: Buffer,
  at: number,
  budget: InflateBudget,
): { file: Unpacked | null; end: number } {
  const flags = octets.readUInt16LE(at + 6);
  const method = octets.readUInt16LE(at + 8);
  const told = octets.readUInt32LE(at + 18);
  const nameEnd = at + LOCAL_LENGTH + octets.readUInt16LE(at + 26);
  const name = octets.toString("utf8", at + LOCAL_LENGTH, nameEnd);
  const start = nameEnd + octets.readUInt16LE(at + 28);
  const hasDescriptor = (flags & FLAG_DESCRIPTOR) !== 0;
  const isTold = !hasDescriptor && told !== UNTOLD_LENGTH;
  const toldEnd = isTold ? start + told : -1;
  const refusal = refusalOf(name, flags);
  if (refusal !== "none") return { file: refusal, end: toldEnd };
  if (start >= octets.length || (method === STORED && !isTold) || (method !== STORED && method !== DEFLATED))
    return { file: refuse(name, "corrupt"), end: toldEnd };
  const packed = octets.subarray(start, isTold ? start + told : undefined);
  const isShort = packed.length < told && isTold;
  const content = method === STORED ? stored(packed, budget) : inflate(packed, budget);
  if (!content.ok)
    return { file: refuse(name, content.reason), end: content.reason === "too_large" ? -1 : toldEnd };
  const isCutOff = content.isCutOff || isShort;
  const behind = start + content.packedLength;
  const descriptor = behind + (numberAt(octets, behind) === DESCRIPTOR ? 4 : 0);
  const checksum = hasDescriptor ? numberAt(octets, descriptor) : octets.readUInt32LE(at + 14);
  if (!isCutOff && checksum !== null && crc32(content.octets) !== checksum)
    return { file: refuse(name, "corrupt"), end: toldEnd };
  const wholeEnd = isTold ? toldEnd : hasDescriptor ? descriptor + DESCRIPTOR_LENGTH : behind;
  const end = isCutOff ? -1 : wholeEnd;
  return { file: { ok: true, name, octets: content.octets, isCutOff: isCutOff || checksum === null }, end };
}

/** The refusal of a file, null if it does not belong to the report, "none" if it is to be read. */
function refusalOf(name: string, flags: number): Unpacked | null | "none" {
  if (HARMFUL.test(name) || name.includes("\0")) return refuse(name, "bad_entry_name");
  if (UNWANTED.test(name)) return null;
  return (flags & FLAG_ENCRYPTED) === 0 ? "none" : refuse(name, "encrypted");
}

function stored(content: Buffer, budget: InflateBudget): Inflated {
  const isTooLarge = content.length > budget.left;
  budget.take(content.length);
  return isTooLarge
    ? { ok: false, reason: "too_large" }
    : { ok: true, octets: content, packedLength: content.length, isCutOff: false };
}

/** The offset of the end record; after it come a comment and whatever was appended to the archive. */
function endOfDirectory(octets: Buffer): number {
  const first = Math.max(0, octets.length - END_LENGTH - maxCommentLength);
  for (let at = octets.length - END_LENGTH; at >= first; at--) {
    if (octets.readUInt32LE(at) === END_OF_DIRECTORY) return at;
  }
  return -1;
}

function refuse(name: string | null, reason: UnpackRefusal): Unpacked {
  return { ok: false, name, reason };
}
