/**
 * Cells that a spreadsheet would run as formulas. An export puts an apostrophe before them, which spreadsheets take as
 * "this is text"; an import takes it away again. So that a text that had one before keeps it, apostrophes before such a
 * beginning get one more: whatever is written comes back as it was.
 *
 * Some spreadsheets of East Asia take the full-width signs for the plain ones.
 */

const dangerous = /^'*[=+\-@\t\r＝＋－＠]/;
const guarded = /^'+[=+\-@\t\r＝＋－＠]/;

/** The text as it can stand in a spreadsheet. */
export function guardFormula(text: string): string {
  return dangerous.test(text) ? `'${text}` : text;
}

/** The text that guardFormula was given; any other as it is. */
export function unguardFormula(text: string): string {
  return text.startsWith("'") && guarded.test(text) ? text.slice(1) : text;
}
