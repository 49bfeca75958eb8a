/** What may stand beside an address that is written out in a text, where readers take it for a part of the address. */

/** What may touch an address in front of it: no reader takes the end of a sentence for a part of the address. */
export const closingMarks = /^[.,;:!?'")\]>]+(?= |$)/;
/** What an address behind it may touch. */
const openingMarks = '<([{"“„«';

/** Whether an address stands apart behind these words, although nothing parts them; there may be none. */
export function mayTouchAddress(words: string): boolean {
  return words === "" || openingMarks.includes(words.charAt(words.length - 1));
}

/** Whether the words end in the address, with or without the slash at its end. */
export function saysAddress(words: string, address: string): boolean {
  const bare = address.endsWith("/") ? address.slice(0, -1) : address;
  return words.length >= bare.length && (words.endsWith(bare) || words.endsWith(`${bare}/`));
}
