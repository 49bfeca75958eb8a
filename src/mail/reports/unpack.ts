/**
 * Unpacks what reports come in: gzip, zip, a zlib stream or nothing, told by the first octets, because media types and file names are
 * often wrong. The sender may mean harm: sizes are limited while unpacking, not believed from the header. How well a
 * report packs says nothing about it: thousands of alike records pack a hundred to one.
 */

import { gunzip, type InflateBudget, isGzip, isZlib, unzlib } from "./gzip.ts";
import type { Unpacked } from "./unpacked.ts";
import { isZip, unzip } from "./zip.ts";

/** Line breaks and blanks that come before an archive when text is put before Base64. */
const STRAY = new Set([0x0a, 0x0d, 0x20, 0x09]);

/**
 * The files in an archive, or what was given where it is none. A file of a zip may be a gzip or
 * a zlib stream; any other archive in an archive is refused.
 * @param room of what is packed it takes what is inflated; of what is not, nothing
 */
export function unpack(given: Uint8Array, room: InflateBudget): Unpacked[] {
  const octets = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  const packed = withoutStray(octets);
  if (packed.length === 0) return [{ ok: false, name: null, reason: "empty" }];
  if (isZip(packed)) return unzip(packed, room).map((file) => unpackStream(file, room));
  if (isStream(packed)) return [withoutNested(inflated(null, packed, room))];
  const isTooLarge = octets.length > room.left;
  return [
    isTooLarge
      ? { ok: false, name: null, reason: "too_large" }
      : { ok: true, name: null, octets, isCutOff: false },
  ];
}

/** Whether octets are packed in a way that is read here. */
export function isPacked(octets: Buffer): boolean {
  const packed = withoutStray(octets);
  return isZip(packed) || isStream(packed);
}

function unpackStream(file: Unpacked, room: InflateBudget): Unpacked {
  if (!file.ok || !isStream(file.octets)) return withoutNested(file);
  const inner = inflated(file.name, file.octets, room);
  return withoutNested(inner.ok ? { ...inner, isCutOff: inner.isCutOff || file.isCutOff } : inner);
}

function isStream(octets: Buffer): boolean {
  return isGzip(octets) || isZlib(octets);
}

function inflated(name: string | null, packed: Buffer, room: InflateBudget): Unpacked {
  const result = isGzip(packed) ? gunzip(packed, room) : unzlib(packed, room);
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
