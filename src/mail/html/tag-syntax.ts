/** The characters that delimit tags, and functions that find the end of names, values and blanks in a tag. */

import { blank } from "#mail/text/characters.ts";

export const exclamationMark = 0x21;
export const quotationMark = 0x22;
export const apostrophe = 0x27;
export const slash = 0x2f;
export const equalsSign = 0x3d;
export const greaterThan = 0x3e;
export const questionMark = 0x3f;

export function isLetter(code: number | undefined): boolean {
  const lower = (code ?? 0) | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}

/** The end of a name: at white space, `/`, `>`, `delimiter`, or the end of the HTML. */
export function nameEnd(codes: Uint16Array, length: number, start: number, delimiter = greaterThan): number {
  let end = start;
  for (; end < length; end++) {
    const code = codes[end] ?? 0;
    if (code <= blank || code === slash || code === greaterThan || code === delimiter) break;
  }
  return end;
}

export function unquotedEnd(codes: Uint16Array, length: number, start: number): number {
  let end = start;
  for (; end < length; end++) {
    const code = codes[end] ?? 0;
    if (code <= blank || code === greaterThan) break;
  }
  return end;
}

export function blanksEnd(codes: Uint16Array, length: number, start: number, alsoSkipped = blank): number {
  let end = start;
  for (; end < length; end++) {
    const code = codes[end] ?? 0;
    if (code > blank && code !== alsoSkipped) break;
  }
  return end;
}
