/**
 * Tells HTML bodies from text bodies, and makes the form that the caller did not give. Every message passes here, so it
 * has to be fast: 10 KB take 30 to 40 microseconds, a sixth of a DKIM signature. Bodies are untrusted, so the time is
 * linear in their length whatever they contain.
 */

import { codeUnitsOf } from "#mail/text/code-units.ts";
import { type PlainTextOptions, plainText } from "./html-to-text.ts";

/**
 * Limit of a body, HTML or text, in characters. Gmail clips HTML of more than 102 KB; this leaves room for embedded
 * pictures.
 */
export const LONGEST_BODY = 2_000_000;

/** Markup that makes a body HTML. `<link>` alone may be text, so most void elements need an attribute. */
const markup =
  /<(?:\/[a-z][\w:-]*\s*>|(?:br|hr|wbr)\s*\/?>|(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)\s[^<>=]*=[^<>]*>|!doctype\s|html[\s>])/i;
/** The rest of a URL after its scheme. */
const addressRest = /[^\s<>"]+/y;

const tabWidth = 4;
const tab = 0x09;
const blank = 0x20;
const ampersand = 0x26;
const slash = 0x2f;
const colon = 0x3a;
const lessThan = 0x3c;
const greaterThan = 0x3e;

/**
 * Whether a body is HTML: it contains a closing tag or a void tag such as `<br>` or `<img src=…>`, or begins with
 * `<!doctype` or `<html`. `<3`, `<user@example.com>` and `<link>` are text.
 */
export function looksLikeHtml(body: string): boolean {
  return body.includes("<") && markup.test(body);
}

/**
 * The text of an HTML body: paragraphs, list markers, quotations, and the URL of each link after its words. Lines are
 * not wrapped and case is kept, so that merge tags stay intact; hidden elements are left out. Empty only if the HTML
 * shows neither words nor pictures; pictures of one pixel, such as tracking pixels, do not count. HTML beyond 256 Ki
 * characters is cut, and the text says so.
 */
export function textFromHtml(html: string, options: Pick<PlainTextOptions, "uncounted"> = {}): string {
  return (
    plainText(html, ({ alt }) => alt ?? "", options) ||
    // A body without any words becomes a list of the URLs of its pictures.
    plainText(
      html,
      ({ src, isTiny }) => (src && !isTiny ? `[${/^data:/i.test(src) ? "embedded" : src}]` : ""),
      options,
    )
  );
}

/**
 * Converts text to HTML that looks the same: paragraphs at empty lines, each in the direction of its own script, with
 * line breaks and indentation, and links for http and https URLs. Quotation marks outside of attributes are not
 * escaped, so that merge tags stay intact.
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
    if (!isEmpty) html += (isInParagraph ? "<br>\n" : paragraph) + lineHtml(source, codes, start, end);
    else if (isInParagraph) html += "</p>\n";
    isInParagraph = !isEmpty;
  }
  return isInParagraph ? `${html}</p>\n` : html;
}

/** Hebrew and Arabic run from right to left. */
const paragraph = '<p dir="auto">';

/** One line of the text, escaped, with its URLs as links. */
function lineHtml(text: string, codes: Uint16Array, start: number, end: number): string {
  let html = "";
  let done = start;
  const add = (at: number, written: string, behind: number) => {
    html += at > done ? text.slice(done, at) + written : written;
    done = behind;
  };
  for (let at = start; at < end; at++) {
    const code = codes[at] ?? 0;
    // Fast path: letters come after all special characters in ASCII, and a single blank needs no change.
    if (code > greaterThan || (code === blank && (codes[at + 1] ?? 0) > blank)) continue;
    if (code === lessThan) add(at, "&lt;", at + 1);
    else if (code === ampersand) add(at, "&amp;", at + 1);
    else if (code === greaterThan) add(at, "&gt;", at + 1);
    else if (code === blank || code === tab) {
      const behind = blanksEnd(codes, at);
      if (behind > at + 1 || code === tab) add(at, blanksHtml(codes, at, behind), behind);
    } else if (code === colon && codes[at + 1] === slash && codes[at + 2] === slash) {
      const link = linkAt(text, at, done);
      if (link !== null) add(link.start, link.html, link.end);
    }
    if (done > at) at = done - 1;
  }
  return html + text.slice(done, end);
}

/** Runs of up to this many blanks are prepared in advance. */
const fewBlanks = 32;
const blanksByWidth = Array.from({ length: fewBlanks }, (_, width) => nonMergingBlanks(width));

/** Blanks that HTML does not collapse, with places for line breaks between them. */
function blanksHtml(codes: Uint16Array, start: number, end: number): string {
  let width = end - start;
  for (let at = start; at < end; at++) if (codes[at] === tab) width += tabWidth - 1;
  return blanksByWidth[width] ?? nonMergingBlanks(width);
}

function nonMergingBlanks(width: number): string {
  return "&nbsp; ".repeat(width >> 1) + "&nbsp;".repeat(width % 2);
}

/** A URL in a text, as the link that replaces it. */
interface Link {
  readonly start: number;
  readonly end: number;
  readonly html: string;
}

/** The URL around a `://`, without the punctuation of its sentence, as a link. */
function linkAt(text: string, separator: number, earliest: number): Link | null {
  const scheme = /(?<!\w)https?$/i.exec(text.slice(Math.max(separator - 6, earliest), separator))?.[0];
  if (scheme === undefined) return null;
  addressRest.lastIndex = separator + 3;
  const rest = withoutPunctuation(addressRest.exec(text)?.[0] ?? "");
  if (rest === "") return null;
  const start = separator - scheme.length;
  const end = separator + 3 + rest.length;
  const address = text.slice(start, end).replaceAll("&", "&amp;");
  return { start, end, html: `<a href="${address}">${address}</a>` };
}

/** Drops trailing punctuation, and closing brackets that were not opened inside the URL. */
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
