/**
 * Addresses in plain text, whose end is the first character that no address has. Where one begins with a value, only the
 * values say whether it is one: filters tell it from the first output of the word to those behind.
 */
import type { Context } from "liquidjs";
import { escapeUrlPart, textOf } from "./escape.ts";

/** What ends an address, and how one begins. */
const addressEnd = /[\s<>"]/;
const addressStart = /(?<!\w)https?:\/\//i;

/**
 * Filters that the machinery adds; their argument is the number of the word in its template. They leave the escaping to
 * what writes the output.
 */
export const addressFilters = {
  /** For the first output of a word. */
  as_address_start(this: Rendering, value: unknown, word: number): string {
    return noted(this, word, textOf(value), false);
  },
  /** For one that stands directly behind it. */
  as_address_more(this: Rendering, value: unknown, word: number): string {
    return noted(this, word, textOf(value), isInAddress(this, word));
  },
  /** For one behind characters that a part of an address follows. */
  as_address_part(this: Rendering, value: unknown, word: number): string {
    return isInAddress(this, word) ? escapeUrlPart(value) : noted(this, word, textOf(value), false);
  },
} as const;
export type AddressFilter = keyof typeof addressFilters;

interface Rendering {
  readonly context: Context;
}

/** Whether what follows a text stands in an address, where one may have begun in front of it. */
export function endsInAddress(text: string, beganBefore: boolean): boolean {
  return (beganBefore && isPartOfWord(text)) || addressStart.test(lastWord(text));
}

/** Whether nothing in a text ends an address. */
export function isPartOfWord(text: string): boolean {
  return !addressEnd.test(text);
}

/** The end of a text, from the last character that ends an address. */
function lastWord(text: string): string {
  let start = text.length;
  while (start > 0 && !addressEnd.test(text.charAt(start - 1))) start--;
  return text.slice(start);
}

function noted({ context }: Rendering, word: number, text: string, beganBefore: boolean): string {
  context.setRegister("addressWord", endsInAddress(text, beganBefore) ? word : null);
  return text;
}

function isInAddress({ context }: Rendering, word: number): boolean {
  return context.getRegister("addressWord") === word;
}
