/**
 * Writes a GIF again, frame by frame, with its palettes, times and ways of disposal, and without comments, texts, data of
 * applications and colours that no pixel has. The other colours stay as they are. A wide one is scaled down to every n-th pixel: then the frames of an animation
 * fit together as before.
 */
import { GifWriter } from "omggif";
import { blocksFrom, type GifFrame, readGif } from "./gif-blocks.ts";
import { decodeLzw } from "./gif-lzw.ts";
import { MOST_WIDTH } from "./picture.ts";

/** The largest way of disposal that is defined (section 23). */
const LAST_DISPOSAL = 3;

/** The place of the common palette: after the header and the description of the screen (sections 17 to 19). */
const COMMON_PALETTE = 13;

export interface WrittenGif {
  readonly octets: Uint8Array;
  readonly width: number;
  readonly height: number;
  readonly frames: number;
}

/**
 * @param mostOctets room for the result; a longer one is cut, and is one octet longer than that
 * @throws PictureFault for a file that is damaged or too large
 */
export function rewriteGif(file: Buffer, mostOctets: number): WrittenGif {
  const { width, height, palette, loop, frames } = readGif(file);
  const screen = { width: Math.min(width, MOST_WIDTH), height };
  if (width > MOST_WIDTH) screen.height = Math.max(1, Math.round((height * MOST_WIDTH) / width));
  // The writer goes on counting at the end of its buffer.
  const buffer = new Uint8Array(mostOctets + 1);
  const writer = new GifWriter(buffer, screen.width, screen.height, {
    ...(loop !== null && { loop }),
    ...(palette && { palette: [...palette] }),
  });
  const shownOfCommon = new Set<number>();
  for (const frame of frames) {
    const { delay, disposal, transparent } = frame.control;
    const columns = samples(frame.x, frame.width, width, screen.width);
    const rows = samples(frame.y, frame.height, height, screen.height);
    // The types of the library ask for arrays, of which it uses the indices only.
    const pixels = pixelsOf(file, frame, columns.from, rows.from) as unknown as number[];
    const shown = frame.palette ? new Set<number>() : shownOfCommon;
    for (const index of pixels) if (index !== transparent) shown.add(index);
    writer.addFrame(columns.start, rows.start, columns.from.length, rows.from.length, pixels, {
      delay,
      disposal: disposal <= LAST_DISPOSAL ? disposal : 0,
      ...(transparent !== null && { transparent }),
      ...(frame.palette && { palette: frame.palette.map((colour, at) => (shown.has(at) ? colour : 0)) }),
    });
  }
  // The common palette is written before the frames are known.
  for (const at of palette?.keys() ?? []) {
    if (!shownOfCommon.has(at)) buffer.fill(0, COMMON_PALETTE + 3 * at, COMMON_PALETTE + 3 * (at + 1));
  }
  return { octets: buffer.subarray(0, writer.end()), ...screen, frames: frames.length };
}

/** The columns or rows of a frame that are kept: where they begin on the new screen, and which of the frame they are. */
interface Samples {
  readonly start: number;
  readonly from: readonly number[];
}

/**
 * @param start of the frame on the screen, in pixels
 * @param length of the frame
 * @param before length of the screen
 * @param after its new length
 */
function samples(start: number, length: number, before: number, after: number): Samples {
  // The new pixel n shows the old pixel in the middle of its place.
  const firstFrom = (old: number) => Math.ceil((old * after) / before - 0.5);
  // A frame that is thinner than a new pixel still has its time, and takes one.
  const first = Math.min(firstFrom(start), after - 1);
  const end = Math.max(firstFrom(start + length), first + 1);
  const from = Array.from({ length: end - first }, (_, at) => {
    const old = Math.floor(((first + at + 0.5) * before) / after) - start;
    return Math.min(length - 1, Math.max(0, old));
  });
  return { start: first, from };
}

/** The indices of the colours of these columns and rows. */
function pixelsOf(
  file: Buffer,
  { width, height, isInterlaced, dataStart }: GifFrame,
  columns: readonly number[],
  rows: readonly number[],
): Uint8Array {
  const stored = decodeLzw(blocksFrom(file, dataStart + 1), file[dataStart] ?? 0, width * height);
  const places = isInterlaced ? interlacedPlaces(height) : null;
  const isWhole = columns.length === width && rows.length === height;
  if (isWhole && places === null) return stored;
  const pixels = new Uint8Array(columns.length * rows.length);
  let to = 0;
  for (const row of rows) {
    const start = (places?.[row] ?? row) * width;
    for (const column of columns) {
      pixels[to] = stored[start + column] ?? 0;
      to += 1;
    }
  }
  return pixels;
}

/** The place in the data of each row of an interlaced frame (appendix E). */
function interlacedPlaces(height: number): number[] {
  const places: number[] = [];
  let place = 0;
  for (const [first, step] of [
    [0, 8],
    [4, 8],
    [2, 4],
    [1, 2],
  ] as const) {
    for (let row = first; row < height; row += step) {
      places[row] = place;
      place += 1;
    }
  }
  return places;
}
