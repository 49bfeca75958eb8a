/** The parts of an HTML template that are hidden from every recipient, and the tags that change the HTML around it. */
import { type HiddenPart, hiddenParts } from "#mail/html/hidden-parts.ts";
import type { HtmlTemplate } from "./html-template.ts";
import { htmlWithPlaceholders, type PlaceholderHtml } from "./tag-placeholders.ts";
import { visibleText } from "./visible-text.ts";

/** A place in the source of a template, and the tag or comment there as it is said to its author. */
export interface HidingPlace {
  readonly at: number;
  readonly what: string;
}

/** What begins a hidden part or ends an element, up to its name. */
const beginning = /^<(?:!--|\/?[a-z][^\s/>]{0,30})/i;

export class HiddenTemplateParts {
  readonly #template: HtmlTemplate;
  readonly #marked: PlaceholderHtml;
  readonly #strayEnds: readonly number[];
  /** The parts that are hidden whatever the values are, with offsets in the HTML with placeholders. */
  readonly #certain: readonly HiddenPart[];
  /** Whether merge tags decide nothing about what is hidden. */
  readonly isCertain: boolean;

  private constructor(template: HtmlTemplate, marked: PlaceholderHtml) {
    const { parts, strayEnds } = hiddenParts(marked.html);
    this.#template = template;
    this.#marked = marked;
    this.#strayEnds = strayEnds;
    this.#certain = certainParts(template, marked, parts);
    this.isCertain = this.#certain.length === parts.length;
  }

  /** @returns null if the template contains every character that could mark a merge tag */
  static of(template: HtmlTemplate): HiddenTemplateParts | null {
    const marked = htmlWithPlaceholders(template);
    return marked && new HiddenTemplateParts(template, marked);
  }

  /** The indexes of the merge tags at visible places. */
  seenPieces(): number[] {
    const found = visibleText(this.#marked.html, this.#certain).matchAll(this.#marked.words);
    return [...found].map(([, index]) => Number(index));
  }

  /** What hides the HTML at an offset of the source from every recipient; null if it is visible. */
  hiding(offset: number): HidingPlace | null {
    const part = this.#certain.findLast(
      ({ start, end, isLeftOpen }) =>
        this.#sourceOffset(start) < offset && (isLeftOpen || offset <= this.#sourceOffset(end)),
    );
    return part === undefined ? null : this.#place(part.start);
  }

  /** The end tags outside of blocks that end no element of the template. */
  strayEnds(): HidingPlace[] {
    const { starts } = this.#marked;
    return this.#strayEnds
      .filter((at) => this.#template.pieces[starts.findLastIndex((start) => start <= at)]?.depth === 0)
      .slice(0, mostNamed)
      .map((at) => this.#place(at));
  }

  #place(at: number): HidingPlace {
    const found = beginning.exec(this.#marked.html.slice(at, at + 40))?.[0] ?? "<";
    return { at: this.#sourceOffset(at), what: found === "<!--" ? "comment" : `${found}>` };
  }

  #sourceOffset(at: number): number {
    const { source, pieces } = this.#template;
    const { starts } = this.#marked;
    const index = starts.findLastIndex((start) => start <= at);
    return Math.min((pieces[index]?.start ?? source.length) + at - (starts[index] ?? at), source.length);
  }
}

/** More of them say nothing more to the author. */
const mostNamed = 20;

/** A part is uncertain if a block contains one of its ends and not the other. */
function certainParts(
  { pieces }: HtmlTemplate,
  { starts }: PlaceholderHtml,
  parts: readonly HiddenPart[],
): HiddenPart[] {
  let next = 0;
  const pieceAt = (offset: number) => {
    while ((starts[next] ?? Number.POSITIVE_INFINITY) <= offset) next++;
    return next - 1;
  };
  return parts.filter(({ start, end, isLeftOpen }) => {
    const first = pieceAt(start);
    const last = isLeftOpen ? pieces.length : pieceAt(end);
    const isOutside = pieces[first]?.depth === 0 && (isLeftOpen || pieces[last]?.depth === 0);
    return isOutside || !pieces.slice(first, last).some(({ kind }) => kind === "tag");
  });
}
