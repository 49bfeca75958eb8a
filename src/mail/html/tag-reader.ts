/**
 * Reads HTML tag by tag (HTML Standard, section 13.2.5) and forgives what browsers forgive. Comments and doctypes are
 * passed over, and so is the content of elements such as `<style>`. No tree is made, and the time is linear in the
 * length whatever the HTML holds.
 */

import { carriageReturn, lineFeed } from "#mail/text/characters.ts";
import { codeUnitsOf } from "#mail/text/code-units.ts";
import { type ElementRole, endsParagraph, roleAt } from "./element-roles.ts";
import { decodeEntities } from "./entities.ts";
import type { HidingStyles, StyledElement } from "./hidden-elements.ts";
import {
  apostrophe,
  blanksEnd,
  equalsSign,
  exclamationMark,
  greaterThan,
  isLetter,
  nameEnd,
  questionMark,
  quotationMark,
  slash,
  unquotedEnd,
} from "./tag-syntax.ts";

/** Longer tags carry a picture or a font in them, and no words. */
const maxTagLength = 1000;
/** Letters of no size are looked for in so many elements, and so far behind the beginning of each. */
const mostSmallTexts = 200;
const longestSmallText = 4_000;
const atMostOne = /^\s*[01](?:px)?\s*$/i;

export class TagReader {
  readonly html: string;
  /** The same, as code-units.ts makes it. */
  readonly codes: Uint16Array;
  /** Where the text begins that has not been read. */
  position = 0;
  /** How many characters before the position hold no words: comments, style sheets, embedded pictures. */
  passedOver = 0;

  /** The tag that was read last; "inline" for a comment. */
  role: ElementRole = "inline";
  isEnd = false;
  /** By its attribute or, where the reader knows the styles of the mail, by these. */
  isHidden = false;
  /** Whether its letters have no size; pictures in it, and elements with a size of their own, are seen. */
  hidesText = false;
  href: string | null = null;
  src: string | null = null;
  alt: string | null = null;
  start: string | null = null;
  /** How many of width and height are one pixel or none. */
  #tinySides = 0;
  #nameStart = 0;
  #nameEnd = 0;
  #ampersand = -1;
  readonly #styles: HidingStyles | null;
  #style = "";
  #classes = "";
  #id = "";
  #size = "";
  #smallTexts = 0;

  constructor(html: string, codes = codeUnitsOf(html), styles: HidingStyles | null = null) {
    this.html = html;
    this.codes = codes;
    this.#styles = styles;
  }

