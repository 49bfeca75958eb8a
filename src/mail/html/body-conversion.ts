/**
 * The two forms of a body: telling HTML from text, and making the form that the caller did not give. This happens to
 * every message, so 10 KB take 30 to 40 microseconds, a sixth of its signature; and bodies come from strangers, so the
 * time is linear in their length whatever they hold.
 */

import { codeUnitsOf } from "#mail/text/code-units.ts";
import { type PlainTextOptions, plainText } from "./html-to-text.ts";

/** Characters of a body, HTML or text, that a mail is made of. Gmail cuts HTML of more than 102 KB; this has room for pictures in it. */
export const LONGEST_BODY = 2_000_000;

/** How the markup begins that makes a body HTML. `<link>` may be text: most void elements need an attribute. */
const markup =
  /<(?:\/[a-z][\w:-]*\s*>|(?:br|hr|wbr)\s*\/?>|(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)\s[^<>=]*=[^<>]*>|!doctype\s|html[\s>])/i;
/** An address behind its scheme. */
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
 * A text as HTML that shows the same: paragraphs at empty lines, each in the direction of its own script, line breaks and
 * indentation kept, http and https addresses as links. Quotes stay as they are outside attributes, so that merge tags survive.
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

/** Hebrew and Arabic begin at the right. */
const paragraph = '<p dir="auto">';

/** One line, escaped, with its addresses as links. */
function lineHtml(text: string, codes: Uint16Array, start: number, end: number): string {
  let html = "";
  let done = start;
  const add = (at: number, written: string, behind: number) => {
    html += at > done ? text.slice(done, at) + written : written;
    done = behind;
  };
  for (let at = start; at < end; at++) {
    const code = codes[at] ?? 0;
    // Most characters are letters, which stand behind all that matters, and single blanks.
    if (code > greaterThan || (code === blank && (codes[at + 1] ?? 0) > blank)) continue;
    if (code === lessThan) add(at, "&lt;", at + 1);
    else if (code === ampersand) add(at, "&amp;", at + 1);
    else if (code === greaterThan) add(at, "&gt;", at + 1);
    else if (code === blank || code === tab) {
      const behind = blanksEnd(codes, at);
      // A single blank needs nothing.
      if (behind > at + 1 || code === tab) add(at, blanksHtml(codes, at, behind), behind);
    } else if (code === colon && codes[at + 1] === slash && codes[at + 2] === slash) {
      const link = linkAt(text, at, done);
      if (link !== null) add(link.start, link.html, link.end);
    }
    if (done > at) at = done - 1;
  }
  return html + text.slice(done, end);
}

/** Runs of up to so many blanks are written by heart. */
const fewBlanks = 32;
const blanksByWidth = Array.from({ length: fewBlanks }, (_, width) => nonMergingBlanks(width));

/** Blanks that do not merge in HTML, and between which a line may break. */
function blanksHtml(codes: Uint16Array, start: number, end: number): string {
  let width = end - start;
  for (let at = start; at < end; at++) if (codes[at] === tab) width += tabWidth - 1;
  return blanksByWidth[width] ?? nonMergingBlanks(width);
}

function nonMergingBlanks(width: number): string {
  return "&nbsp; ".repeat(width >> 1) + "&nbsp;".repeat(width % 2);
}

/** An address in a text, and the link that it becomes. */
interface Link {
  readonly start: number;
  readonly end: number;
  readonly html: string;
}

/** The address around `://`, without the punctuation of its sentence, as a link. */
function linkAt(text: string, mark: number, earliest: number): Link | null {
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
