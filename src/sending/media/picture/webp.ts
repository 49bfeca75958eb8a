/** WebP (RFC 9649): reads the chunks of a file, decodes and encodes. */
import decode, { init as initDecoder } from "@jsquash/webp/decode.js";
import encode, { init as initEncoder } from "@jsquash/webp/encode.js";
import { emscriptenOptions } from "./codec-files.ts";
import { damaged, PictureFault, type Pixels, requireSize } from "./picture.ts";

/** "RIFF", the size of what follows, "WEBP" (section 2.4). */
const HEADER_OCTETS = 12;
const CHUNK_HEADER_OCTETS = 8;
/** Of the flags of VP8X (section 2.7). */
const ANIMATION = 0x02;
const QUALITY = 82;

export interface WebpFile {
  /** Without what follows the picture. */
  readonly file: Buffer;
  readonly isLossless: boolean;
}

export function isWebp(file: Buffer): boolean {
  return file.toString("latin1", 0, 4) === "RIFF" && file.toString("latin1", 8, HEADER_OCTETS) === "WEBP";
}

/** @throws PictureFault for a file that is not complete, too large in pixels, or animated */
export function readWebp(file: Buffer): WebpFile {
  if (file.length < HEADER_OCTETS) throw damaged();
  const end = CHUNK_HEADER_OCTETS + file.readUInt32LE(4);
  if (end > file.length) throw damaged();
  const whole = file.subarray(0, end);
  for (let at = HEADER_OCTETS; at + CHUNK_HEADER_OCTETS <= end; ) {
    const type = whole.toString("latin1", at, at + 4);
    const length = whole.readUInt32LE(at + 4);
    const start = at + CHUNK_HEADER_OCTETS;
    if (start + length > end) throw damaged();
    const data = whole.subarray(start, start + length);
    if (type === "VP8X") readExtended(data);
    if (type === "VP8 ") return { file: readLossy(data, whole), isLossless: false };
    if (type === "VP8L") return { file: readLossless(data, whole), isLossless: true };
    at = start + length + (length % 2);
  }
  throw damaged();
}

/** The width and height of the canvas are stored less one, in 24 bits (section 2.7). */
function readExtended(data: Buffer): void {
  if (data.length < 10) throw damaged();
  if (((data[0] ?? 0) & ANIMATION) !== 0) {
    throw new PictureFault(
      "Animated WebP pictures are not taken, because few mail programs play them: save it as GIF",
    );
  }
  requireSize(data.readUIntLE(4, 3) + 1, data.readUIntLE(7, 3) + 1);
}

/** A key frame: a tag of three octets, a start code, width and height in 14 bits each (RFC 6386 section 9.1). */
function readLossy(data: Buffer, whole: Buffer): Buffer {
  if (data.length < 10 || data.readUIntBE(3, 3) !== 0x9d012a) throw damaged();
  requireSize(data.readUInt16LE(6) & 0x3fff, data.readUInt16LE(8) & 0x3fff);
  return whole;
}

/** A signature, then width and height less one in 14 bits each (section 3.4). */
function readLossless(data: Buffer, whole: Buffer): Buffer {
  if (data.length < 5 || data[0] !== 0x2f) throw damaged();
  const bits = data.readUInt32LE(1);
  requireSize((bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1);
  return whole;
}

export async function decodeWebp({ file }: WebpFile): Promise<Pixels> {
  await initDecoder(emscriptenOptions("@jsquash/webp/codec/dec/webp_dec.wasm"));
  return decode(new Uint8Array(file).buffer);
}

/** Lossless if the original is. */
export async function encodeWebp(pixels: Pixels, { isLossless }: WebpFile): Promise<Uint8Array> {
  await initEncoder(emscriptenOptions("@jsquash/webp/codec/enc/webp_enc_simd.wasm"));
  const options = isLossless ? { lossless: 1, quality: 50 } : { quality: QUALITY };
  return new Uint8Array(await encode(pixels, options));
}
