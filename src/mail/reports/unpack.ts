/**
 * Unpacks what a report came in: gzip (RFC 1952), zip or nothing, told by its first octets, because media types are often
 * wrong. Whoever sends it may mean harm: sizes are limited while unpacking, not believed from the header, and an archive
 * may hold no more than one file, with a plain name.
 */
import { crc32, gunzipSync, inflateRawSync } from "node:zlib";

/** Why a report is refused; each is a kind that is counted. */
export type UnpackRefusal =
  | "empty"
  | "not_packed"
  | "corrupt"
  | "too_large"
  | "ratio_too_high"
  | "too_many_entries"
  | "bad_entry_name"
  | "nested_archive"
  | "encrypted";

export type Unpacked =
  | { readonly ok: true; readonly octets: Buffer }
  | { readonly ok: false; readonly reason: UnpackRefusal };

/** Octets of a report, unpacked. */
export const unpackedLimit = 50 * 1024 * 1024;
const maxRatio = 100;

const LOCAL_HEADER = 0x04034b50;
const CENTRAL_HEADER = 0x02014b50;
const END_OF_DIRECTORY = 0x06054b50;
const END_LENGTH = 22;
const maxCommentLength = 0xffff;
const STORED = 0;
const DEFLATED = 8;

/**
 * The one file in it. What is neither gzip nor zip is taken as it is when its first character can begin such a report,
 * else it is "not_packed".
 * @param begins what an unpacked report begins with, after blanks
 */
export function unpack(packed: Uint8Array, begins: RegExp, limit: number = unpackedLimit): Unpacked {
  const octets = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  if (octets.length === 0) return refuse("empty");
  const unpacked = isGzip(octets)
    ? inflate(octets, gunzipSync, limit)
    : isZip(octets)
      ? unzip(octets, limit)
      : plain(octets, begins, limit);
  if (unpacked.ok && (isGzip(unpacked.octets) || isZip(unpacked.octets))) return refuse("nested_archive");
  return unpacked;
}

/** Whether octets are packed in a way that is read here. */
export function isPacked(octets: Buffer): boolean {
  return isGzip(octets) || isZip(octets);
}

function isGzip(octets: Buffer): boolean {
  return octets[0] === 0x1f && octets[1] === 0x8b;
}

function isZip(octets: Buffer): boolean {
  return octets.length >= 4 && octets.readUInt32LE(0) === LOCAL_HEADER;
}

function plain(octets: Buffer, begins: RegExp, limit: number): Unpacked {
  if (octets.length > limit) return refuse("too_large");
  return begins.test(
    octets
      .subarray(0, 200)
      .toString("latin1")
      .replace(/^(?:\xef\xbb\xbf)?\s+|^\xef\xbb\xbf/, ""),
  )
    ? { ok: true, octets }
    : refuse("not_packed");
}

type Inflate = (octets: Buffer, options: { maxOutputLength: number }) => Buffer;

function inflate(octets: Buffer, method: Inflate, limit: number): Unpacked {
  const most = Math.min(limit, maxRatio * octets.length);
  try {
    return { ok: true, octets: method(octets, { maxOutputLength: most }) };
  } catch (error) {
    const isTooLong = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
    return refuse(!isTooLong ? "corrupt" : most === limit ? "too_large" : "ratio_too_high");
  }
}

/** The only file of a zip archive, found through its directory (APPNOTE 4.3.12 and 4.3.16). */
function unzip(octets: Buffer, limit: number): Unpacked {
  const end = endOfDirectory(octets);
  if (end < 0) return refuse("corrupt");
  if (octets.readUInt16LE(end + 10) !== 1) return refuse("too_many_entries");
  const entry = octets.readUInt32LE(end + 16);
  if (entry + 46 > end || octets.readUInt32LE(entry) !== CENTRAL_HEADER) return refuse("corrupt");
  const flags = octets.readUInt16LE(entry + 8);
  const method = octets.readUInt16LE(entry + 10);
  const checksum = octets.readUInt32LE(entry + 16);
  const packedLength = octets.readUInt32LE(entry + 20);
  const nameLength = octets.readUInt16LE(entry + 28);
  const local = octets.readUInt32LE(entry + 42);
  const name = octets.toString("latin1", entry + 46, entry + 46 + nameLength);
  if ((flags & 1) !== 0) return refuse("encrypted");
  if (/[/\\\0]|^\.\.?$|^[a-z]:|^$/i.test(name)) return refuse("bad_entry_name");
  if (/\.(?:zip|gz|tgz|bz2|xz|7z|rar)$/i.test(name)) return refuse("nested_archive");
  if (local + 30 > entry || octets.readUInt32LE(local) !== LOCAL_HEADER) return refuse("corrupt");
  const start = local + 30 + octets.readUInt16LE(local + 26) + octets.readUInt16LE(local + 28);
  if (start + packedLength > entry) return refuse("corrupt");
  const packed = octets.subarray(start, start + packedLength);
  const unpacked: Unpacked =
    method === DEFLATED
      ? inflate(packed, inflateRawSync, limit)
      : method !== STORED
        ? refuse("corrupt")
        : packed.length > limit
          ? refuse("too_large")
          : { ok: true, octets: packed };
  return unpacked.ok && crc32(unpacked.octets) !== checksum ? refuse("corrupt") : unpacked;
}

/** Where the record at the archive's end begins; behind it there may only be a comment. */
function endOfDirectory(octets: Buffer): number {
  const first = Math.max(0, octets.length - END_LENGTH - maxCommentLength);
  for (let at = octets.length - END_LENGTH; at >= first; at--) {
    if (octets.readUInt32LE(at) === END_OF_DIRECTORY) return at;
  }
  return -1;
}

function refuse(reason: UnpackRefusal): Unpacked {
  return { ok: false, reason };
}
