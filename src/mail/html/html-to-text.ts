/**
 * Converts HTML to plain text in one pass: applies tags and text to the layout. Only hidden elements are matched with
 * their end tags, so in broken HTML an indentation or an empty line may be wrong, but no word is lost.
 */

import { TextLayout } from "#mail/text/text-layout.ts";
import { isVoid } from "./element-roles.ts";
import { readCharacterReference } from "./entities.ts";
import { HidingStyles } from "./hidden-elements.ts";
import { TagReader } from "./tag-reader.ts";

/** Limit of HTML that is read, in characters; some mail clients stop showing a message at half of this. */
const maxHtmlLength = 256 * 1024;
const cutMark = "[…]";

export interface PlainTextOptions {
  /** Limit of HTML that is read, in characters. */
  readonly maxLength?: number;
  /** Offsets of list tags whose items must not be numbered, even in an `ol`. */
  readonly uncounted?: ReadonlySet<number>;
}

/**
 * The text of the HTML, ending in `[…]` if it was cut.
 * @param pictureText the words for a picture, made of its `alt` and `src`
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
    // A hidden element without an end tag would hide the whole rest. Searching for missing end tags many times is
    // quadratic.
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

/** Applies the last tag to the layout. @param isCounted whether a list may have numbers */
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
      else layout.openLink(linkTarget(tags.href ?? ""));
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

/** The URL or e-mail address of a link; null for fragments, scripts and data. */
function linkTarget(href: string): string | null {
  if (/^https?:[!-~]+$/i.test(href)) return href;
  const address = href.replaceAll(/\p{Cc}+/gu, "").trim();
  if (address === "" || /^(?:#|(?:javascript|data|cid):)/i.test(address)) return null;
  return /^mailto:/i.test(address) ? address.slice("mailto:".length).replace(/\?.*/, "") || null : address;
}

function cut(text: string, length: number): string {
  return `${text.slice(0, length).trimEnd()}\n\n${cutMark}`.trimStart();
}
