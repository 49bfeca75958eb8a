/**
 * Cleans the text of a TXT record that a DNS panel or word processor has changed: quotation marks, backslashes before
 * semicolons, typographic characters, parts of a zone file line. Receivers read all of that as part of the text.
 */

export interface CleanTxt {
  /** The intended text. */
  readonly plain: string;
  /** What was removed, each as a clause such as "it has backslashes". */
  readonly faults: readonly string[];
}

const ZONE_FILE_LINE =
  /^(?:\S+\s+)?(?:\d+\s+)?(?:IN\s+)?(?:TXT|SPF)(?:\s*[:=]\s*|\s+)(?=["'“”„«]?\s*(?:v|spf|p|k)\b)/i;
const QUOTES = /["“”„‟«»″〝〞＂]|^['‘’`´]|['‘’`´]$/gu;
const DASHES = /[‐‑‒–—―−]/gu;
const TILDES = /[˜∼∽～]/gu;
const UNSEEN = /[\p{Cf}\p{Cc}]/gu;

/** Decodes UTF-8 in a text that has one character for each octet. */
export function decodedText(text: string): string {
  if (!/[\x80-\xff]/.test(text) || /[\u0100-\uffff]/.test(text)) return text;
  const decoded = Buffer.from(text, "latin1").toString("utf8");
  return decoded.includes("\ufffd") ? text : decoded;
}

/** Removes what DNS panels and word processors add to a TXT record, and reports each change. */
export function cleanTxt(text: string): CleanTxt {
  const faults: string[] = [];
  let plain = decodedText(text);
  const replace = (pattern: RegExp, by: string, fault: string) => {
    const changed = plain.replace(pattern, by);
    if (changed !== plain) faults.push(fault);
    plain = changed;
  };
  const blanks = plain.replace(/[\s\u2800]/gu, " ");
  if (blanks !== plain) faults.push("it has unusual blanks or line breaks");
  plain = blanks;
  replace(UNSEEN, "", "it has invisible characters");
  plain = plain.trim();
  replace(ZONE_FILE_LINE, "", "it begins with part of a zone file line");
  replace(/\\(?=.)|\\$/g, "", "it has backslashes");
  replace(QUOTES, "", "it has quotation marks, which receivers read as part of the text");
  replace(DASHES, "-", "it has dashes instead of hyphens");
  replace(TILDES, "~", "it has another character instead of a tilde");
  const normal = plain.normalize("NFKC");
  if (normal !== plain) faults.push("it has typographic forms of plain characters");
  plain = normal.trim();
  return { plain, faults };
}

/** Whether a word equals another one up to one extra letter, one missing letter, or swapped letters. */
export function resembles(word: string, wanted: string): boolean {
  if (word === wanted) return true;
  if (word[0] !== wanted[0] || Math.abs(word.length - wanted.length) > 1) return false;
  const left = wanted.split("");
  let added = 0;
  for (const letter of word) {
    const at = left.indexOf(letter);
    if (at >= 0) left.splice(at, 1);
    else added += 1;
  }
  return added <= 1 && left.length <= 1;
}

/** The sentence about TXT records that receivers do not recognize because of their spelling. */
export function unrecognizedRecordMessage(kind: string, texts: readonly string[]): string {
  const faults = [...new Set(texts.flatMap((text) => cleanTxt(text).faults))];
  const why = faults.length > 0 ? faults.join("; ") : "its beginning or its tags are misspelled";
  return `A TXT record is probably meant as ${kind}, but receivers do not recognize it: ${why}. Publish the expected value.`;
}
