/** Pictures for tests, made by libraries that the service does not use to read them. */
import jpeg from "jpeg-js";
import { GifWriter } from "omggif";
import { PNG } from "pngjs";

const palette = [0xff0000, 0x00ff00, 0x0000ff, 0xffffff];

/** Left half red, right half blue, opaque. */
export function halves(width: number, height: number): Buffer {
  const data = Buffer.alloc(width * height * 4);
  for (let at = 0; at < width * height; at += 1) {
    data.set(at % width < width / 2 ? [255, 0, 0, 255] : [0, 0, 255, 255], at * 4);
  }
  return data;
}

/** @param octetAt of the colours and alpha; by default the halves */
export function png(
  width: number,
  height: number,
  options: object = {},
  octetAt?: (at: number) => number,
): Buffer {
  const image = new PNG({ width, height });
  image.data = halves(width, height);
  if (octetAt !== undefined) image.data = image.data.map((_, at) => octetAt(at)) as Buffer;
  return PNG.sync.write(image, options);
}

export const jpg = (width: number, height: number) =>
  jpeg.encode({ width, height, data: halves(width, height) }, 90).data;

/** Frames of four colours, each of one colour but for its first pixel, which is transparent in all but the first. */
export function gif(width: number, height: number, frames: number): Buffer {
  const buffer = Buffer.alloc(2_000 + frames * (width * height + 2_000));
  const writer = new GifWriter(buffer, width, height, { palette, loop: 3 });
  for (let at = 0; at < frames; at += 1) {
    const pixels = Array.from({ length: width * height }, () => at % 3);
    if (at > 0) pixels[0] = 3;
    writer.addFrame(0, 0, width, height, pixels, {
      delay: 10 + at,
      disposal: at % 2,
      ...(at > 0 && { transparent: 3 }),
    });
  }
  return buffer.subarray(0, writer.end());
}