  /** Where the text at the position ends: at the next tag or comment, or with the HTML. Any other `<` is text. */
  textEnd(): number {
    let at = this.html.indexOf("<", this.position);
    while (at !== -1 && !this.#isMarkup(at)) at = this.html.indexOf("<", at + 1);
    return at === -1 ? this.html.length : at;
  }

  /** The place of the next `&` from an offset on. The offsets must not fall. */
  ampersandFrom(start: number): number {
    if (this.#ampersand < start) {
      const found = this.html.indexOf("&", start);
      this.#ampersand = found === -1 ? this.html.length : found;
    }
    return this.#ampersand;
  }

  /**
   * Reads the tag or comment at an offset and moves behind it, or behind the element when its content is raw.
   * @returns false where it has no end, and at the end: there is nothing more to show
   */
  read(at: number): boolean {
    if (at >= this.html.length) return false;
    const isTag = this.codes[at + 1] !== exclamationMark && this.codes[at + 1] !== questionMark;
    const end = isTag ? this.#readTag(at) : this.#readComment(at);
    if (end === -1) return false;
    if (!isTag || end - at > maxTagLength) this.passedOver += end - at;
    this.position = end;
    if (this.role === "preformatted" && !this.isEnd) this.#passLineBreak();
    if (this.role === "raw" && !this.isEnd && this.codes[end - 2] !== slash) this.#passRawText();
    return true;
  }

  /** Moves behind the element whose start tag was read last; stays, and returns false, when it has no end. */
  skipElement(): boolean {
    const name = this.#name;
    const ahead = new TagReader(this.html, this.codes);
    ahead.position = this.position;
    for (let depth = 1; depth > 0; ) {
      const at = ahead.textEnd();
      if (!ahead.read(at)) return false;
      const isNamesake = ahead.#name === name;
      // Paragraphs do not nest, and their end tags are often left out.
      if (name === "p" && endsParagraph(ahead.role) && !(isNamesake && ahead.isEnd)) {
        this.position = at;
        return true;
      }
      if (isNamesake) depth += ahead.isEnd ? -1 : 1;
    }
    this.position = ahead.position;
    return true;
  }

  /**
   * Moves behind the element whose start tag was read last, when nothing in it is seen because its letters have no size;
   * stays, and returns false, otherwise.
   */
  skipSmallText(): boolean {
    if (this.#smallTexts++ >= mostSmallTexts) return false;
    const name = this.#name;
    const ahead = new TagReader(this.html, this.codes, this.#styles);
    ahead.position = this.position;
    const last = this.position + longestSmallText;
    for (let depth = 1; depth > 0; ) {
      const at = ahead.textEnd();
      if (at > last || !ahead.read(at)) return false;
      const hasSize = !ahead.isEnd && this.#styles?.givesSize(ahead.#styled) === true;
      if (hasSize || ahead.role === "picture") return false;
      if (ahead.#name === name) depth += ahead.isEnd ? -1 : 1;
    }
    this.position = ahead.position;
    return true;
  }

  get #styled(): StyledElement {
    return {
      element: this.#name,
      classes: this.#classes,
      id: this.#id,
      style: this.#style,
      size: this.#size,
    };
  }

  /** Whether the picture that was read last is one that nobody is meant to see. */
  get isTiny(): boolean {
    return this.#tinySides === 2;
  }

  /** The name of the tag that was read last, in lower case; empty for a comment. */
  get #name(): string {
    return this.html.slice(this.#nameStart, this.#nameEnd).toLowerCase();
  }

  #isMarkup(at: number): boolean {
    const code = this.codes[at + 1];
    if (code === slash) return isLetter(this.codes[at + 2]);
    return isLetter(code) || code === exclamationMark || code === questionMark;
  }

  /** Returns the offset behind it, -1 for a comment without an end. `<!-->` is a whole comment. */
  #readComment(at: number): number {
    this.#nameStart = this.#nameEnd = at;
    this.role = "inline";
    this.isHidden = this.hidesText = false;
    this.#style = this.#classes = this.#id = this.#size = "";
    const mark = this.html.startsWith("--", at + 2) ? "-->" : ">";
    const end = this.html.indexOf(mark, at + 2);
    return end === -1 ? -1 : end + mark.length;
  }

  /** Returns the offset behind it, -1 for a tag without an end. */
  #readTag(at: number): number {
    const { html, codes } = this;
    this.isEnd = codes[at + 1] === slash;
    this.#nameStart = this.isEnd ? at + 2 : at + 1;
    this.#nameEnd = nameEnd(codes, html.length, this.#nameStart);
    this.role = roleAt(codes, this.#nameStart, this.#nameEnd);
    this.isHidden = this.hidesText = false;
    this.#style = this.#classes = this.#id = this.#size = "";
    if (this.isEnd) return html.indexOf(">", this.#nameEnd) + 1 || -1;
    const end = this.#readAttributes(this.#nameEnd);
    if (this.#styles !== null && (this.#style !== "" || this.#classes !== "" || this.#id !== "")) {
      const hiding = this.#styles.hiding(this.#styled);
      this.isHidden ||= hiding === "all";
      this.hidesText = hiding === "text";
    }
    return end;
  }

  /** Returns the offset behind the tag, -1 when it has no end. */
  #readAttributes(position: number): number {
    const { html, codes } = this;
    const { length } = html;
    this.href = this.src = this.alt = this.start = null;
    this.#tinySides = 0;
    for (let at = position; ; ) {
      const start = blanksEnd(codes, length, at, slash);
      if (start >= length) return -1;
      if (codes[start] === greaterThan) return start + 1;
      const end = nameEnd(codes, length, start + 1, equalsSign);
      let valueStart = blanksEnd(codes, length, end);
      let valueEnd = valueStart;
      at = end;
      if (codes[valueStart] === equalsSign) {
        valueStart = blanksEnd(codes, length, valueStart + 1);
        const quote = codes[valueStart];
        if (quote === quotationMark || quote === apostrophe) {
          valueStart++;
          valueEnd = html.indexOf(quote === apostrophe ? "'" : '"', valueStart);
          if (valueEnd === -1) return -1;
          at = valueEnd + 1;
        } else {
          at = valueEnd = unquotedEnd(codes, length, valueStart);
        }
      }
      this.#keepAttribute(start, end, valueStart, valueEnd);
    }
  }

  #keepAttribute(start: number, end: number, valueStart: number, valueEnd: number): void {
    switch (end - start) {
      case 2:
        if (this.#isNamed(start, "id")) this.#id ||= this.html.slice(valueStart, valueEnd);
        break;
      case 3:
        if (this.#isNamed(start, "alt")) this.alt ??= this.#value(valueStart, valueEnd);
        else if (this.#isNamed(start, "src")) this.src ??= this.#value(valueStart, valueEnd);
        break;
      case 4:
        if (this.#isNamed(start, "href")) this.href ??= this.#value(valueStart, valueEnd);
        else if (this.#isNamed(start, "size")) this.#size ||= this.html.slice(valueStart, valueEnd);
        break;
      case 5:
        if (this.#isNamed(start, "style")) this.#style ||= this.html.slice(valueStart, valueEnd);
        else if (this.#isNamed(start, "class")) this.#classes ||= this.html.slice(valueStart, valueEnd);
        else if (this.#isNamed(start, "start")) this.start ??= this.#value(valueStart, valueEnd);
        else if (this.#isNamed(start, "width")) this.#addSide(valueStart, valueEnd);
        break;
      case 6:
        if (this.#isNamed(start, "hidden")) this.isHidden = true;
        else if (this.#isNamed(start, "height")) this.#addSide(valueStart, valueEnd);
    }
  }

  #addSide(start: number, end: number): void {
    if (end > start && atMostOne.test(this.html.slice(start, end))) this.#tinySides++;
  }

  #value(start: number, end: number): string {
    return decodeEntities(this.html.slice(start, end));
  }

  /** Whether a name, in any case, stands at an offset. */
  #isNamed(at: number, name: string): boolean {
    for (let index = 0; index < name.length; index++) {
      if (((this.codes[at + index] ?? 0) | 0x20) !== name.charCodeAt(index)) return false;
    }
    return true;
  }

  /** The line break right behind `<pre>` is not shown. */
  #passLineBreak(): void {
    if (this.codes[this.position] === carriageReturn) this.position++;
    if (this.codes[this.position] === lineFeed) this.position++;
  }

  /** Moves to the end tag of the raw element whose start tag was read last, or to the end. */
  #passRawText(): void {
    const { html, codes, position } = this;
    const name = this.#name;
    const isEndTag = (at: number) =>
      this.#isNamed(at + 2, name) && nameEnd(codes, html.length, at + 2) === at + 2 + name.length;
    let at = html.indexOf("</", position);
    while (at !== -1 && !isEndTag(at)) at = html.indexOf("</", at + 2);
    this.position = at === -1 ? html.length : at;
    this.passedOver += this.position - position;
  }
}
