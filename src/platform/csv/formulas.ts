/**
 * Protects cells that a spreadsheet would run as formulas (CSV injection). An export prefixes them with an apostrophe, which
 * spreadsheets read as "this is text"; an import removes it. A text that already starts with apostrophes before such a sign
 * gets one more, so every exported text is imported unchanged.
 *
 * East Asian spreadsheets also treat full-width signs as the start of a formula.
 */

const dangerous = /^'*[=+\-@\t\r＝＋－＠]/;
const guarded = /^'+[=+\-@\t\r＝＋－＠]/;

/** The text, safe to be opened in a spreadsheet. */
export function guardFormula(text: string): string {
  return dangerous.test(text) ? `'${text}` : text;
}

/** Removes the protection that guardFormula adds; any other text is unchanged. */
export function unguardFormula(text: string): string {
  return text.startsWith("'") && guarded.test(text) ? text.slice(1) : text;
}
