/**
 * From HTML to plain text in one pass: what the tags, and the text between them, do to the layout. Only elements that
 * are not shown are matched with their ends, so broken HTML may misplace an indentation or an empty line, but no word.
 */

import { TextLayout } from "#mail/text/text-layout.ts";
import { isVoid } from "./element-roles.ts";
import { readCharacterReference } from "./entities.ts";
import { HidingStyles } from "./hidden-elements.ts";
import { TagReader } from "./tag-reader.ts";

/** Characters of HTML that are read; some mail clients stop showing a message at half of this. */
const maxHtmlLength = 256 * 1024;
const cutMark = "[…]";

export interface PlainTextOptions {
  /** Characters of HTML that are read. */
  readonly maxLength?: number;
  /** Where the tags of lists begin whose items have no numbers, whatever the lists say. */
  readonly uncounted?: ReadonlySet<number>;
}

/**
 * The words of HTML as text, ending in `[…]` where it was too long.
 * @param pictureText what stands for a picture, of which `alt` and `src` are to be read
 */
export function plainText(
  html: string,
  pictureText: (picture: TagReader) => string,
  { maxLength = maxHtmlLength, uncounted }: PlainTextOptions = {},
): string {
  const maxTextLength = 2 * maxLength;
  const tags = new TagReader(html, undefined, new HidingStyles(html));
  const layout = new TextLayout();
  let mayHide = true;
  for (;;) {
    const tag = tags.textEnd();
    const end = Math.min(tag, maxLength + tags.passedOver);
    if (tags.position < end) addText(layout, tags, end);
    if (end < tag || layout.length > maxTextLength) return cut(layout.finish(), maxTextLength);
    if (!tags.read(tag)) return layout.finish();
    const isUnseen = mayHide && !tags.isEnd && (tags.isHidden || tags.role === "unseen");
    const isCounted = uncounted === undefined || !uncounted.has(tag);
    if (tags.hidesText && !isUnseen && tags.skipSmallText()) continue;
    if (!isUnseen) addElement(layout, tags, pictureText, isCounted);
    // What has no end would hide all that follows. To look for ends that are not there many times takes forever.
    else if (!isVoid(tags.role)) mayHide = tags.skipElement();
  }
}

/** Adds the text between the reader's position and an offset. */
function addText(layout: TextLayout, tags: TagReader, end: number): void {
  const { html, codes } = tags;
  let start = tags.position;
  for (let at = tags.ampersandFrom(start); at < end; at = tags.ampersandFrom(at + 1)) {
    const reference = readCharacterReference(html, at);
    if (reference === null) continue;
    layout.add(html, codes, start, at);
    layout.addCharacter(reference.characters);
    start = reference.end;
  }
  layout.add(html, codes, start, end);
}

/** Adds what the tag that was read last does to the text around it. @param isCounted whether a list may have numbers */
function addElement(
  layout: TextLayout,
  tags: TagReader,
  pictureText: (picture: TagReader) => string,
  isCounted: boolean,
): void {
  const { role, isEnd } = tags;
  switch (role) {
    case "inline":
      break;
    case "paragraph":
      layout.edge(2);
      break;
    case "line":
      layout.edge(1);
      break;
    case "table":
      if (isEnd) layout.closeTable();
      else layout.edge(2);
      break;
    case "row":
      layout.row();
      break;
    case "cell":
      if (!isEnd) layout.openCell();
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
      else layout.openList(role === "numbers" && isCounted ? firstNumber(tags.start ?? "") : null);
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

/** The address a reader can go or write to; null for places in the page, for programs and for data. */
function addressOf(href: string): string | null {
  if (/^https?:[!-~]+$/i.test(href)) return href;
  const address = href.replaceAll(/\p{Cc}+/gu, "").trim();
  if (address === "" || /^(?:#|(?:javascript|data|cid):)/i.test(address)) return null;
  return /^mailto:/i.test(address) ? address.slice("mailto:".length).replace(/\?.*/, "") || null : address;
}

function cut(text: string, length: number): string {
  return `${text.slice(0, length).trimEnd()}\n\n${cutMark}`.trimStart();
}
