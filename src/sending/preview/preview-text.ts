/** The text that mail programs show beside the subject of a mail. */
import { plainText } from "#mail/html/html-to-text.ts";

const PREVIEW_LENGTH = 150;

/** The beginning of the words of the HTML, hidden preheaders included, as lists of mail show it. */
export function previewTextOf(html: string): string {
  const body = html
    .slice(0, 200_000)
    .replace(/^[\s\S]*?<body[^>]{0,2000}>/i, "")
    .replaceAll(/<(style|script|title|head)\b[\s\S]*?<\/\1/gi, " ");
  // Unlike in the text part, hidden elements count here, and links are their words alone.
  const bare = body.replaceAll(/\s(?:style|href)\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'>]+)/gi, "");
  const text = plainText(bare, () => "").replaceAll(/(?:\s|\u{200b}|\u{200c}|\u{34f}|\u{ad})+/gu, " ");
  return beginningOf(text.trim());
}

/** The first characters of a text. */
export function beginningOf(text: string): string {
  return Array.from(text).slice(0, PREVIEW_LENGTH).join("");
}
