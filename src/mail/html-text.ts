/**
 * The two forms of a body: telling HTML from text, and making the form that the caller did not give. It happens once
 * for every message, so each is a single pass of some ten microseconds for 10 KB; and bodies come from strangers, so
 * each is linear in the length whatever it holds.
 */

import { isVoid } from "./html-elements.ts";
import { readReference } from "./html-entities.ts";
import { TagReader } from "./html-tags.ts";
import { TextLayout } from "./text-layout.ts";

/** Characters of HTML that are read for the text; some mail clients stop showing a message at half of this. */
const maxHtmlLength = 256 * 1024;
const maxTextLength = 2 * maxHtmlLength;

/** How the markup begins that makes a body HTML. `<link>` may be text: most void elements need an attribute. */
const markup =
  /<(?:\/[a-z][\w:-]*\s*>|(?:br|hr|wbr)\s*\/?>|(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)\s[^<>=]*=[^<>]*>|!doctype\s|html[\s>])/iy;

/**
 * Whether a body is HTML: it holds a closing tag, a void tag such as `<br>` or `<img src=…>`, or begins a document
 * with `<!doctype` or `<html`. `<3`, `<user@example.com>` and `<link>` are text.
 */
export function looksLikeHtml(body: string): boolean {
  for (let at = body.indexOf("<"); at !== -1; at = body.indexOf("<", at + 1)) {
    markup.lastIndex = at;
    if (markup.test(body)) return true;
  }
  return false;
}

/**
 * The words of an HTML body as text: paragraphs, list marks, quotations, and the addresses of links behind their
 * words. Nothing is wrapped and no case is changed, so that merge tags stay whole. Empty only when the HTML shows
 * neither words nor pictures. HTML beyond 256 Ki characters is cut, which the text says.
 */
export function textFromHtml(html: string): string {
  return (
    wordsOf(html, ({ alt }) => alt ?? "") ||
    // For a body without any words: the addresses of its pictures are better than nothing.
    wordsOf(html, ({ src }) => (src ? `[${/^data:/i.test(src) ? "embedded" : src}]` : ""))
  );
}

function wordsOf(html: string, pictureText: (picture: TagReader) => string): string {
  const tags = new TagReader(html);
  const layout = new TextLayout();
  let mayHide = true;
  for (;;) {
    const tag = tags.textEnd();
    const end = Math.min(tag, maxHtmlLength + tags.passedOver);
    addText(layout, tags, end);
    if (end < tag || layout.length > maxTextLength) {
      return `${layout.finish().slice(0, maxTextLength)}\n\n[…]`.trimStart();
    }
    if (!tags.read(tag)) return layout.finish();
    const isUnseen = mayHide && !tags.isEnd && (tags.isHidden || tags.role === "unseen");
    if (!isUnseen) addElement(layout, tags, pictureText);
    // Without an end it would hide all that follows; and nobody is to make us look for the end many times.
    else if (!isVoid(tags.role)) mayHide = tags.skipElement();
  }
}

/** Adds the text between the reader's position and an offset. */
function addText(layout: TextLayout, tags: TagReader, end: number): void {
  const { html, codes } = tags;
  let start = tags.position;
  for (let at = tags.ampersandFrom(start); at < end; at = tags.ampersandFrom(at + 1)) {
    const reference = readReference(html, at);
    if (reference === null) continue;
    layout.add(html, codes, start, at);
    layout.addCharacter(reference.characters);
    start = reference.end;
  }
  layout.add(html, codes, start, end);
}

/** Adds what the tag that was read last does to the text around it. */
function addElement(layout: TextLayout, tags: TagReader, pictureText: (picture: TagReader) => string): void {
  const { role, isEnd } = tags;
  switch (role) {
    case "paragraph":
      layout.edge(2);
      break;
    case "line":
      layout.edge(1);
      break;
    case "cell":
      if (!isEnd) layout.cell();
      break;
    case "link":
      if (isEnd) layout.closeLink();
      else layout.openLink(addressOf(tags.href ?? ""));
      break;
    case "picture":
      if (!isEnd) layout.picture(pictureText(tags));
      break;
    case "break":
      layout.breakLine();
      break;
    case "rule":
      layout.rule();
      break;
    case "bullets":
    case "numbers":
      if (isEnd) layout.closeList();
      else layout.openList(role === "numbers" ? firstNumber(tags.start ?? "") : null);
      break;
    case "item":
      if (isEnd) layout.edge(1);
      else layout.openItem();
      break;
    case "quote":
      if (isEnd) layout.closeQuote();
      else layout.openQuote();
      break;
    case "preformatted":
      if (isEnd) layout.closePreformatted();
      else layout.openPreformatted();
  }
}

function firstNumber(start: string): number {
  const number = Number.parseInt(start, 10);
  return Number.isNaN(number) ? 1 : number;
}

/** What a reader can do something with: no places in the page, and no programs. */
function addressOf(href: string): string | null {
  if (/^https?:[!-~]+$/i.test(href)) return href;
  const address = href.replaceAll(/\p{Cc}+/gu, "").trim();
  if (address === "" || /^(?:#|(?:javascript|data|cid):)/i.test(address)) return null;
  return /^mailto:/i.test(address) ? address.slice("mailto:".length).replace(/\?.*/, "") || null : address;
}

/**
 * A text as HTML that shows the same: paragraphs at empty lines, line breaks and indentation kept, http and https
 * addresses as links. Quotes stay as they are outside attributes, so that merge tags survive.
 */
export function htmlFromText(text: string): string {
  const lines = text.includes("\r") ? text.replaceAll(/\r\n?/g, "\n") : text;
  let html = "";
  let isInParagraph = false;
  for (let start = 0, end = 0; start <= lines.length; start = end + 1) {
    const found = lines.indexOf("\n", start);
    end = found === -1 ? lines.length : found;
    const line = lines.slice(start, end);
    const isEmpty = /^[ \t]*$/.test(line);
    if (!isEmpty) html += `${isInParagraph ? "<br>\n" : "<p>"}${linked(line)}`;
    else if (isInParagraph) html += "</p>\n";
    isInParagraph = !isEmpty;
  }
  return isInParagraph ? `${html}</p>\n` : html;
}

/** Escaped text in which addresses are links, without the punctuation of the sentence around them. */
function linked(text: string): string {
  if (!text.includes("://")) return escaped(text);
  let html = "";
  let end = 0;
  for (const match of text.matchAll(/\bhttps?:\/\/[^\s<>"]+/gi)) {
    const address = withoutPunctuation(match[0]);
    const shown = escaped(address);
    html += `${escaped(text.slice(end, match.index))}<a href="${shown}">${shown}</a>`;
    end = match.index + address.length;
  }
  return html + escaped(text.slice(end));
}

function escaped(text: string): string {
  if (!/[&<>\t]| {2}/.test(text)) return text;
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
