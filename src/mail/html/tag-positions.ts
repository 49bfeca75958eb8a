/**
 * The positions of tags, attribute values and comments in HTML (HTML Standard, section 13.2.5), as offsets. To change a
 * URL, the caller replaces it in the original, so that every other byte stays the same.
 * This file uses htmlparser2's tokenizer because positions must agree with browsers; reading text uses tag-reader.ts,
 * which is faster.
 */
import { QuoteType, Tokenizer, type TokenizerCallbacks } from "htmlparser2";

/** The characters from `start` up to, but not including, `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The span of the value, without quotes; empty if there is none. */
export interface HtmlAttribute extends Span {
  /** In lower case. */
  readonly name: string;
  readonly isQuoted: boolean;
}

/** A start tag, from its `<` to the offset after its `>`. */
export interface HtmlTag extends Span {
  /** In lower case. */
  readonly element: string;
  readonly attributes: readonly HtmlAttribute[];
  /** Inside a conditional comment, which only Outlook reads. */
  readonly isInComment: boolean;
}

/** The positions of all markup in an HTML text. */
export interface HtmlMap {
  /** In order, including those in conditional comments. */
  readonly tags: readonly HtmlTag[];
  /** In order; the spans between `<!--` and `-->`. */
  readonly comments: readonly Span[];
  /** Where content at the end of the body is inserted: before `</body>`, else before `</html>`, else at the end. */
  readonly bodyEnd: number;
}

/**
 * Limit of tags, attributes and comments. The longest newsletters have some ten thousand tags; two megabytes of tags
 * alone would block the process for seconds.
 */
export const mostMarkup = 50_000;

/** Upper limit of links, because each is a tag and an attribute. Link indexes are smallints in the database. */
export const mostLinks = mostMarkup / 2;

/** The attribute by which an author excludes a link from tracking. */
const untrackedAttribute = "data-no-track";

/** Finds all positions in one pass. Null if there is more markup than the limit: an incomplete map must not be used. */
export function mapHtml(html: string): HtmlMap | null {
  const tags: HtmlTag[] = [];
  const comments: Span[] = [];
  const ends = new Map<string, number>();
  const found = { tags, comments, ends, markup: 0 };
  new MarkupScanner(html, { start: 0, end: html.length }, false, found).scan();
  if (found.markup > mostMarkup) return null;
  return { tags, comments, bodyEnd: ends.get("body") ?? ends.get("html") ?? html.length };
}

/** The first `href` of every `a` and `area` outside of comments and without `data-no-track`. */
export function linkAttributes({ tags }: HtmlMap): HtmlAttribute[] {
  return tags.flatMap(({ element, attributes, isInComment }) => {
    const isLink = (element === "a" || element === "area") && !isInComment;
    if (!isLink || attributes.some(({ name }) => name === untrackedAttribute)) return [];
    return attributes.find(({ name }) => name === "href") ?? [];
  });
}

/** The span that contains an offset. The spans are sorted and do not overlap. */
export function spanAt<Item extends Span>(spans: readonly Item[], offset: number): Item | undefined {
  let low = 0;
  for (let high = spans.length; low < high; ) {
    const middle = (low + high) >> 1;
    if ((spans[middle]?.end ?? offset) <= offset) low = middle + 1;
    else high = middle;
  }
  const found = spans[low];
  return found !== undefined && found.start <= offset ? found : undefined;
}

interface Findings {
  readonly tags: HtmlTag[];
  readonly comments: Span[];
  /** The start of the last end tag, by element. */
  readonly ends: Map<string, number>;
  /** Number of tags, attributes and comments so far. */
  markup: number;
}

/** Scans a part of the HTML: the whole, or the content of a conditional comment. */
class MarkupScanner implements TokenizerCallbacks {
  readonly #html: string;
  readonly #part: Span;
  readonly #isInComment: boolean;
  readonly #found: Findings;
  readonly #text: string;
  readonly #tokenizer: Tokenizer;
  /** The open start tag, and the name and value of its last attribute. */
  #tag = { element: "", start: 0, attributes: [] as HtmlAttribute[] };
  #name = "";
  #value: Span | null = null;

  constructor(html: string, part: Span, isInComment: boolean, found: Findings) {
    this.#html = html;
    this.#part = part;
    this.#isInComment = isInComment;
    this.#found = found;
    this.#text = html.slice(part.start, part.end);
    this.#tokenizer = new Tokenizer({ decodeEntities: false }, this);
  }

  scan(): void {
    this.#tokenizer.write(this.#text);
    this.#tokenizer.end();
  }

  onopentagname(start: number, end: number): void {
    this.#count();
    const element = this.#nameAt(start, end);
    this.#tag = { element, start: this.#part.start + start - 1, attributes: [] };
  }

  onattribname(start: number, end: number): void {
    this.#count();
    this.#name = this.#nameAt(start, end);
    this.#value = null;
  }

  onattribdata(start: number, end: number): void {
    this.#value = { start: this.#part.start + start, end: this.#part.start + end };
  }

  onattribend(quote: QuoteType, end: number): void {
    const span = this.#value ?? { start: this.#part.start + end, end: this.#part.start + end };
    const isQuoted = quote === QuoteType.Double || quote === QuoteType.Single;
    this.#tag.attributes.push({ name: this.#name, isQuoted, ...span });
  }

  onopentagend(last: number): void {
    const end = this.#part.start + last + 1;
    this.#found.tags.push({ ...this.#tag, end, isInComment: this.#isInComment });
  }

  onselfclosingtag(last: number): void {
    this.onopentagend(last);
  }

  onclosetag(start: number, end: number): void {
    this.#count();
    if (this.#isInComment) return;
    this.#found.ends.set(this.#nameAt(start, end), this.#part.start + start - "</".length);
  }

  oncomment(start: number, last: number, markLength: number): void {
    this.#count();
    const comment = { start: this.#part.start + start, end: this.#part.start + last - markLength };
    this.#found.comments.push(comment);
    const text = this.#html.slice(comment.start, comment.end);
    const condition = /^\[if\s[^\]]*\]>/i.exec(text)?.[0];
    if (condition === undefined || this.#isInComment) return;
    const part = { start: comment.start + condition.length, end: comment.end };
    new MarkupScanner(this.#html, part, true, this.#found).scan();
  }

  onattribentity(): void {}
  oncdata(): void {}
  ondeclaration(): void {}
  onend(): void {}
  onprocessinginstruction(): void {}
  ontext(): void {}
  ontextentity(): void {}

  #count(): void {
    if (++this.#found.markup > mostMarkup) this.#tokenizer.pause();
  }

  #nameAt(start: number, end: number): string {
    return this.#text.slice(start, end).toLowerCase();
  }
}
