/** Rules about characters that touch a plain URL in a text, which readers could take as part of the URL. */

/** Characters that may follow a URL directly: readers do not include closing punctuation. */
export const closingMarks = /^[.,;:!?'")\]>]+(?= |$)/;
/** Characters that may come directly before a URL. */
const openingMarks = '<([{"“„«';

/** Whether a URL can follow these words without a blank; true for no words. */
export function mayTouchUrl(words: string): boolean {
  return words === "" || openingMarks.includes(words.charAt(words.length - 1));
}

/** Whether the words end in the URL, with or without the slash at its end. */
export function containsUrlAtEnd(words: string, address: string): boolean {
  const bare = address.endsWith("/") ? address.slice(0, -1) : address;
  return words.length >= bare.length && (words.endsWith(bare) || words.endsWith(`${bare}/`));
}
