/** PNG (W3C Portable Network Graphics, third edition): reads the chunks of a file, decodes and encodes. */

import initEncoder, { optimise_raw } from "@jsquash/oxipng/codec/pkg/squoosh_oxipng.js";
import initDecoder, { decode } from "@jsquash/png/codec/pkg/squoosh_png.js";
import { codecFile } from "./codec-files.ts";
import { damaged, PictureFault, type Pixels, requireSize } from "./picture.ts";

const SIGNATURE = Buffer.from("89504e470d0a1a0a", "hex");
/** Chunks that the pixels depend on. Others are text, dates, profiles and the like, and are not given to the decoder. */
const ofPixels = new Set(["IHDR", "PLTE", "tRNS", "IDAT", "IEND"]);
/** Length, type and checksum of a chunk, around its data. */
const FRAME_OCTETS = 12;
const IHDR_OCTETS = 13;

export function isPng(file: Buffer): boolean {
  return file.subarray(0, SIGNATURE.length).equals(SIGNATURE);
}

/**
 * The chunks of the pixels, as a file.
 * @throws PictureFault for a file that is not complete, too large in pixels, or animated
 */
export function readPng(file: Buffer): Buffer {
  const kept: Buffer[] = [SIGNATURE];
  for (const { type, octets, data } of chunksOf(file)) {
    if ((kept.length === 1) !== (type === "IHDR")) throw damaged();
    if (type === "IHDR") {
      if (data.length !== IHDR_OCTETS) throw damaged();
      requireSize(data.readUInt32BE(0), data.readUInt32BE(4));
    }
    if (type === "acTL") {
      throw new PictureFault(
        "Animated PNG pictures are not taken, because mail programs do not play them: save it as GIF",
      );
    }
    if (ofPixels.has(type)) kept.push(octets);
  }
  return Buffer.concat(kept);
}

/** The chunks up to IEND. What follows it is not read. */
function* chunksOf(file: Buffer) {
  let at = SIGNATURE.length;
  for (;;) {
    if (at + FRAME_OCTETS > file.length) throw damaged();
    const end = at + FRAME_OCTETS + file.readUInt32BE(at);
    if (end > file.length) throw damaged();
    const type = file.toString("latin1", at + 4, at + 8);
    yield { type, octets: file.subarray(at, end), data: file.subarray(at + 8, end - 4) };
    if (type === "IEND") return;
    at = end;
  }
}

/** @param file of readPng */
export async function decodePng(file: Buffer): Promise<Pixels> {
  await initDecoder(codecFile("@jsquash/png/codec/pkg/squoosh_png_bg.wasm"));
  return decode(file);
}

/** Lossless; with a palette where there are few colours. A photograph takes a sixth of a second for each megapixel. */
export async function encodePng({ data, width, height }: Pixels): Promise<Uint8Array> {
  await initEncoder(codecFile("@jsquash/oxipng/codec/pkg/squoosh_oxipng_bg.wasm"));
  return optimise_raw(data, width, height, 0, false, true);
}
