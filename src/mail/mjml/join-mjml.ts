/** Puts parts into MJML documents: the text that lists of mail show, and the content of a layout. */
import type { Span } from "#mail/html/tag-positions.ts";
import { escapedText } from "#mail/merge-tags/escaped-text.ts";
import { cutTemplate, type Piece } from "#mail/merge-tags/template-pieces.ts";
import { MarkedSource } from "./marked-source.ts";
import { readMjml } from "./read-mjml.ts";

/** The parts of a document, with its merge tags. A source without `<mjml>` is the content of a body. */
class MjmlParts {
  readonly #marked: MarkedSource;
  readonly #reading: ReturnType<typeof readMjml>;

  constructor(source: string) {
    this.#marked = new MarkedSource(source);
    this.#reading = readMjml(this.#marked);
  }

  get hasPreview(): boolean {
    return this.#reading.hasPreview;
  }

  /** The content of mj-head. */
  get head(): string {
    return this.#restored(this.#reading.head);
  }

  /** The content of mj-body, or the whole source without `<mjml>`. */
  get body(): string {
    const { text } = this.#marked;
    return this.#restored(this.#reading.root === null ? { start: 0, end: text.length } : this.#reading.body);
  }

  /** The document with more at the end of its head. */
  withHead(more: string): string {
    if (more.trim() === "") return this.#marked.restore(this.#marked.text);
    const { root, head } = this.#reading;
    // Of two heads MJML reads the first, so that a self-closing one does no harm.
    const hasHead = head !== null && !this.#marked.text.slice(0, head.start).endsWith("/>");
    if (hasHead) return this.#inserted(head.end, more);
    return this.#inserted(root?.start ?? 0, `<mj-head>${more}</mj-head>`);
  }

  #inserted(at: number, more: string): string {
    const { text } = this.#marked;
    return this.#marked.restore(text.slice(0, at)) + more + this.#marked.restore(text.slice(at));
  }

  #restored(span: Span | null): string {
    return span === null ? "" : this.#marked.restore(this.#marked.text.slice(span.start, span.end));
  }
}

/** The document with the text that lists of mail show beside the subject; null if it has such a text already. */
export function withPreview(source: string, preheader: string): string | null {
  const parts = new MjmlParts(source);
  if (parts.hasPreview) return null;
  return parts.withHead(`<mj-preview>${escapedText(preheader)}</mj-preview>`);
}

/** The layout with the head of a document in its own, and the body of the document at its place for content. */
export function joinMjml(layout: string, source: string): string {
  const content = new MjmlParts(source);
  const joined = new MjmlParts(layout).withHead(content.head);
  const place = contentPlaces(joined)[0];
  if (place === undefined) throw new Error("a layout without a place for its content");
  const { start, end } = outerRaw(joined, place);
  return joined.slice(0, start) + content.body + joined.slice(end);
}

/** The outputs `{{ content }}` of a template that can be read. */
export function contentPlaces(source: string): Piece[] {
  return cutTemplate(source).filter(
    ({ kind, role, content: [start, end] }) =>
      kind === "output" && role === "shown" && source.slice(start, end).trim() === "content",
  );
}

/** Whether sections may be in place of an output of a layout. */
export function takesSections(layout: string, { start }: Span): boolean {
  const marked = new MarkedSource(layout);
  return readMjml(marked).sectionPlaces.some(
    (place) => marked.offsetOf(place.start) <= start && start <= marked.offsetOf(place.end - 1),
  );
}

/** The mj-raw that holds nothing but the piece, or the piece itself. */
function outerRaw(source: string, { start, end }: Span): Span {
  const before = /<mj-raw\s*>\s*$/.exec(source.slice(0, start));
  const after = /^\s*<\/mj-raw\s*>/.exec(source.slice(end));
  return before === null || after === null
    ? { start, end }
    : { start: before.index, end: end + after[0].length };
}
