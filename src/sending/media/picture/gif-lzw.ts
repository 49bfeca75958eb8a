/** Decompresses the pixels of a frame of a GIF (GIF89a specification, appendix F). */
import { damaged } from "./picture.ts";

const MOST_CODES = 4_096;
const LONGEST_CODE = 12;
const NONE = -1;

/**
 * @param codeSize bits of a pixel, 2 to 8
 * @param length how many pixels there are
 * @returns the index of the colour of each pixel
 * @throws PictureFault if there are fewer
 */
export function decodeLzw(codes: Buffer, codeSize: number, length: number): Uint8Array {
  if (codeSize < 2 || codeSize > 8) throw damaged();
  const pixels = new Uint8Array(length);
  const clear = 2 ** codeSize;
  const end = clear + 1;
  // A code means the pixels of an earlier code, and one more pixel after them.
  const earlier = new Uint16Array(MOST_CODES);
  const last = new Uint8Array(MOST_CODES);
  const lengths = new Uint16Array(MOST_CODES).fill(1, 0, clear);
  let [next, size, previous] = [end + 1, codeSize + 1, NONE];
  let [bits, waiting, at, to] = [0, 0, 0, 0];
  while (to < length) {
    while (waiting < size) {
      const octet = codes[at];
      if (octet === undefined) throw damaged();
      bits |= octet << waiting;
      waiting += 8;
      at += 1;
    }
    const code = bits & (2 ** size - 1);
    bits >>>= size;
    waiting -= size;
    if (code === clear) {
      [next, size, previous] = [end + 1, codeSize + 1, NONE];
      continue;
    }
    if (code === end || code > next || (previous === NONE && code > clear)) throw damaged();
    // The code that is being defined is the previous one and its own first pixel.
    const isNew = code === next;
    let known = isNew ? previous : code;
    const knownLength = lengths[known] ?? 0;
    let back = to + knownLength;
    while (known > clear) {
      back -= 1;
      pixels[back] = last[known] ?? 0;
      known = earlier[known] ?? 0;
    }
    pixels[to] = known;
    if (isNew) pixels[to + knownLength] = known;
    if (previous !== NONE && next < MOST_CODES) {
      earlier[next] = previous;
      last[next] = known;
      lengths[next] = (lengths[previous] ?? 0) + 1;
      next += 1;
      if (next === 2 ** size && size < LONGEST_CODE) size += 1;
    }
    to += knownLength + (isNew ? 1 : 0);
    previous = code;
  }
  return pixels;
}
