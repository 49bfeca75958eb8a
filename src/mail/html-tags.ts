/**
 * Reads HTML tag by tag (HTML Standard, section 13.2.5) and forgives what browsers forgive. Comments and doctypes are
 * passed over, and so is the content of elements such as `<style>`. No tree is made, and the time is linear in the
 * length whatever the HTML holds.
 */

import { type ElementRole, endsParagraph, roleOf } from "./html-elements.ts";
import { decodeEntities } from "./html-entities.ts";

/** Longer tags carry a picture or a font in them, and no words. */
const maxTagLength = 1000;
const displayNone = /display\s*:\s*none/i;

const code = {
  blank: 0x20,
  exclamationMark: 0x21,
  quotationMark: 0x22,
  apostrophe: 0x27,
  slash: 0x2f,
  equalsSign: 0x3d,
  greaterThan: 0x3e,
  questionMark: 0x3f,
} as const;

export class TagReader {
  readonly html: string;
  /** Where the text begins that has not been read. */
  position: number;
  /** How many characters before the position hold no words: comments, style sheets, embedded pictures. */
  passedOver = 0;

  /** The tag that was read last; its name in lower case, empty for a comment. */
  name = "";
  role: ElementRole = "inline";
  isEnd = false;
  /** By its attribute or its style. */
  isHidden = false;
  href: string | null = null;
  src: string | null = null;
  alt: string | null = null;
  start: string | null = null;

  constructor(html: string, position = 0) {
    this.html = html;
    this.position = position;
  }

  /** Where the text at the position ends: at the next tag or comment, or with the HTML. Any other `<` is text. */
  textEnd(): number {
    let at = this.html.indexOf("<", this.position);
    while (at !== -1 && !this.#isMarkup(at)) at = this.html.indexOf("<", at + 1);
    return at === -1 ? this.html.length : at;
  }

  /**
   * Reads the tag or comment at an offset and moves behind it, or behind the element when its content is raw.
   * @returns false where it has no end, and at the end: there is nothing more to show
   */
  read(at: number): boolean {
    const next = this.html.charCodeAt(at + 1);
    const isTag = next !== code.exclamationMark && next !== code.questionMark;
    const end = isTag ? this.#readTag(at) : this.#readComment(at);
    if (end === -1) return false;
    if (!isTag || end - at > maxTagLength) this.passedOver += end - at;
    this.position = end;
    if (this.role === "raw" && !this.isEnd && this.html.charCodeAt(end - 2) !== code.slash)
      this.#passRawText();
    return true;
  }

  /** Moves behind the element whose start tag was read last; stays, and returns false, when it has no end. */
  skipElement(): boolean {
    const { name } = this;
    const ahead = new TagReader(this.html, this.position);
    for (let depth = 1; depth > 0; ) {
      const at = ahead.textEnd();
      if (!ahead.read(at)) return false;
      // Paragraphs do not nest, and their end tags are often left out.
      const isNext = name === "p" && endsParagraph(ahead.role) && !(ahead.isEnd && ahead.name === "p");
      if (isNext) {
        this.position = at;
        return true;
      }
      if (ahead.name === name) depth += ahead.isEnd ? -1 : 1;
    }
    this.position = ahead.position;
    return true;
  }

  #isMarkup(at: number): boolean {
    const next = this.html.charCodeAt(at + 1);
    if (next === code.slash) return isLetter(this.html.charCodeAt(at + 2));
    return isLetter(next) || next === code.exclamationMark || next === code.questionMark;
  }

