/**
 * Gzip (RFC 1952). A file is one member or several, and ends behind the last whole one: octets behind that, such as a
 * CRLF, NULs or the footer of a mailing list, are not part of it.
 */

import { crc32, type InflateRaw, inflateRawSync } from "node:zlib";
import type { UnpackRefusal } from "./unpacked.ts";

const HEADER_LENGTH = 10;
const TRAILER_LENGTH = 8;
const DEFLATED = 8;
const FLAG = { headerCrc: 2, extra: 4, name: 8, comment: 16 };
const MOST_MEMBERS = 1_000;
/** Octets of the first attempt to inflate, and how much larger each further attempt is. */
const FIRST_ATTEMPT = 256 * 1024;
const GROWTH = 4;

export type Inflated =
  | { readonly ok: true; readonly octets: Buffer; readonly packedLength: number }
  | { readonly ok: false; readonly reason: UnpackRefusal };

/**
 * Octets that may still be inflated for a mail. What is refused counts as well, because inflating it takes as long:
 * otherwise many small files that are refused after inflating could keep a thread busy.
 */
export class InflateRoom {
  #left: number;

  constructor(limit: number) {
    this.#left = limit;
  }

  get left(): number {
    return this.#left;
  }

  take(octets: number): void {
    this.#left = Math.max(0, this.#left - octets);
  }
}

export function isGzip(octets: Buffer): boolean {
  return octets[0] === 0x1f && octets[1] === 0x8b;
}

export function gunzip(octets: Buffer, room: InflateRoom): Inflated {
  const members: Buffer[] = [];
  let at = 0;
  while (isGzip(octets.subarray(at)) && members.length < MOST_MEMBERS) {
    const member = gunzipMember(octets.subarray(at), room);
    if (!member.ok) {
      if (members.length === 0 || member.reason === "too_large") return member;
      break;
    }
    members.push(member.octets);
    at += member.packedLength;
  }
  return { ok: true, octets: Buffer.concat(members), packedLength: at };
}

/**
 * Deflate (RFC 1951) up to its own end. Node.js does not say how much it inflated before a fault in the stream, so the
 * attempts grow, and a corrupt stream counts as much as the attempt that found the fault could inflate.
 */
export function inflate(packed: Buffer, room: InflateRoom): Inflated {
  for (let most = Math.min(FIRST_ATTEMPT, room.left); ; most = Math.min(most * GROWTH, room.left)) {
    const result = inflateUpTo(packed, most);
    if (!result.ok && result.reason === "too_large" && most < room.left) continue;
    room.take(result.ok ? result.octets.length : most);
    return result;
  }
}

function inflateUpTo(packed: Buffer, limit: number): Inflated {
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

function gunzipMember(octets: Buffer, room: InflateRoom): Inflated {
  const start = endOfHeader(octets);
  if (start < 0) return { ok: false, reason: "corrupt" };
  const inflated = inflate(octets.subarray(start), room);
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
