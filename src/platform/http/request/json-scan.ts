/**
 * One pass over JSON text before it is built: how many elements it has, how deep it nests, how many field names. Text that
 * is no JSON is scanned, too; JSON.parse refuses it later. Most of a large body is inside of strings, which are skipped by
 * a native search for their closing quotes.
 */

export interface JsonScan {
  /** Values and field names together. */
  readonly elements: number;
  /** Strings that stand before a colon. */
  readonly names: number;
  readonly depth: number;
  /** What of the text is longer than `longest` allows, where something is. */
  readonly tooLong: "name" | "word" | undefined;
}

/** Characters as they are written, with their escapes. */
export interface Longest {
  readonly name: number;
  /** A number, true, false, null, or what is no JSON. */
  readonly word: number;
}

const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** The scan ends as soon as there are more than `mostElements`, more than `mostDepth` levels, or something is too long. */
export function scanJson(text: string, mostElements: number, mostDepth: number, longest: Longest): JsonScan {
  let elements = 0;
  let names = 0;
  let depth = 0;
  let deepest = 0;
  let at = 0;
  let tooLong: JsonScan["tooLong"];
  /** Of the string before, which is a name when a colon follows. */
  let stringLength = 0;
  let wordStart = 0;
  /** Inside of a number, true, false or null. */
  let isInWord = false;
  while (at < text.length && elements <= mostElements && depth <= mostDepth && tooLong === undefined) {
    const code = text.charCodeAt(at);
    at += 1;
    switch (code) {
      case QUOTE:
        elements += 1;
        stringLength = at;
        at = endOfString(text, at);
        stringLength = at - stringLength - 1;
        isInWord = false;
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        elements += 1;
        depth += 1;
        if (depth > deepest) deepest = depth;
        isInWord = false;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth -= 1;
        isInWord = false;
        break;
      case COLON:
        names += 1;
        if (stringLength > longest.name) tooLong = "name";
        isInWord = false;
        break;
      case COMMA:
      case SPACE:
      case TAB:
      case LINE_FEED:
      case CARRIAGE_RETURN:
        isInWord = false;
        break;
      default:
        if (!isInWord) {
          elements += 1;
          wordStart = at;
        } else if (at - wordStart >= longest.word) tooLong = "word";
        isInWord = true;
    }
  }
  return { elements, names, depth: deepest, tooLong };
}

/** Where the text goes on behind the string that begins at `from`; its end when the string has none. */
function endOfString(text: string, from: number): number {
  for (let close = text.indexOf('"', from); close >= 0; close = text.indexOf('"', close + 1)) {
    let before = close - 1;
    while (before >= from && text.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((close - before) % 2 === 1) return close + 1;
  }
  return text.length;
}
