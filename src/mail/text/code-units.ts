/**
 * Text as an array of its UTF-16 code units: a loop over it takes half the time of one over the characters of a
 * string, which pays as soon as every character of a mail is looked at.
 */

/** An ordinary mail is read without memory of its own. */
const room = Buffer.alloc(128 * 1024);
/** Zeros behind the text, so that who looks ahead does not see the text before it. */
const lookAhead = 2;

/** The code units of a text and two zeros. They hold until the next call. */
export function codeUnitsOf(text: string): Uint16Array {
  const length = text.length + lookAhead;
  const bytes = 2 * length <= room.length ? room : Buffer.alloc(2 * length);
  bytes.fill(0, bytes.write(text, "utf16le"), 2 * length);
  return new Uint16Array(bytes.buffer, bytes.byteOffset, length);
}
