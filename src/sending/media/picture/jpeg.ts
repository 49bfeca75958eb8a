/** JPEG (ITU-T T.81): reads the segments of a file, decodes and encodes. */
import decode, { init as initDecoder } from "@jsquash/jpeg/decode.js";
import encode, { init as initEncoder } from "@jsquash/jpeg/encode.js";
import { emscriptenOptions } from "./codec-files.ts";
import { damaged, PictureFault, type Pixels, requireSize } from "./picture.ts";

/** Markers (table B.1). */
const SOI = 0xd8;
const EOI = 0xd9;
const SOS = 0xda;
/** Baseline, extended and progressive Huffman coding: all that programs write. */
const frames = new Set([0xc0, 0xc1, 0xc2]);
/** Other frames: lossless, hierarchical and arithmetic coding. DHT, JPG and DAC are in between. */
const isOtherFrame = (marker: number) =>
  marker >= 0xc3 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
const isRestart = (marker: number) => marker >= 0xd0 && marker <= 0xd7;

/** A progressive picture has about ten scans; each costs a pass over all of its pixels. */
const MOST_SCANS = 100;
/** The eye can hardly tell the result from the original. */
const QUALITY = 82;

export function isJpeg(file: Buffer): boolean {
  return file[0] === 0xff && file[1] === SOI && file[2] === 0xff;
}

/**
 * The file up to its end marker, without what follows.
 * @throws PictureFault for a file that is not complete, too large in pixels, or in a form that mail programs do not show
 */
export function readJpeg(file: Buffer): Buffer {
  let at = 2;
  let hasFrame = false;
  let scans = 0;
  for (;;) {
    const marker = markerAt(file, at);
    if (marker.code === EOI) {
      if (!hasFrame || scans === 0) throw damaged();
      return file.subarray(0, marker.end);
    }
    const segment = segmentAt(file, marker.end);
    at = marker.end + segment.length;
    if (isOtherFrame(marker.code)) throw unusual();
    if (frames.has(marker.code)) {
      if (hasFrame) throw damaged();
      hasFrame = true;
      readFrame(segment);
    }
    if (marker.code === SOS) {
      scans += 1;
      if (scans > MOST_SCANS) throw unusual();
      at = endOfScan(file, at);
    }
  }
}

/** A marker may follow any number of fill octets (B.1.1.2). */
function markerAt(file: Buffer, start: number): { readonly code: number; readonly end: number } {
  if (file[start] !== 0xff) throw damaged();
  let at = start;
  while (file[at] === 0xff) at += 1;
  const code = file[at];
  if (code === undefined || code === 0 || code === SOI || isRestart(code)) throw damaged();
  return { code, end: at + 1 };
}

/** The segment with its length, which counts itself (B.1.1.4). */
function segmentAt(file: Buffer, start: number): Buffer {
  if (start + 2 > file.length) throw damaged();
  const length = file.readUInt16BE(start);
  if (length < 2 || start + length > file.length) throw damaged();
  return file.subarray(start, start + length);
}

/** Length, precision, height, width, number of components (B.2.2). */
function readFrame(segment: Buffer): void {
  if (segment.length < 8) throw damaged();
  requireSize(segment.readUInt16BE(5), segment.readUInt16BE(3));
  const components = segment[7];
  if (components !== 1 && components !== 3) {
    throw new PictureFault(
      "The picture has the colours of print (CMYK), which mail programs do not show: save it as RGB",
    );
  }
}

/** Where the marker after the data of a scan begins. In the data, FF is followed by 0 or is a restart marker (B.1.1.5). */
function endOfScan(file: Buffer, start: number): number {
  let at = start;
  for (;;) {
    at = file.indexOf(0xff, at);
    const next = at < 0 ? undefined : file[at + 1];
    if (next === undefined) throw damaged();
    if (next !== 0 && next !== 0xff && !isRestart(next)) return at;
    at += next === 0xff ? 1 : 2;
  }
}

function unusual(): PictureFault {
  return new PictureFault("The picture is a JPEG in an unusual form: save it again as an ordinary JPEG");
}

/** Turned as the Orientation of its Exif says. @param file of readJpeg */
export async function decodeJpeg(file: Buffer): Promise<Pixels> {
  const warnings: string[] = [];
  await initDecoder(
    emscriptenOptions("@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm", (line) => void warnings.push(line)),
  );
  const pixels = await decode(new Uint8Array(file).buffer, { preserveOrientation: true });
  // The decoder fills what is missing with grey. Other warnings are about octets that it skips.
  if (warnings.some((line) => /premature end/i.test(line))) throw damaged();
  return pixels;
}

export async function encodeJpeg(pixels: Pixels): Promise<Uint8Array> {
  await initEncoder(emscriptenOptions("@jsquash/jpeg/codec/enc/mozjpeg_enc.wasm"));
  return new Uint8Array(await encode(pixels, { quality: QUALITY }));
}
