/** Pictures that mail programs show: their kinds, the limits on them, and how the program holds them in memory. */

export const pictureKinds = ["png", "jpeg", "gif", "webp"] as const;
export type PictureKind = (typeof pictureKinds)[number];

/** Decoded, a picture takes four bytes a pixel; phones take pictures of 12 and 24 megapixels. */
export const MOST_PIXELS = 25_000_000;
/** Pixels of a side. WebP has no longer one. */
const LONGEST_SIDE = 16_383;
/** Wider pictures are scaled down: mail is 600 to 700 pixels wide, on screens with up to three pixels for one. */
export const MOST_WIDTH = 2_000;

/** A picture in memory: rows from the top, pixels from the left, each as red, green, blue and alpha. */
export interface Pixels {
  readonly data: Uint8ClampedArray;
  readonly width: number;
  readonly height: number;
}

/** Why a file is not taken, in a sentence for the person who sent it. */
export class PictureFault extends Error {}

/** For a file that ends too early or contradicts itself. */
export function damaged(): PictureFault {
  return new PictureFault("The picture is damaged or not complete: save it again, and upload the new file");
}

/** @throws PictureFault before anything of this size is decoded */
export function requireSize(width: number, height: number): void {
  if (width === 0 || height === 0) throw damaged();
  if (width <= LONGEST_SIDE && height <= LONGEST_SIDE && width * height <= MOST_PIXELS) return;
  const [wide, high, side] = [width, height, LONGEST_SIDE].map((pixels) => pixels.toLocaleString("en"));
  throw new PictureFault(
    `The picture has ${wide} × ${high} pixels; it may have at most ${MOST_PIXELS / 1_000_000} megapixels, and ${side} pixels on a side: scale it down first`,
  );
}
