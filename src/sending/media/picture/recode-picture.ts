/**
 * Writes an uploaded picture again: decoded, turned as its Exif says, scaled down if it is wide, and encoded. So a stored
 * picture has nothing but its pixels: no place and time where it was taken, and nothing that was hidden in the file. Sizes
 * are read and limited before anything is decoded.
 */
import { isGif } from "./gif-blocks.ts";
import { decodeJpeg, encodeJpeg, isJpeg, readJpeg } from "./jpeg.ts";
import { MOST_WIDTH, PictureFault, type PictureKind, type Pixels } from "./picture.ts";
import { decodePng, encodePng, isPng, readPng } from "./png.ts";
import { rewriteGif } from "./rewrite-gif.ts";
import { scaleDown } from "./scale-down.ts";
import { decodeWebp, encodeWebp, isWebp, readWebp } from "./webp.ts";

/** Bytes of an uploaded file, and of a stored picture. */
export const MOST_BYTES = 10 * 1024 * 1024;

/** To encode as many takes up to three seconds of a processor. */
const MOST_STORED_PIXELS = 10_000_000;

export interface RecodedPicture {
  readonly kind: PictureKind;
  readonly octets: Uint8Array;
  readonly width: number;
  readonly height: number;
  /** More than one in an animation. */
  readonly frames: number;
}

/** The answer of the thread; `fault` is a sentence for the caller. */
export type RecodeAnswer =
  | ({ readonly ok: true } & RecodedPicture)
  | { readonly ok: false; readonly fault: string };

/**
 * @throws PictureFault with a sentence for the caller, and an Error with DECODER_FAILED for a damaged file that a decoder did
 *   not take: its thread should end, because the memory of the decoder is not freed then
 */
export async function recodePicture(file: Buffer): Promise<RecodedPicture> {
  const picture = await recodeAny(file);
  if (picture.octets.length <= MOST_BYTES) return picture;
  throw new PictureFault(
    `The picture takes more than ${MOST_BYTES / 1024 ** 2} MB: scale it down, or save it with a higher compression`,
  );
}

async function recodeAny(file: Buffer): Promise<RecodedPicture> {
  if (isGif(file)) return { kind: "gif", ...rewriteGif(file, MOST_BYTES) };
  if (isPng(file)) return still("png", decodePng(readPng(file)), encodePng);
  if (isJpeg(file)) return still("jpeg", decodeJpeg(readJpeg(file)), encodeJpeg);
  if (isWebp(file)) {
    const webp = readWebp(file);
    return still("webp", decodeWebp(webp), (pixels) => encodeWebp(pixels, webp));
  }
  throw new PictureFault(otherKind(file));
}

async function still(
  kind: PictureKind,
  decoded: Promise<Pixels>,
  encode: (pixels: Pixels) => Promise<Uint8Array>,
): Promise<RecodedPicture> {
  const pixels = scaleDown(await decoded.catch(decoderFailed), MOST_WIDTH);
  const { width, height } = pixels;
  if (width * height > MOST_STORED_PIXELS) {
    throw new PictureFault(
      `The picture is ${height.toLocaleString("en")} pixels high, at a width of ${width.toLocaleString("en")}, and may have at most ${MOST_STORED_PIXELS / 1_000_000} megapixels in that size: cut it into several pictures`,
    );
  }
  return { kind, octets: await encode(pixels), width, height, frames: 1 };
}

/** The message of the error when a decoder fails. */
export const DECODER_FAILED = "a decoder of pictures failed";

function decoderFailed(fault: unknown): never {
  if (fault instanceof PictureFault) throw fault;
  throw new Error(DECODER_FAILED, { cause: fault });
}

/** Octets in which the beginning of an SVG file is looked for. */
const BEGINNING = 4_096;

function otherKind(file: Buffer): string {
  const beginning = file.toString("latin1", 0, BEGINNING);
  if (/<svg[\s>]/i.test(beginning)) {
    return "SVG pictures are not taken, because they may contain scripts, and most mail programs do not show them: save it as PNG";
  }
  if (beginning.slice(4, 8) === "ftyp") {
    return "HEIC and AVIF pictures are not taken, because most mail programs do not show them: save it as JPEG";
  }
  return "The file is no PNG, JPEG, GIF or WebP picture";
}
