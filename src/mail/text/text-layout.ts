/**
 * Lays out words as plain text: merges white space, separates paragraphs by one empty line, and writes list markers,
 * quotation marks (`> `) and URLs (`<…>`). Blanks and line breaks are written only before a word, so no line ends in
 * blanks, and the text has no empty lines at its ends.
 */

import { blank, isBlank, isVisible, lineFeed, noBreakBlank, tab, wordsEnd } from "./characters.ts";
import { closingMarks, containsUrlAtEnd, mayTouchUrl } from "./url-spacing.ts";

/** Limits of nesting, so that a few tags cannot write long lines. */
const maxQuotes = 8;
const maxIndent = 32;
/** A row with longer cells is not data but page layout. */
const maxCellsLength = 60;
const rule = "-".repeat(40);

/** Characters with which mails pad their preview: invisible ones, and blanks between them. */
const padding = /^(?:[\u00ad\u200b-\u200d\u2007\u2060\ufeff ]|\u034f)+$/;
const isLine = /^[!-~]+(?: [!-~]+)*$/;
const beginsWord = /^[\p{L}\p{N}<[({]/u;

interface List {
  /** Columns before its markers. */
  readonly indent: number;
  /** Columns of the last marker. */
  markWidth: number;
  /** The next number; null in a list without numbers. */
  next: number | null;
}

/** Builds a plain text from words and the effects of HTML elements. */
export class TextLayout {
  /** The text so far; inside a link, the words of the link. */
  #text = "";
  #isEmpty = true;
  /** Line breaks before the next word. */
  #breaks = 0;
  /** Blanks before the next word. */
  #gap = "";
  /** Whether more white space merges with the gap. */
  #gapMerges = false;
  /** The text ends in a URL in brackets or a picture; a word must not touch it. */
  #isClosed = false;
  /** The text ends in a plain URL; characters that touch it would become part of it. */
  #endsInUrl = false;
  /** The words that were added last. */
  #lastWords = "";

  /** Content of the current table row: no words, one line of words, or more. */
  #row: "empty" | "line" | "long" = "long";
  #rowStart = 0;
  /** A cell has begun in the same line as the cells before it. */
  #continuesRow = false;

  #textBeforeLink = "";
  #wordsBeforeLink = "";
  #url: string | null = null;
  #isPictured = false;

  readonly #lists: List[] = [];
  #mark = "";
  #quotes = 0;
  #quotesOfLastLine = 0;
  #preformatted = 0;

  /** How many characters the text has. */
  get length(): number {
    return this.#textBeforeLink.length + this.#text.length;
  }

  /** Adds the words and white space between two offsets of a string, given with its UTF-16 code units. */
  add(source: string, codes: Uint16Array, start: number, end: number): void {
    for (let at = start; at < end; ) {
      const behind = wordsEnd(codes, at, end);
      if (behind > at) this.#addWords(source.slice(at, behind));
      else this.#addSpace(codes[at] ?? blank);
      at = behind > at ? behind : at + 1;
    }
  }

  /** Adds one character, which may be two code units. */
  addCharacter(character: string): void {
    const code = character.charCodeAt(0);
    if (isVisible(code)) this.#addWords(character);
    else this.#addSpace(code);
  }

  /** Ends the line; called again, adds an empty line. */
  breakLine(): void {
    this.#gap = "";
    this.#gapMerges = false;
    this.#breaks = this.#preformatted > 0 ? this.#breaks + 1 : Math.min(this.#breaks + 1, 2);
  }

  /** The edge of a block: 1 starts a new line, 2 a new paragraph. */
  edge(breaks: 1 | 2): void {
    if (!this.#continuesRow) this.#separate(breaks);
  }

  rule(): void {
    this.#separate(2);
    this.#addWords(rule);
    this.#separate(2);
    this.#row = "long";
  }

  /** Text after a table is not in the line of its last row. */
  closeTable(): void {
    this.#separate(2);
    this.#row = "long";
  }

  /** The edge of a table's row. */
  row(): void {
    this.#separate(1);
    this.#row = "empty";
  }

  /** Separates a cell from the one before it: by a blank if that is short, even if both contain paragraphs. */
  openCell(): void {
    if (this.#row === "line" && this.length - this.#rowStart <= maxCellsLength) {
      this.#breaks = 0;
      this.#continuesRow = true;
    }
    if (this.#isAtLineStart()) this.#gap = "";
    else this.#addSpace(blank);
  }

  /** Adds words in place of a picture. A link that contains only a picture without words still shows its URL. */
  picture(words: string): void {
    this.#isPictured = true;
    const line = isLine.test(words) ? words : words.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
    if (line === "") return;
    this.#addWords(line);
    this.#isClosed = true;
  }

  /** @param first the number of the first item; null for a list without numbers */
  openList(first: number | null): void {
    const outer = this.#lists.at(-1);
    this.#separate(outer ? 1 : 2);
    const indent = outer ? Math.min(outer.indent + outer.markWidth, maxIndent) : 0;
    this.#lists.push({ indent, markWidth: 0, next: first });
  }

  closeList(): void {
    this.#lists.pop();
    this.#mark = "";
    this.#separate(this.#lists.length > 0 ? 1 : 2);
  }

  openItem(): void {
    this.#separate(1);
    const list = this.#lists.at(-1);
    this.#mark = typeof list?.next === "number" ? `${list.next++}. ` : "- ";
    if (list) list.markWidth = this.#mark.length;
  }

  openQuote(): void {
    this.#separate(2);
    this.#quotes++;
  }

  closeQuote(): void {
    this.#separate(2);
    this.#quotes = Math.max(0, this.#quotes - 1);
  }

  /** From here on white space and line breaks are kept. */
  openPreformatted(): void {
    this.#separate(2);
    this.#preformatted++;
  }

  closePreformatted(): void {
    this.#separate(2);
    this.#breaks = 2;
    this.#preformatted = Math.max(0, this.#preformatted - 1);
  }

  /** @param address written after the words of the link unless they already contain it; null for none */
  openLink(address: string | null): void {
    this.closeLink();
    if (address === null) return;
    this.#url = address;
    this.#textBeforeLink = this.#text;
    this.#wordsBeforeLink = this.#lastWords;
    this.#text = "";
    this.#isPictured = false;
  }

  closeLink(): void {
    if (this.#url === null) return;
    const address = this.#url;
    const words = this.#text;
    const saysIt = containsUrlAtEnd(words, address);
    const isGlued = saysIt && words.length <= address.length + 1 && isVisible(words.charCodeAt(0));
    const blankBefore = isGlued && !mayTouchUrl(this.#wordsBeforeLink) ? " " : "";
    this.#text = this.#textBeforeLink + blankBefore + words;
    this.#textBeforeLink = "";
    this.#url = null;
    if (words === "" && !this.#isPictured) return;
    if (words === "") this.#addUrl(address);
    else if (!saysIt) this.#text += ` <${address}>`;
    this.#endsInUrl = words === "" || saysIt;
    this.#isClosed = true;
  }

  /** Closes an open link, and returns the text. */
  finish(): string {
    this.closeLink();
    return this.#text;
  }

  /** A line of `&nbsp;` alone is an empty line. */
  #separate(breaks: 1 | 2): void {
    const isSpacer = this.#gap !== "" && this.#isAtLineStart();
    this.#breaks = Math.max(this.#breaks, isSpacer ? 2 : breaks);
    this.#gap = "";
    this.#gapMerges = false;
    this.#continuesRow = false;
  }

  #isAtLineStart(): boolean {
    return this.#breaks > 0 || this.#isEmpty;
  }

  #addWords(words: string): void {
    const touchesWord = this.#touchesWord();
    if (!touchesWord && words.charCodeAt(0) > noBreakBlank && padding.test(words)) return;
    const marks = touchesWord && this.#endsInUrl ? (closingMarks.exec(words)?.[0] ?? "") : null;
    if (this.#isAtLineStart()) this.#startLine();
    else if (marks === "" || (this.#isClosed && touchesWord && beginsWord.test(words))) this.#gap = " ";
    this.#text += this.#gap + words;
    this.#gap = "";
    this.#gapMerges = false;
    this.#isClosed = false;
    this.#endsInUrl = marks === words;
    this.#lastWords = words;
    this.#isEmpty = false;
    this.#continuesRow = false;
  }

  #addUrl(address: string): void {
    if (this.#touchesWord() && !mayTouchUrl(this.#lastWords)) this.#gap = " ";
    this.#addWords(address);
  }

  /** Whether nothing separates the next word from the last one. */
  #touchesWord(): boolean {
    return this.#gap === "" && !this.#isAtLineStart();
  }

  #startLine(): void {
    this.#row = this.#row === "empty" ? "line" : "long";
    this.#rowStart = this.length;
    if (!this.#isEmpty) this.#text += this.#breaks === 1 ? "\n" : `${this.#emptyLines()}\n`;
    const list = this.#lists.at(-1);
    if (this.#quotes > 0) this.#text += quoteMarks(this.#quotes);
    if (list) this.#text += " ".repeat(list.indent + (this.#mark === "" ? list.markWidth : 0));
    this.#text += this.#mark;
    this.#mark = "";
    this.#breaks = 0;
    this.#quotesOfLastLine = this.#quotes;
  }

  #emptyLines(): string {
    const quotes = Math.min(this.#quotes, this.#quotesOfLastLine);
    return `\n${quoteMarks(quotes).trimEnd()}`.repeat(this.#breaks - 1);
  }

  /** Adds white space or a control character. */
  #addSpace(code: number): void {
    if (code === noBreakBlank) {
      this.#gap += " ";
      this.#gapMerges = false;
    } else if (this.#preformatted > 0) {
      if (code === lineFeed) this.breakLine();
      else if (code === blank || code === tab) this.#gap += String.fromCharCode(code);
    } else if (isBlank(code) && !this.#gapMerges && (this.#gap !== "" || !this.#isAtLineStart())) {
      this.#gap += " ";
      this.#gapMerges = true;
    }
  }
}

function quoteMarks(depth: number): string {
  return "> ".repeat(Math.min(depth, maxQuotes));
}
