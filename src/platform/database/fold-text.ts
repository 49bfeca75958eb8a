/** Text without regard to case, as the collation `case_folding` of the database compares it. */

/**
 * Lower case character by character, as PostgreSQL does it. JavaScript's toLowerCase makes two characters of İ, and
 * treats Σ by its position.
 */
export function foldCase(text: string): string {
  if (isAscii.test(text)) return text.toLowerCase();
  return Array.from(text, (letter) => String.fromCodePoint(letter.toLowerCase().codePointAt(0) ?? 0)).join(
    "",
  );
}

const isAscii = /^\p{ASCII}*$/u;

/** The form in which two texts are compared. */
export function foldText(text: string): string {
  return foldCase(text).trim();
}
