/**
 * Gzip (RFC 1952) and zlib streams (RFC 1950). A gzip file has one or more members; octets after the last one, such as
 * a CRLF, NULs or the footer of a mailing list, are ignored. Of a truncated stream the data before the cut is kept; a
 * stream with a wrong checksum is corrupt.
 */

import { constants, crc32, type InflateRaw, inflateRawSync, inflateSync } from "node:zlib";
import type { UnpackRefusal } from "./unpack-result.ts";

const HEADER_LENGTH = 10;
const TRAILER_LENGTH = 8;
const DEFLATED = 8;
const FLAG = { headerCrc: 2, extra: 4, name: 8, comment: 16 };
const MOST_MEMBERS = 1_000;
/** Octets of a zlib stream that are inflated to recognize it. */
const ZLIB_SAMPLE = 512;
/** Octets of the first attempt to inflate, and the growth factor of each further attempt. */
const FIRST_ATTEMPT = 256 * 1024;
const GROWTH = 4;

type Inflate = typeof inflateRawSync;

export type Inflated =
  | {
      readonly ok: true;
      readonly octets: Buffer;
      readonly packedLength: number;
      /** The stream is truncated: `octets` are the data before the cut. */
      readonly isCutOff: boolean;
    }
  | { readonly ok: false; readonly reason: UnpackRefusal };

/**
 * The octets that may still be inflated for one mail. Refused files count as well, because inflating them takes as
 * long: otherwise many small files that are refused after inflating could keep a thread busy.
 */
export class InflateBudget {
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

/** Unpacks all members of a gzip file. */
export function gunzip(octets: Buffer, budget: InflateBudget): Inflated {
  const members: Buffer[] = [];
  let at = 0;
  let isCutOff = false;
  while (isGzip(octets.subarray(at)) && members.length < MOST_MEMBERS) {
    const member = gunzipMember(octets.subarray(at), budget);
    if (!member.ok) {
      if (members.length === 0 || member.reason === "too_large") return member;
      break;
    }
    members.push(member.octets);
    at += member.packedLength;
    isCutOff = member.isCutOff;
  }
  return { ok: true, octets: Buffer.concat(members), packedLength: at, isCutOff };
}

/**
 * Whether octets are a zlib stream. Its header alone is not enough, because a text could begin with the same octets.
 */
export function isZlib(octets: Buffer): boolean {
  const [method = 0, flags = 0] = octets;
  const hasHeader =
    (method & 0x0f) === DEFLATED &&
    method >> 4 <= 7 &&
    (flags & 0x20) === 0 &&
    (method * 256 + flags) % 31 === 0;
  if (!hasHeader) return false;
  const beginning = inflateUpTo(octets.subarray(2, ZLIB_SAMPLE), FIRST_ATTEMPT, inflateRawSync);
  return beginning.ok ? beginning.octets.length > 0 : beginning.reason === "too_large";
}

/** Node.js verifies the checksum. */
export function unzlib(octets: Buffer, budget: InflateBudget): Inflated {
  return inflate(octets, budget, inflateSync);
}

/**
 * Inflates a Deflate stream (RFC 1951) up to its end. Node.js does not report how much it inflated before an error, so
 * the attempts grow, and a corrupt stream is charged with the size of the attempt that found the error.
 */
export function inflate(packed: Buffer, budget: InflateBudget, method: Inflate = inflateRawSync): Inflated {
  for (let most = Math.min(FIRST_ATTEMPT, budget.left); ; most = Math.min(most * GROWTH, budget.left)) {
    const result = inflateUpTo(packed, most, method);
    if (!result.ok && result.reason === "too_large" && most < budget.left) continue;
    budget.take(result.ok ? result.octets.length : most);
    return result;
  }
}

function inflateUpTo(packed: Buffer, limit: number, method: Inflate): Inflated {
  const whole = inflateOnce(packed, { limit, method, isCutOff: false });
  return whole === "cut_off" ? inflateBeforeBreak(packed, limit, method) : whole;
}

function inflateBeforeBreak(packed: Buffer, limit: number, method: Inflate): Inflated {
  const part = inflateOnce(packed, { limit, method, isCutOff: true });
  return part === "cut_off" ? { ok: false, reason: "corrupt" } : part;
}

interface Attempt {
  readonly limit: number;
  readonly method: Inflate;
  /** Returns the data before the cut instead of requiring the end of the stream. */
  readonly isCutOff: boolean;
}

function inflateOnce(packed: Buffer, { limit, method, isCutOff }: Attempt): Inflated | "cut_off" {
  try {
    const finishFlush = isCutOff ? constants.Z_SYNC_FLUSH : constants.Z_FINISH;
    // With `info` the result has the number of octets consumed, which the type definitions do not contain.
    const options = { maxOutputLength: Math.max(1, limit), info: true, finishFlush };
    const { buffer, engine } = method(packed, options) as unknown as {
      readonly buffer: Buffer;
      readonly engine: InflateRaw;
    };
    return buffer.length > limit
      ? { ok: false, reason: "too_large" }
      : { ok: true, octets: buffer, packedLength: engine.bytesWritten, isCutOff };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "";
    if (code === "Z_BUF_ERROR") return "cut_off";
    return { ok: false, reason: code === "ERR_BUFFER_TOO_LARGE" ? "too_large" : "corrupt" };
  }
}

function gunzipMember(octets: Buffer, budget: InflateBudget): Inflated {
  const start = endOfHeader(octets);
  if (start < 0) return { ok: false, reason: "corrupt" };
  const inflated = inflate(octets.subarray(start), budget);
  if (!inflated.ok || inflated.isCutOff) return inflated;
  const trailer = octets.subarray(start + inflated.packedLength);
  const [checksum, length] = [numberAt(trailer, 0), numberAt(trailer, 4)];
  const isRight =
    (checksum ?? crc32(inflated.octets)) === crc32(inflated.octets) &&
    (length ?? inflated.octets.length % 2 ** 32) === inflated.octets.length % 2 ** 32;
  if (!isRight) return { ok: false, reason: "corrupt" };
  const packedLength = Math.min(octets.length, start + inflated.packedLength + TRAILER_LENGTH);
  return { ...inflated, packedLength, isCutOff: length === null };
}

/** Null if the octets end before it. */
export function numberAt(octets: Buffer, at: number): number | null {
  return at + 4 <= octets.length ? octets.readUInt32LE(at) : null;
}

/** The offset of the compressed octets, -1 if the header is broken. */
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
