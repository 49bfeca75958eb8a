/**
 * The two forms of a body: telling HTML from text, and making the form that the caller did not give. Bodies come
 * from strangers, so every step is linear in their size or bounded.
 */

import { compile, type FormatCallback, type HtmlToTextOptions } from "html-to-text";

/** Characters of HTML that are read for the text; some mail clients stop showing a message at half of this. */
const maxHtmlLength = 256 * 1024;
/** Deeper nesting is no layout: html-to-text takes quadratic time and drops what lies deepest. */
const maxNesting = 64;
const maxUnclosed = 1000;
const maxTextLength = 2 * maxHtmlLength;

const voidNames = "area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr";
const voidElement = new RegExp(`^(?:${voidNames})$`, "i");
const closingTag = /<\/[a-z][\w:-]*\s*>/i;
/** br, hr and wbr stand alone; the other void elements say nothing without an attribute, and `<link>` may be text. */
const voidTag = new RegExp(`<(?:br|hr|wbr)\\s*/?>|<(?:${voidNames})\\s[^<>=]*=[^<>]*>`, "i");
const documentStart = /<!doctype\s|<html[\s>]/i;
const anyTag = /<(\/?)([a-z][\w:-]*)[^<>]*>/gi;
/** Elements whose end tags are often left out: what is open by the letter is closed by the next of its kind. */
const optionalEnd = /^(?:dd|dt|li|option|p|td|th|tr)$/i;
/** Comments, and what only Outlook reads in them; one without an end reaches to the end of the page. */
const comment = /<!--(?:-?>|[\s\S]*?(?:-->|$))/g;
/** A picture written into the page, which may be larger than all of its text. */
const embedded = /\bdata:[a-z]+\/[^"'\s<>]*/gi;
const maxEmbeddedLength = 1000;

/** Pictures as their alternative text only: addresses of pixels and spacers are noise. */
const alternativeText: FormatCallback = (element, _walk, builder) => {
  builder.addInline(String(element.attribs?.alt ?? ""));
};

const readable: HtmlToTextOptions = {
  // No wrapping and no upper case: both would break merge tags such as {{first_name | default: "you"}}.
  wordwrap: false,
  baseElements: { selectors: [] },
  limits: { maxDepth: 4 * maxNesting },
  formatters: { alternativeText },
  selectors: [
    // Angle brackets around addresses: RFC 3986 appendix C, and no mail client takes them into the link.
    {
      selector: "a",
      options: { linkBrackets: ["<", ">"], hideLinkHrefIfSameAsText: true, noAnchorUrl: true },
    },
    ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({ selector, options: { uppercase: false } })),
    // Cells in one line, apart: by default the words of neighbouring cells run together.
    { selector: "tr", format: "block", options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } },
    ...["td", "th"].map((selector) => ({ selector, format: "inlineSurround", options: { suffix: " " } })),
    { selector: "title", format: "skip" },
    { selector: "img", format: "alternativeText" },
  ],
};
const toText = compile(readable);
/** For a body without any words: the addresses of its pictures are better than nothing. */
const toTextOfPictures = compile({ ...readable, selectors: [{ selector: "title", format: "skip" }] });

/**
 * Whether a body is HTML: it holds a closing tag, a void tag such as `<br>` or `<img src=…>`, or begins a document
 * with `<!doctype` or `<html`. `<3`, `<user@example.com>` and `<link>` are text.
 */
export function looksLikeHtml(body: string): boolean {
  return closingTag.test(body) || voidTag.test(body) || documentStart.test(body);
}

/**
 * The words of an HTML body as text: paragraphs, list marks, and the addresses of links behind their words. Empty
 * only when the HTML shows neither words nor pictures. HTML beyond 256 Ki characters is cut, which the text says.
 */
export function textFromHtml(html: string): string {
  const seen = html
    .replace(comment, "")
    .replace(embedded, (address) => (address.length > maxEmbeddedLength ? "embedded" : address));
  const bounded = seen.slice(0, maxHtmlLength);
  const text = nestsTooDeep(bounded)
    ? tidied(withoutTags(bounded))
    : tidied(toText(bounded)) || tidied(toTextOfPictures(bounded));
  const isCut = seen.length > maxHtmlLength || text.length > maxTextLength;
  return isCut ? `${text.slice(0, maxTextLength)}\n\n[…]`.trimStart() : text;
}

/**
 * A text as HTML that shows the same: paragraphs at empty lines, line breaks and indentation kept, http and https
 * addresses as links. Quotes stay as they are outside attributes, so that merge tags survive.
 */
export function htmlFromText(text: string): string {
  return text
    .replaceAll(/\r\n?/g, "\n")
    .replaceAll(/^[ \t]+$/gm, "")
    .split(/\n\n+/)
    .filter((paragraph) => paragraph !== "")
    .map((paragraph) => `<p>${linked(paragraph.replace(/^\n|\n$/g, "")).replaceAll("\n", "<br>\n")}</p>\n`)
    .join("");
}

/** Escaped text in which addresses are links, without the punctuation of the sentence around them. */
function linked(text: string): string {
  let html = "";
  let end = 0;
  for (const match of text.matchAll(/\bhttps?:\/\/[^\s<>"]+/gi)) {
    const address = withoutPunctuation(match[0]);
    html += `${escaped(text.slice(end, match.index))}<a href="${escaped(address)}">${escaped(address)}</a>`;
    end = match.index + address.length;
  }
  return html + escaped(text.slice(end));
}

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll("\t", "    ")
    .replaceAll("  ", "&nbsp; ");
}

/** Drops the punctuation behind an address, and brackets that were not opened inside it. */
function withoutPunctuation(address: string): string {
  let unopened = address.split(")").length - address.split("(").length;
  let end = address.length;
  for (; end > 0; end--) {
    const last = address.charAt(end - 1);
    if (last === ")" && unopened > 0) unopened--;
    else if (!/[.,;:!?'\]]/.test(last)) break;
  }
  return address.slice(0, end);
}

/** At most one empty line in a row, none at the ends, no blanks at line ends. */
function tidied(text: string): string {
  return text
    .replaceAll("\u00a0", " ")
    .replace(/(?<! ) +$/gm, "")
    .replace(/\n{3,}/g, "\n\n")
    .replace(/^\n+/, "")
    .trimEnd();
}

function nestsTooDeep(html: string): boolean {
  let open = 0;
  let unclosed = 0;
  for (const [, slash, name = ""] of html.matchAll(anyTag)) {
    if (voidElement.test(name)) continue;
    const step = slash === "/" ? -1 : 1;
    if (optionalEnd.test(name)) unclosed = Math.max(0, unclosed + step);
    else open = Math.max(0, open + step);
    if (open > maxNesting || unclosed > maxUnclosed) return true;
  }
  return false;
}

/** The plainest reading, for HTML that is broken or hostile: what stands between the tags. */
function withoutTags(html: string): string {
  return html
    .replace(/<(script|style|title)\b[^<>]*>[\s\S]*?(?:<\/\1\s*>|$)/gi, "")
    .replace(/<[^<>]*>/g, "\n")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&nbsp;", " ")
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&");
}
