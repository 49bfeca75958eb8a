/**
 * Unpacks the files of reports: gzip, zip, zlib stream or plain, recognized by the first octets, because media types
 * and file names are often wrong. Files are untrusted: sizes are limited while unpacking, not taken from headers. A
 * high compression ratio is normal: thousands of similar records shrink to a hundredth.
 */

import { gunzip, type InflateBudget, isGzip, isZlib, unzlib } from "./gzip.ts";
import type { Unpacked } from "./unpack-result.ts";
import { isZip, unzip } from "./zip.ts";

/** White space before an archive, which text before Base64 can leave. */
const STRAY = new Set([0x0a, 0x0d, 0x20, 0x09]);

/**
 * The files in an archive, or the given octets if they are not an archive. A file of a zip may itself be a gzip or zlib
 * stream; any other nested archive is refused.
 * @param budget is charged with the inflated octets; files that are not packed cost nothing
 */
export function unpack(given: Uint8Array, budget: InflateBudget): Unpacked[] {
  const octets = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  const packed = withoutStray(octets);
  if (packed.length === 0) return [{ ok: false, name: null, reason: "empty" }];
  if (isZip(packed)) return unzip(packed, budget).map((file) => unpackStream(file, budget));
  if (isStream(packed)) return [withoutNested(inflated(null, packed, budget))];
  const isTooLarge = octets.length > budget.left;
  return [
    isTooLarge
      ? { ok: false, name: null, reason: "too_large" }
      : { ok: true, name: null, octets, isCutOff: false },
  ];
}

/** Whether octets are a gzip, zlib or zip file. */
export function isPacked(octets: Buffer): boolean {
  const packed = withoutStray(octets);
  return isZip(packed) || isStream(packed);
}

function unpackStream(file: Unpacked, budget: InflateBudget): Unpacked {
  if (!file.ok || !isStream(file.octets)) return withoutNested(file);
  const inner = inflated(file.name, file.octets, budget);
  return withoutNested(inner.ok ? { ...inner, isCutOff: inner.isCutOff || file.isCutOff } : inner);
}

function isStream(octets: Buffer): boolean {
  return isGzip(octets) || isZlib(octets);
}

function inflated(name: string | null, packed: Buffer, budget: InflateBudget): Unpacked {
  const result = isGzip(packed) ? gunzip(packed, budget) : unzlib(packed, budget);
  return result.ok
    ? { ok: true, name, octets: result.octets, isCutOff: result.isCutOff }
    : { ok: false, name, reason: result.reason };
}

function withoutNested(file: Unpacked): Unpacked {
  return file.ok && isPacked(file.octets) ? { ok: false, name: file.name, reason: "nested_archive" } : file;
}

function withoutStray(octets: Buffer): Buffer {
  let start = 0;
  while (start < octets.length && STRAY.has(octets[start] ?? 0)) start++;
  return octets.subarray(start);
}
