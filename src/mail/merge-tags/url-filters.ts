/**
 * Filters for URLs in plain text. A URL ends at the first character that cannot be part of one. If a word begins with a
 * value, only the value decides whether the word is a URL: these filters pass that on from the first output of the word
 * to the later ones.
 */
import type { Context } from "liquidjs";
import { escapeUrlPart, textOf } from "./escape.ts";

/** The characters that end a URL, and its beginning. */
const addressEnd = /[\s<>"]/;
const addressStart = /(?<!\w)https?:\/\//i;

/**
 * Internal filters, added by the compiler; their argument is the number of the word in its template. They leave
 * escaping to the writer of the output, except for as_address_part.
 */
export const urlFilters = {
  /** For the first output of a word. */
  as_address_start(this: Rendering, value: unknown, word: number): string {
    return recordWord(this, word, textOf(value), false);
  },
  /** For an output directly after the first one. */
  as_address_more(this: Rendering, value: unknown, word: number): string {
    return recordWord(this, word, textOf(value), isInUrl(this, word));
  },
  /** For an output after a separator of URL parts. */
  as_address_part(this: Rendering, value: unknown, word: number): string {
    return isInUrl(this, word) ? escapeUrlPart(value) : recordWord(this, word, textOf(value), false);
  },
} as const;
export type UrlFilter = keyof typeof urlFilters;

interface Rendering {
  readonly context: Context;
}

/** Whether the text after `text` continues a URL. `beganBefore`: a URL began before `text`. */
export function endsInUrl(text: string, beganBefore: boolean): boolean {
  return (beganBefore && isPartOfWord(text)) || addressStart.test(lastWord(text));
}

/** Whether a text contains no character that ends a URL. */
export function isPartOfWord(text: string): boolean {
  return !addressEnd.test(text);
}

/** The rest of a text after the last character that ends a URL. */
function lastWord(text: string): string {
  let start = text.length;
  while (start > 0 && !addressEnd.test(text.charAt(start - 1))) start--;
  return text.slice(start);
}

function recordWord({ context }: Rendering, word: number, text: string, beganBefore: boolean): string {
  context.setRegister("addressWord", endsInUrl(text, beganBefore) ? word : null);
  return text;
}

function isInUrl({ context }: Rendering, word: number): boolean {
  return context.getRegister("addressWord") === word;
}
