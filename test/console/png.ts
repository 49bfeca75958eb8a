/** Pictures as PNG files (W3C Portable Network Graphics): reads those of the browser, writes small ones with a palette. */
import { crc32, deflateSync, inflateSync } from "node:zlib";

export interface Pixels {
  readonly width: number;
  readonly height: number;
  /** Red, green and blue, a byte each, row by row. */
  readonly rgb: Uint8Array;
}

const SIGNATURE = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
const MOST_COLOURS = 256;
/** Bytes of a pixel by colour type: with a palette, colour, and colour with alpha. */
const bytesOf: Readonly<Record<number, number>> = { 3: 1, 2: 3, 6: 4 };

/** @throws Error unless the picture has eight bits a channel, no interlace, and colours or a palette. */
export function readPng(file: Buffer): Pixels {
  const chunks = chunksOf(file);
  const head = chunks.get("IHDR") ?? Buffer.alloc(13);
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)];
  const [bits, type = -1, , , interlace] = head.subarray(8);
  const size = bytesOf[type];
  if (bits !== 8 || interlace !== 0 || size === undefined) throw new Error("a PNG of another kind");
  const raw = unfiltered(inflateSync(chunks.get("IDAT") ?? Buffer.alloc(0)), width * size, height, size);
  const palette = chunks.get("PLTE");
  const rgb = new Uint8Array(width * height * 3);
  for (let pixel = 0; pixel < width * height; pixel++) {
    const from = palette ?? raw;
    const at = palette ? (raw[pixel] ?? 0) * 3 : pixel * size;
    for (let channel = 0; channel < 3; channel++) rgb[pixel * 3 + channel] = from[at + channel] ?? 0;
  }
  return { width, height, rgb };
}

/** With a palette of at most 256 colours: near ones become the commonest of them. */
export function writePng({ width, height, rgb }: Pixels): Buffer {
  const { palette, indexOf } = paletteOf(rgb);
  const rows = Buffer.alloc((width + 1) * height);
  for (let pixel = 0; pixel < width * height; pixel++)
    rows[pixel + Math.floor(pixel / width) + 1] = indexOf(colourAt(rgb, pixel));
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  const chunks = [
    chunk("IHDR", head),
    chunk("PLTE", palette),
    chunk("IDAT", deflateSync(rows, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ];
  return Buffer.concat([SIGNATURE, ...chunks]);
}

/** The share of the pixels with a channel that differs by more than `tolerance`; 1 if the sizes differ. */
export function differenceOf(one: Pixels, other: Pixels, tolerance: number): number {
  if (one.width !== other.width || one.height !== other.height) return 1;
  let count = 0;
  for (let at = 0; at < one.rgb.length; at += 3) {
    let most = 0;
    for (let place = at; place < at + 3; place++)
      most = Math.max(most, Math.abs((one.rgb[place] ?? 0) - (other.rgb[place] ?? 0)));
    if (most > tolerance) count++;
  }
  return count / (one.width * one.height);
}

function chunksOf(file: Buffer): ReadonlyMap<string, Buffer> {
  const chunks = new Map<string, Buffer>();
  for (let at = SIGNATURE.length; at < file.length; ) {
    const [length, name] = [file.readUInt32BE(at), file.toString("latin1", at + 4, at + 8)];
    const data = file.subarray(at + 8, at + 8 + length);
    chunks.set(name, Buffer.concat([chunks.get(name) ?? Buffer.alloc(0), data]));
    at += 12 + length;
  }
  return chunks;
}

/** Undoes the filters of the rows (section 9.2 of the specification). */
function unfiltered(data: Buffer, width: number, height: number, size: number): Uint8Array {
  const out = new Uint8Array(width * height);
  for (let row = 0; row < height; row++) {
    const filter = data[row * (width + 1)];
    const [from, to] = [row * (width + 1) + 1, row * width];
    for (let x = 0; x < width; x++) {
      const left = x < size ? 0 : (out[to + x - size] ?? 0);
      const up = row === 0 ? 0 : (out[to + x - width] ?? 0);
      const corner = x < size || row === 0 ? 0 : (out[to + x - width - size] ?? 0);
      out[to + x] = (data[from + x] ?? 0) + guess(filter, left, up, corner);
    }
  }
  return out;
}

function guess(filter: number | undefined, left: number, up: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  return filter === 4 ? nearest(left, up, corner) : 0;
}

/** The predictor of Paeth. */
function nearest(left: number, up: number, corner: number): number {
  const byLeft = Math.abs(up - corner);
  const byUp = Math.abs(left - corner);
  const byCorner = Math.abs(left + up - 2 * corner);
  if (byLeft <= byUp && byLeft <= byCorner) return left;
  return byUp <= byCorner ? up : corner;
}

function colourAt(rgb: Uint8Array, pixel: number): number {
  const at = pixel * 3;
  return ((rgb[at] ?? 0) << 16) | ((rgb[at + 1] ?? 0) << 8) | (rgb[at + 2] ?? 0);
}

interface Palette {
  readonly palette: Buffer;
  readonly indexOf: (colour: number) => number;
}

/** Colours are near each other when they are the same without their lowest bits: as few of these as needed. */
function paletteOf(rgb: Uint8Array): Palette {
  const counts = new Map<number, number>();
  for (let pixel = 0; pixel < rgb.length / 3; pixel++) {
    const colour = colourAt(rgb, pixel);
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const commonest = [...counts].sort(([, one], [, other]) => other - one).map(([colour]) => colour);
  for (let bits = 0; bits < 8; bits++) {
    const byte = (0xff << bits) & 0xff;
    const mask = (byte << 16) | (byte << 8) | byte;
    const indexes = new Map<number, number>();
    const chosen: number[] = [];
    for (const colour of commonest)
      if (!indexes.has(colour & mask)) indexes.set(colour & mask, chosen.push(colour) - 1);
    if (chosen.length > MOST_COLOURS) continue;
    const bytes = chosen.flatMap((colour) => [colour >> 16, (colour >> 8) & 0xff, colour & 0xff]);
    return { palette: Buffer.from(bytes), indexOf: (colour) => indexes.get(colour & mask) ?? 0 };
  }
  throw new Error("a picture without colours");
}

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
