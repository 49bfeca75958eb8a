/**
 * Where tags, attribute values and comments stand in HTML (HTML Standard, section 13.2.5), as offsets: whoever changes
 * an address splices it into the original, and every other byte stays as it is.
 */
import { QuoteType, Tokenizer, type TokenizerCallbacks } from "htmlparser2";

/** The characters from `start` up to, and without, `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The span of its value, without quotes; empty where it has none. */
export interface HtmlAttribute extends Span {
  /** In lower case. */
  readonly name: string;
  readonly isQuoted: boolean;
}

/** A start tag, from `<` to behind `>`. */
export interface HtmlTag extends Span {
  /** In lower case. */
  readonly element: string;
  readonly attributes: readonly HtmlAttribute[];
  /** In a conditional comment, which only Outlook reads. */
  readonly isInComment: boolean;
}

export interface HtmlMap {
  /** In order, with those in conditional comments. */
  readonly tags: readonly HtmlTag[];
  /** In order; what stands between the marks. */
  readonly comments: readonly Span[];
  /** Where what is added to the end of the body goes: at `</body>`, or `</html>`, or behind everything. */
  readonly bodyEnd: number;
}

/**
 * Tags, attributes and comments that are mapped. The longest newsletters have some ten thousand tags; two megabytes of
 * nothing but tags would keep a program at work for seconds.
 */
export const mostMarkup = 50_000;

/** More links than that no map has: each is a tag and an attribute. Their indexes are smallints in the database. */
export const mostLinks = mostMarkup / 2;

/** An attribute that keeps the address of its element as it is. */
export const untrackedAttribute = "data-no-track";

/** Maps the HTML in one pass, whatever it holds. Null for more markup than that: nobody is to use a map that is cut off. */
export function mapHtml(html: string): HtmlMap | null {
  const tags: HtmlTag[] = [];
  const comments: Span[] = [];
  const ends = new Map<string, number>();
  const found = { tags, comments, ends, markup: 0 };
  scan(html, { start: 0, end: html.length }, false, found);
  if (found.markup > mostMarkup) return null;
  return { tags, comments, bodyEnd: ends.get("body") ?? ends.get("html") ?? html.length };
}

/** The first `href` of every `a` and `area` that a person can follow and nobody marked with `data-no-track`. */
export function linkAttributes({ tags }: HtmlMap): HtmlAttribute[] {
  return tags.flatMap(({ element, attributes, isInComment }) => {
    const isLink = (element === "a" || element === "area") && !isInComment;
    if (!isLink || attributes.some(({ name }) => name === untrackedAttribute)) return [];
    return attributes.find(({ name }) => name === "href") ?? [];
  });
}

/** The one of some spans, which are in order and apart, that holds an offset. */
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
  /** Where the last end tag of an element begins. */
  readonly ends: Map<string, number>;
  /** How many tags, attributes and comments have been seen. */
  markup: number;
}

function scan(html: string, part: Span, isInComment: boolean, found: Findings): void {
  const text = html.slice(part.start, part.end);
  const nameAt = (start: number, end: number) => text.slice(start, end).toLowerCase();
  let tag = { element: "", start: 0, attributes: [] as HtmlAttribute[] };
  let name = "";
  let value: Span | null = null;
  const closeTag = (last: number) => {
    found.tags.push({ ...tag, end: part.start + last + 1, isInComment });
  };
  const count = () => {
    if (++found.markup > mostMarkup) tokenizer.pause();
  };
  const ignore = () => {};
  const callbacks: TokenizerCallbacks = {
    onopentagname(start, end) {
      count();
      tag = { element: nameAt(start, end), start: part.start + start - 1, attributes: [] };
    },
    onattribname(start, end) {
      count();
      name = nameAt(start, end);
      value = null;
    },
    onattribdata(start, end) {
      value = { start: part.start + start, end: part.start + end };
    },
    onattribend(quote, end) {
      const span = value ?? { start: part.start + end, end: part.start + end };
      const isQuoted = quote === QuoteType.Double || quote === QuoteType.Single;
      tag.attributes.push({ name, isQuoted, ...span });
    },
    onopentagend: closeTag,
    onselfclosingtag: closeTag,
    onclosetag(start, end) {
      count();
      if (!isInComment) found.ends.set(nameAt(start, end), part.start + start - "</".length);
    },
    oncomment(start, last, marks) {
      count();
      const comment = { start: part.start + start, end: part.start + last - marks };
      found.comments.push(comment);
      const condition = /^\[if\s[^\]]*\]>/i.exec(html.slice(comment.start, comment.end))?.[0];
      if (condition === undefined || isInComment) return;
      scan(html, { start: comment.start + condition.length, end: comment.end }, true, found);
    },
    onattribentity: ignore,
    oncdata: ignore,
    ondeclaration: ignore,
    onend: ignore,
    onprocessinginstruction: ignore,
    ontext: ignore,
    ontextentity: ignore,
  };
  const tokenizer = new Tokenizer({ decodeEntities: false }, callbacks);
  tokenizer.write(text);
  tokenizer.end();
}
