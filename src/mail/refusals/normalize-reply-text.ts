/** Normalizes the text of a reply for the rules, and finds the server's reply that a gateway quotes. */
import { readLinks } from "./replace-links.ts";

/** Letters that Unicode normalization does not split into a letter and an accent. */
const PLAIN_LETTERS: Readonly<Record<string, string>> = {
  ł: "l",
  ø: "o",
  đ: "d",
  ð: "d",
  ı: "i",
  ß: "ss",
  æ: "ae",
  œ: "oe",
};
/** Accents of Latin and Greek letters only; in other scripts an accent makes a different letter. */
const ACCENTS = /(?<=[\p{Script=Latin}\p{Script=Greek}])[\u0300-\u036f]+/gu;

/**
 * Lower case, without accents, with links replaced (replace-links.ts) and single blanks; at most twice as long as the
 * text.
 * @param address replaces each e-mail address
 */
export function normalizeReplyText(text: string, address = ""): string {
  return readLinks(text, address)
    .toLowerCase()
    .normalize("NFKD")
    .slice(0, 2 * text.length)
    .replace(ACCENTS, "")
    .normalize("NFC")
    .replace(/[łøđðıßæœ]/g, (letter) => PLAIN_LETTERS[letter] ?? letter)
    .replace(/[’`´‘]/g, "'")
    .replace(/[<>‹›[\]()"*_“”„«»]+/g, " ")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, 2 * text.length);
}

const CODE = String.raw`[45]\d\d`;
const ENHANCED = String.raw`[245]\.[\dx]{1,3}\.[\dx]{1,3}`;
const OPENING = "['\"“‘]";
/** A gateway's own label for the failure, before a quotation. */
const LABEL = String.raw`^\W*(?:${CODE}[ -])?${ENHANCED} ?-+ ?[^'"“‘]{2,80}?`;
/** How gateways quote a server's reply; the group is the reply. */
const REPORTED: readonly RegExp[] = [
  // 5.1.0 - Unknown address error 550-'5.7.1 …' (delivery attempts: 0), and as the log has it: ('550', ['5.7.1 …'])
  new RegExp(String.raw`${LABEL}\(?['"]?${CODE}['"]?[-, ]*\[?${OPENING}(.+)$`, "su"),
  new RegExp(String.raw`${LABEL}\(?${OPENING}(.+)$(?<=\(delivery attempts\b.*)`, "su"),
  new RegExp(`${LABEL}${OPENING}(?=${CODE}[ -]|${ENHANCED})(.+)$`, "su"),
  new RegExp(String.raw`\b${CODE}-${OPENING}(.+)$`, "su"),
  // Remote Server returned '550 5.7.1 …', Remote Server returned '<mx.example.com #5.7.1 smtp;550 5.7.1 …>'
  new RegExp(
    String.raw`\b(?:said|says?|return(?:ed)?|repl(?:y|ied)|respon(?:ded|se)|answer(?:ed)?|error|reject(?:ed)?|message|with)(?: was| is)?:? ?(?:${CODE}[ -])?${OPENING}(?=${CODE}[ -]|${ENHANCED}|<[^>]{0,100}#${ENHANCED})(.+)$`,
    "isu",
  ),
  // 550 5.1.351 Remote server returned unknown recipient or mailbox unavailable -> 550 5.7.1 …
  new RegExp(`-> ?(?=${CODE}[ -])(.+)$`, "su"),
  // 554 5.1.1 Invalid address [reply: 550 5.7.1 …]: a second reply with a different code.
  new RegExp(
    String.raw`^\W*(?:${CODE} )?(?<label>${ENHANCED})(?![\d.]).{2,120}?[\s:;(\[<"'=](?<said>${CODE} (?!\k<label>)${ENHANCED}.+)$`,
    "su",
  ),
];

/** The server's own reply if a gateway quotes it under a label of its own; null if none is quoted. */
export function reportedRefusal(text: string): string | null {
  for (const form of REPORTED) {
    const match = form.exec(text);
    const said = match?.groups?.said ?? match?.[1] ?? "";
    if (/[\p{L}\d]/u.test(said)) return said;
  }
  return null;
}
