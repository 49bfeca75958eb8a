/**
 * Normalizes the text of bounces, so that patterns in many languages stay short: lower case, Latin letters without
 * accents, "ё" as "е", straight apostrophes, single blanks, and none inside Chinese and Japanese text.
 */

/** Letters that Unicode normalization does not split. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: "ss",
  ł: "l",
  ø: "o",
  đ: "d",
  ı: "i",
  æ: "ae",
  œ: "oe",
  ё: "е",
  "’": "'",
  "‘": "'",
  "`": "'",
  "´": "'",
};
const SEPARATE = new RegExp(`[${Object.keys(LETTERS).join("")}]`, "gu");
const WIDE = "\\u3000-\\u30ff\\u3400-\\u9fff\\uff00-\\uffef";

/** The text in the form that auto-reply-rules.ts and bounce-phrases-….ts expect. */
export function normalizeText(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .normalize("NFD")
    .replace(/([a-z])[\u0300-\u036f]+/g, "$1")
    .normalize("NFC")
    .replace(SEPARATE, (letter) => LETTERS[letter] ?? letter)
    .replace(/\s+/g, " ")
    .replace(new RegExp(`(?<=[${WIDE}]) (?=[${WIDE}])`, "g"), "")
    .trim();
}
