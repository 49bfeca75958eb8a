/**
 * Counts the elements, the levels of nesting and the field names of JSON text, in one pass before it is parsed. Invalid JSON
 * is scanned, too; JSON.parse refuses it later. Strings, which make up most of a large body, are skipped by a native search
 * for their closing quotes.
 */

export interface JsonScan {
  /** Values and field names together. */
  readonly elements: number;
  /** Number of field names. */
  readonly names: number;
  readonly depth: number;
  /** The kind of text that is longer than `longest` allows; undefined if none is. */
  readonly tooLong: "name" | "word" | undefined;
}

/** Lengths in characters of the source text, with escapes. */
export interface Longest {
  readonly name: number;
  /** A number, true, false, null, or invalid text. */
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

/** Stops as soon as a limit is exceeded. */
export function scanJson(text: string, mostElements: number, mostDepth: number, longest: Longest): JsonScan {
  let elements = 0;
  let names = 0;
  let depth = 0;
  let deepest = 0;
  let at = 0;
  let tooLong: JsonScan["tooLong"];
  /** Length of the last string, which is a field name if a colon follows. */
  let stringLength = 0;
  let wordStart = 0;
  /** Inside a number, true, false or null. */
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

/** The index after the string that starts at `from`; the end of the text if the string is not closed. */
function endOfString(text: string, from: number): number {
  for (let close = text.indexOf('"', from); close >= 0; close = text.indexOf('"', close + 1)) {
    let before = close - 1;
    while (before >= from && text.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((close - before) % 2 === 1) return close + 1;
  }
  return text.length;
}
