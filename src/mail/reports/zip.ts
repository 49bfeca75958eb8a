/**
 * The files of a zip archive, found through its directory (APPNOTE 4.3.12 and 4.3.16). Folders, and what operating
 * systems add to archives of their own accord (`__MACOSX/`, `.DS_Store`), are no files of a report. Nothing is written
 * to a disk, so a name is only a name; one that climbs out of the archive shows that harm is meant.
 */

import { crc32 } from "node:zlib";
import { type InflateRoom, inflate } from "./gzip.ts";
import type { Unpacked, UnpackRefusal } from "./unpacked.ts";

const LOCAL_HEADER = 0x04034b50;
const CENTRAL_HEADER = 0x02014b50;
const END_OF_DIRECTORY = 0x06054b50;
const END_LENGTH = 22;
const CENTRAL_LENGTH = 46;
const LOCAL_LENGTH = 30;
const maxCommentLength = 0xffff;
const STORED = 0;
const DEFLATED = 8;
/** Entries of an archive, folders included. */
const maxEntries = 100;
const UNWANTED = /(?:^|\/)(?:__MACOSX\/.*|\.[^/]*|Thumbs\.db|desktop\.ini)$|\/$/i;
const HARMFUL = /\\|^\/|^[a-z]:|^$|(?:^|\/)\.\.?(?:\/|$)/i;

export function isZip(octets: Buffer): boolean {
  return octets.length >= 4 && octets.readUInt32LE(0) === LOCAL_HEADER;
}

/** Reads no further than the first file that is too large. */
export function unzip(octets: Buffer, room: InflateRoom): Unpacked[] {
  const end = endOfDirectory(octets);
  if (end < 0) return [refuse(null, "corrupt")];
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
    const file = unzipEntry(octets, { at, seen, room });
    if (file !== null) files.push(file);
    if (file?.ok === false && file.reason === "too_large") break;
    // Name, extra field and comment.
    const more = [28, 30, 32].reduce((sum, length) => sum + octets.readUInt16LE(at + length), 0);
    at += CENTRAL_LENGTH + more;
  }
  return files;
}

interface Entry {
  /** Where its entry of the directory begins. */
  readonly at: number;
  /** Where the files of the entries before it begin: a file that two entries share would be inflated for each. */
  readonly seen: Set<number>;
  readonly room: InflateRoom;
}

/** Null for a folder, and for a file that is not of the report. */
function unzipEntry(octets: Buffer, { at, seen, room }: Entry): Unpacked | null {
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
  if (HARMFUL.test(name) || name.includes("\0")) return refuse(name, "bad_entry_name");
  if (UNWANTED.test(name)) return null;
  if ((flags & 1) !== 0) return refuse(name, "encrypted");
  if (seen.has(local)) return refuse(name, "corrupt");
  seen.add(local);
  if (local + LOCAL_LENGTH > at || octets.readUInt32LE(local) !== LOCAL_HEADER)
    return refuse(name, "corrupt");
  const start = local + LOCAL_LENGTH + octets.readUInt16LE(local + 26) + octets.readUInt16LE(local + 28);
  if (start + packedLength > at) return refuse(name, "corrupt");
  const packed = octets.subarray(start, start + packedLength);
  const content =
    method === STORED ? stored(packed, room) : method === DEFLATED ? inflated(packed, room) : "corrupt";
  if (typeof content === "string") return refuse(name, content);
  return crc32(content) === checksum ? { ok: true, name, octets: content } : refuse(name, "corrupt");
}

function stored(content: Buffer, room: InflateRoom): Buffer | UnpackRefusal {
  const isTooLarge = content.length > room.left;
  room.take(content.length);
  return isTooLarge ? "too_large" : content;
}

function inflated(packed: Buffer, room: InflateRoom): Buffer | UnpackRefusal {
  const result = inflate(packed, room);
  return result.ok ? result.octets : result.reason;
}

/** Where the record at the archive's end begins; behind it there is a comment, or what came after the archive. */
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
