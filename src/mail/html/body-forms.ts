/**
 * The two forms of a body: telling HTML from text, and making the form that the caller did not give. This happens to
 * every message, so 10 KB take 30 to 40 microseconds, a sixth of its signature; and bodies come from strangers, so the
 * time is linear in their length whatever they hold.
 */

import { codeUnitsOf } from "../text/code-units.ts";
import { type PlainTextOptions, plainText } from "./to-plain.ts";

/** How the markup begins that makes a body HTML. `<link>` may be text: most void elements need an attribute. */
const markup =
  /<(?:\/[a-z][\w:-]*\s*>|(?:br|hr|wbr)\s*\/?>|(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)\s[^<>=]*=[^<>]*>|!doctype\s|html[\s>])/i;
/** An address behind its scheme. */
const addressRest = /[^\s<>"]+/y;

const tab = 0x09;
const blank = 0x20;
const ampersand = 0x26;
const slash = 0x2f;
const colon = 0x3a;
const lessThan = 0x3c;
const greaterThan = 0x3e;

/**
 * Whether a body is HTML: it holds a closing tag, a void tag such as `<br>` or `<img src=…>`, or begins a document
 * with `<!doctype` or `<html`. `<3`, `<user@example.com>` and `<link>` are text.
 */
export function looksLikeHtml(body: string): boolean {
  return body.includes("<") && markup.test(body);
}

/**
 * The words of an HTML body as text: paragraphs, list marks, quotations, and the addresses of links behind their
 * words. Nothing is wrapped and no case is changed, so that merge tags stay whole; what is hidden is left out. Empty
 * only when the HTML shows neither words nor pictures; one of a single pixel, as trackers are, is not shown. HTML beyond
 * 256 Ki characters is cut, which the text says.
 */
export function textFromHtml(html: string, options: Pick<PlainTextOptions, "uncounted"> = {}): string {
  return (
    plainText(html, ({ alt }) => alt ?? "", options) ||
    // In a body without any words, the addresses of its pictures are better than nothing.
    plainText(
      html,
      ({ src, isTiny }) => (src && !isTiny ? `[${/^data:/i.test(src) ? "embedded" : src}]` : ""),
      options,
    )
  );
}

/**
 * A text as HTML that shows the same: paragraphs at empty lines, line breaks and indentation kept, http and https
 * addresses as links. Quotes stay as they are outside attributes, so that merge tags survive.
 */
export function htmlFromText(text: string): string {
  const source = text.includes("\r") ? text.replaceAll(/\r\n?/g, "\n") : text;
  const codes = codeUnitsOf(source);
  let html = "";
  let isInParagraph = false;
  for (let start = 0, end = 0; start <= source.length; start = end + 1) {
    const found = source.indexOf("\n", start);
    end = found === -1 ? source.length : found;
    const isEmpty = blanksEnd(codes, start) >= end;
    if (!isEmpty) html += (isInParagraph ? "<br>\n" : "<p>") + lineHtml(source, codes, start, end);
    else if (isInParagraph) html += "</p>\n";
    isInParagraph = !isEmpty;
  }
  return isInParagraph ? `${html}</p>\n` : html;
}

/** One line, escaped, with its addresses as links. */
function lineHtml(text: string, codes: Uint16Array, start: number, end: number): string {
  let html = "";
  let done = start;
  for (let at = start; at < end; at++) {
    const code = codes[at] ?? 0;
    // Most characters are letters, which stand behind all that matters, and single blanks.
    if (code > greaterThan || (code === blank && (codes[at + 1] ?? 0) > blank)) continue;
    const piece = pieceAt(text, codes, at, done);
    if (piece === null) continue;
    html += text.slice(done, piece.start) + piece.html;
    done = piece.end;
    at = done - 1;
  }
  return html + text.slice(done, end);
}

/** The part of a text that HTML writes in another way. */
interface Piece {
  readonly start: number;
  readonly end: number;
  readonly html: string;
}

/** The piece that is noticed at an offset; it begins not before `earliest`. */
function pieceAt(text: string, codes: Uint16Array, at: number, earliest: number): Piece | null {
  switch (codes[at]) {
    case ampersand:
      return { start: at, end: at + 1, html: "&amp;" };
    case lessThan:
      return { start: at, end: at + 1, html: "&lt;" };
    case greaterThan:
      return { start: at, end: at + 1, html: "&gt;" };
    case blank:
    case tab:
      return blanksAt(text, codes, at);
    case colon:
      return codes[at + 1] === slash && codes[at + 2] === slash ? linkAt(text, at, earliest) : null;
    default:
      return null;
  }
}

/** Blanks that do not merge in HTML, and between which a line may break. A single one needs nothing. */
function blanksAt(text: string, codes: Uint16Array, start: number): Piece | null {
  const end = blanksEnd(codes, start);
  if (end === start + 1 && codes[start] === blank) return null;
  const width = text.slice(start, end).replaceAll("\t", "    ").length;
  return { start, end, html: "&nbsp; ".repeat(width >> 1) + "&nbsp;".repeat(width % 2) };
}

/** The address around `://`, without the punctuation of its sentence, as a link. */
function linkAt(text: string, mark: number, earliest: number): Piece | null {
  const scheme = /(?<!\w)https?$/i.exec(text.slice(Math.max(mark - 6, earliest), mark))?.[0];
  if (scheme === undefined) return null;
  addressRest.lastIndex = mark + 3;
  const rest = withoutPunctuation(addressRest.exec(text)?.[0] ?? "");
  if (rest === "") return null;
  const start = mark - scheme.length;
  const end = mark + 3 + rest.length;
  const address = text.slice(start, end).replaceAll("&", "&amp;");
  return { start, end, html: `<a href="${address}">${address}</a>` };
}

/** Drops the punctuation behind an address, and brackets that were not opened inside it. */
function withoutPunctuation(address: string): string {
  let unopened = address.includes(")") ? address.split(")").length - address.split("(").length : 0;
  let end = address.length;
  for (; end > 0; end--) {
    const last = address.charAt(end - 1);
    if (last === ")" && unopened > 0) unopened--;
    else if (!".,;:!?']".includes(last)) break;
  }
  return address.slice(0, end);
}

function blanksEnd(codes: Uint16Array, start: number): number {
  let end = start;
  while (codes[end] === blank || codes[end] === tab) end++;
  return end;
}
