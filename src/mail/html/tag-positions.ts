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
export const untrackedAttribute = "data-no-track";

/** Finds all positions in one pass. Null if there is more markup than the limit: an incomplete map must not be used. */
export function mapHtml(html: string): HtmlMap | null {
  const tags: HtmlTag[] = [];
  const comments: Span[] = [];
  const ends = new Map<string, number>();
  const found = { tags, comments, ends, markup: 0 };
  scan(html, { start: 0, end: html.length }, false, found);
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
