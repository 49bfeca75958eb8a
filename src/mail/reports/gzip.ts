/**
 * Gzip (RFC 1952). A file is one member or several, and ends behind the last whole one: octets behind that, such as a
 * CRLF, NULs or the footer of a mailing list, are not part of it.
 */
import { crc32, type InflateRaw, inflateRawSync } from "node:zlib";
import type { UnpackRefusal } from "./unpack.ts";

const HEADER_LENGTH = 10;
const TRAILER_LENGTH = 8;
const DEFLATED = 8;
const FLAG = { headerCrc: 2, extra: 4, name: 8, comment: 16 };
const MOST_MEMBERS = 1_000;

export type Inflated =
  | { readonly ok: true; readonly octets: Buffer; readonly packedLength: number }
  | { readonly ok: false; readonly reason: UnpackRefusal };

export function isGzip(octets: Buffer): boolean {
  return octets[0] === 0x1f && octets[1] === 0x8b;
}

/** @param limit octets, unpacked */
export function gunzip(octets: Buffer, limit: number): Inflated {
  const members: Buffer[] = [];
  let at = 0;
  let left = limit;
  while (isGzip(octets.subarray(at)) && members.length < MOST_MEMBERS) {
    const member = gunzipMember(octets.subarray(at), left);
    if (!member.ok) {
      if (members.length === 0 || member.reason === "too_large") return member;
      break;
    }
    members.push(member.octets);
    left -= member.octets.length;
    at += member.packedLength;
  }
  return { ok: true, octets: Buffer.concat(members), packedLength: at };
}

/** Deflate (RFC 1951) up to its own end. */
export function inflate(packed: Buffer, limit: number): Inflated {
  try {
    // With `info` the answer says how many octets the stream took; the type of Node.js knows nothing of that.
    const options = { maxOutputLength: Math.max(1, limit), info: true };
    const { buffer, engine } = inflateRawSync(packed, options) as unknown as {
      readonly buffer: Buffer;
      readonly engine: InflateRaw;
    };
    return buffer.length > limit
      ? { ok: false, reason: "too_large" }
      : { ok: true, octets: buffer, packedLength: engine.bytesWritten };
  } catch (error) {
    const isTooLong = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
    return { ok: false, reason: isTooLong ? "too_large" : "corrupt" };
  }
}

function gunzipMember(octets: Buffer, limit: number): Inflated {
  const start = endOfHeader(octets);
  if (start < 0) return { ok: false, reason: "corrupt" };
  const inflated = inflate(octets.subarray(start), limit);
  if (!inflated.ok) return inflated;
  const trailer = start + inflated.packedLength;
  const isWhole =
    trailer + TRAILER_LENGTH <= octets.length &&
    octets.readUInt32LE(trailer) === crc32(inflated.octets) &&
    octets.readUInt32LE(trailer + 4) === inflated.octets.length % 2 ** 32;
  return isWhole ? { ...inflated, packedLength: trailer + TRAILER_LENGTH } : { ok: false, reason: "corrupt" };
}

/** Where the compressed octets begin; -1 when the header is broken. */
function endOfHeader(octets: Buffer): number {
  if (octets.length < HEADER_LENGTH || octets[2] !== DEFLATED) return -1;
  const flags = octets[3] ?? 0;
  let at = HEADER_LENGTH;
  if ((flags & FLAG.extra) !== 0) {
    if (at + 2 > octets.length) return -1;
    at += 2 + octets.readUInt16LE(at);
  }
  for (const text of [FLAG.name, FLAG.comment]) {
    if ((flags & text) === 0) continue;
    const end = octets.indexOf(0, at);
    if (end < 0) return -1;
    at = end + 1;
  }
  if ((flags & FLAG.headerCrc) !== 0) at += 2;
  return at < octets.length ? at : -1;
}