  /** Returns the offset behind, -1 for a comment without an end. `<!-->` is a whole comment. */
  #readComment(at: number): number {
    this.name = "";
    this.role = "inline";
    this.isHidden = false;
    const mark = this.html.startsWith("--", at + 2) ? "-->" : ">";
    const end = this.html.indexOf(mark, at + 2);
    return end === -1 ? -1 : end + mark.length;
  }

  /** Returns the offset behind, -1 for a tag without an end. */
  #readTag(at: number): number {
    const { html } = this;
    this.isEnd = html.charCodeAt(at + 1) === code.slash;
    const nameStart = this.isEnd ? at + 2 : at + 1;
    let end = nameEnd(html, nameStart);
    this.name = html.slice(nameStart, end).toLowerCase();
    this.role = roleOf(this.name);
    this.isHidden = false;
    this.href = this.src = this.alt = this.start = null;
    for (;;) {
      const start = afterBlanks(html, end, code.slash);
      if (start >= html.length) return -1;
      if (html.charCodeAt(start) === code.greaterThan) return start + 1;
      const attributeEnd = nameEnd(html, start + 1, code.equalsSign);
      let valueStart = afterBlanks(html, attributeEnd);
      let valueEnd = valueStart;
      end = attributeEnd;
      if (html.charCodeAt(valueStart) === code.equalsSign) {
        valueStart = afterBlanks(html, valueStart + 1);
        const quote = html.charCodeAt(valueStart);
        if (quote === code.quotationMark || quote === code.apostrophe) {
          valueStart++;
          valueEnd = html.indexOf(quote === code.apostrophe ? "'" : '"', valueStart);
          if (valueEnd === -1) return -1;
          end = valueEnd + 1;
        } else {
          end = valueEnd = unquotedEnd(html, valueStart);
        }
      }
      this.#readAttribute(start, attributeEnd, valueStart, valueEnd);
    }
  }

  #readAttribute(start: number, end: number, valueStart: number, valueEnd: number): void {
    const value = () => decodeEntities(this.html.slice(valueStart, valueEnd));
    switch (end - start) {
      case 3:
        if (isNamed(this.html, start, "alt")) this.alt ??= value();
        else if (isNamed(this.html, start, "src")) this.src ??= value();
        break;
      case 4:
        if (isNamed(this.html, start, "href")) this.href ??= value();
        break;
      case 5:
        if (isNamed(this.html, start, "style")) this.isHidden ||= displayNone.test(this.html.slice(valueStart, valueEnd));
        else if (isNamed(this.html, start, "start")) this.start ??= value();
        break;
      case 6:
        if (isNamed(this.html, start, "hidden")) this.isHidden = true;
    }
  }

  /** Moves to the end tag of the element whose start tag was read last, or to the end. */
  #passRawText(): void {
    const { html, name, position } = this;
    let at = html.indexOf("</", position);
    while (at !== -1 && !(isNamed(html, at + 2, name) && nameEnd(html, at + 2) === at + 2 + name.length)) {
      at = html.indexOf("</", at + 2);
    }
    this.position = at === -1 ? html.length : at;
    this.passedOver += this.position - position;
  }
}

function isLetter(char: number): boolean {
  const lower = char | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}

/** Whether a name of HTML, written in any case, stands at an offset. */
function isNamed(html: string, at: number, name: string): boolean {
  for (let index = 0; index < name.length; index++) {
    if ((html.charCodeAt(at + index) | 0x20) !== name.charCodeAt(index)) return false;
  }
  return true;
}

/** The end of a name: at white space, `/`, `>`, one more character, or the end of the HTML. */
function nameEnd(html: string, at: number, delimiter: number = code.greaterThan): number {
  let end = at;
  for (; end < html.length; end++) {
    const char = html.charCodeAt(end);
    if (char <= code.blank || char === code.slash || char === code.greaterThan || char === delimiter) break;
  }
  return end;
}

function unquotedEnd(html: string, at: number): number {
  let end = at;
  for (; end < html.length; end++) {
    const char = html.charCodeAt(end);
    if (char <= code.blank || char === code.greaterThan) break;
  }
  return end;
}

function afterBlanks(html: string, at: number, skipped: number = code.blank): number {
  let end = at;
  for (; end < html.length; end++) {
    const char = html.charCodeAt(end);
    if (char > code.blank && char !== skipped) break;
  }
  return end;
}
