/** Characters as UTF-16 code units: which are visible, and which separate words. */

export const tab = 0x09;
export const lineFeed = 0x0a;
const formFeed = 0x0c;
export const carriageReturn = 0x0d;
export const blank = 0x20;
export const noBreakBlank = 0xa0;

/** The end of the words that can be copied unchanged; single blanks between visible characters are included. */
export function wordsEnd(codes: Uint16Array, start: number, end: number): number {
  let at = start;
  for (; at < end; at++) {
    const code = codes[at] ?? 0;
    if (isVisible(code)) continue;
    const joinsWords = code === blank && at > start && at + 1 < end && isVisible(codes[at + 1] ?? 0);
    if (!joinsWords) break;
  }
  return at;
}

export function isVisible(code: number): boolean {
  return (code > blank && code < 0x7f) || code > noBreakBlank;
}

export function isBlank(code: number): boolean {
  return code === blank || code === lineFeed || code === tab || code === carriageReturn || code === formFeed;
}
