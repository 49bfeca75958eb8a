/**
 * Makes a picture smaller: each new pixel is the mean of the pixels around its place, weighted by their distance (a triangle
 * filter, as wide as two new pixels), in the colours as they are stored.
 *
 * This is not @jsquash/resize, which needs 800 MB for 25 megapixels; this needs the new picture and one row.
 */
import type { Pixels } from "./picture.ts";

const CHANNELS = 4;
const OPAQUE = 255;

/** The pixels of a row or column that a new pixel is made of, with weights whose sum is 1. */
interface Taps {
  readonly first: number;
  readonly weights: Float32Array;
}

/** The same picture if it is not wider. */
export function scaleDown(picture: Pixels, mostWidth: number): Pixels {
  if (picture.width <= mostWidth) return picture;
  const width = mostWidth;
  const height = Math.max(1, Math.round((picture.height * mostWidth) / picture.width));
  const data = new Uint8ClampedArray(width * height * CHANNELS);
  const row = new Float32Array(picture.width * CHANNELS);
  const columns = tapsOf(picture.width, width);
  for (const [y, taps] of tapsOf(picture.height, height).entries()) {
    addRows(picture, taps, row);
    writeRow(row, columns, data, y * width * CHANNELS);
  }
  return { data, width, height };
}

function tapsOf(from: number, to: number): Taps[] {
  const ratio = from / to;
  return Array.from({ length: to }, (_, at) => {
    const centre = (at + 0.5) * ratio;
    const first = Math.max(0, Math.floor(centre - ratio));
    const end = Math.min(from, Math.ceil(centre + ratio));
    const weights = Float32Array.from({ length: end - first }, (_weight, tap) =>
      Math.max(0, 1 - Math.abs(first + tap + 0.5 - centre) / ratio),
    );
    const sum = weights.reduce((all, weight) => all + weight, 0);
    return { first, weights: weights.map((weight) => weight / sum) };
  });
}

/** The mean of some rows. Colours are multiplied by alpha, so that those of transparent pixels do not show. */
function addRows({ data, width }: Pixels, { first, weights }: Taps, row: Float32Array): void {
  row.fill(0);
  for (const [tap, weight] of weights.entries()) {
    let at = (first + tap) * width * CHANNELS;
    for (let to = 0; to < row.length; to += CHANNELS, at += CHANNELS) {
      const alpha = (data[at + 3] ?? 0) * weight;
      row[to] = (row[to] ?? 0) + (data[at] ?? 0) * alpha;
      row[to + 1] = (row[to + 1] ?? 0) + (data[at + 1] ?? 0) * alpha;
      row[to + 2] = (row[to + 2] ?? 0) + (data[at + 2] ?? 0) * alpha;
      row[to + 3] = (row[to + 3] ?? 0) + alpha;
    }
  }
}

function writeRow(row: Float32Array, columns: readonly Taps[], data: Uint8ClampedArray, start: number): void {
  let to = start;
  for (const { first, weights } of columns) {
    let [red, green, blue, alpha] = [0, 0, 0, 0];
    for (let tap = 0; tap < weights.length; tap += 1) {
      const weight = weights[tap] ?? 0;
      const at = (first + tap) * CHANNELS;
      red += (row[at] ?? 0) * weight;
      green += (row[at + 1] ?? 0) * weight;
      blue += (row[at + 2] ?? 0) * weight;
      alpha += (row[at + 3] ?? 0) * weight;
    }
    // A colour that alpha hides completely is black.
    const share = alpha === 0 ? 0 : 1 / alpha;
    data[to] = red * share;
    data[to + 1] = green * share;
    data[to + 2] = blue * share;
    data[to + 3] = Math.min(OPAQUE, alpha);
    to += CHANNELS;
  }
}
