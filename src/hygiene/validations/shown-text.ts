/** What was given as an address, as it is kept and shown; an address has no more than 254 characters. */

const LONGEST_SHOWN = 1_000;

/** Neither NUL nor half a character can be stored. */
export function shownText(text: string): string {
  return text.replaceAll("\0", "").slice(0, LONGEST_SHOWN).toWellFormed();
}
