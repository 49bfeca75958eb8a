/** The pixels of screenshots and of their references. */
import UPNG from "upng-js";

export interface Pixels {
  readonly width: number;
  readonly height: number;
  /** Red, green, blue and alpha, a byte each, row by row. */
  readonly rgba: Uint8Array<ArrayBuffer>;
}

/** The references have a palette, which halves their size. */
const MOST_COLOURS = 256;

/** @param png a file. @throws Error for another kind of file */
export function readPixels(png: Buffer): Pixels {
  const image = UPNG.decode(new Uint8Array(png).buffer);
  const [frame = new ArrayBuffer(0)] = UPNG.toRGBA8(image);
  return { width: image.width, height: image.height, rgba: new Uint8Array(frame) };
}

/** A PNG file with at most MOST_COLOURS: similar ones become the same. */
export function writePixels({ width, height, rgba }: Pixels): Uint8Array {
  return new Uint8Array(UPNG.encode([rgba.buffer], width, height, MOST_COLOURS));
}

/** The share of the pixels with a channel that differs by more than `tolerance`; 1 if the sizes differ. */
export function differenceOf(one: Pixels, other: Pixels, tolerance: number): number {
  if (one.width !== other.width || one.height !== other.height) return 1;
  let count = 0;
  for (let at = 0; at < one.rgba.length; at += 4) {
    let most = 0;
    for (let place = at; place < at + 4; place++)
      most = Math.max(most, Math.abs((one.rgba[place] ?? 0) - (other.rgba[place] ?? 0)));
    if (most > tolerance) count++;
  }
  return count / (one.width * one.height);
}
