/** The place `{{ content }}` of a layout, where the content of other templates is put. */
import { Parser } from "htmlparser2";
import type { Span } from "#mail/html/tag-positions.ts";
import { HiddenTemplateParts } from "#mail/merge-tags/hidden-template-parts.ts";
import { htmlTemplate } from "#mail/merge-tags/html-template.ts";
import { readTemplate } from "#mail/merge-tags/read-template.ts";
import { contentPlaces, takesSections } from "#mail/mjml/join-mjml.ts";
import { MarkedSource } from "#mail/mjml/marked-source.ts";
import type { WrittenBody } from "./content-source.ts";

type Format = WrittenBody["format"];

const wherePlaced: Readonly<Record<Format, string>> = {
  html: "in the text of the body, and not in a tag, a comment, a style sheet or the head",
  mjml: "between sections, in mj-body or mj-wrapper, with nothing else in an mj-raw around it",
  design: "alone in a block html that is in no columns",
};

/**
 * Says where a layout must have the content of others, unless it is there.
 * @param source its HTML, or its MJML
 * @param format how the author wrote it
 */
export function contentPlaceFault(source: string, format: Format): string | null {
  const [place, ...more] = contentPlaces(source);
  const isPlaced =
    place !== undefined &&
    more.length === 0 &&
    place.depth === 0 &&
    (format === "html" ? isShownInBody(source, place) : takesSections(source, place));
  const hiding = isPlaced && format === "html" ? hiddenPartsOf(source)?.hiding(place.start) : null;
  if (hiding) return `a layout shows its content: its ${hiding.what} hides {{ content }}`;
  return isPlaced ? null : `a layout has {{ content }} once, outside of conditions: ${wherePlaced[format]}`;
}

/** The hidden parts of HTML that can be read as a template; null if they cannot be told. */
export function hiddenPartsOf(html: string): HiddenTemplateParts | null {
  const reading = readTemplate(html);
  const template = reading.ok ? htmlTemplate(reading.template) : null;
  return template && HiddenTemplateParts.of(template);
}

/** Elements whose content is no text of the mail, or which cannot have the elements of a mail. */
const withoutContent: ReadonlySet<string> = new Set(
  (
    "title style script template textarea select datalist noscript noembed noframes iframe object audio video canvas svg " +
    "math xmp plaintext"
  ).split(" "),
);
/** Every other element ends the head, and so begins the body (HTML Standard, section 13.2.6.4.4). */
const ofHead: ReadonlySet<string> = new Set(
  "head base link meta title style script noscript template".split(" "),
);
const ofDocument: ReadonlySet<string> = new Set(["html", "head", "body"]);

function isShownInBody(html: string, place: Span): boolean {
  const marked = new MarkedSource(html);
  const reader = new PlaceReader(marked, place);
  const parser: Parser = new Parser(
    {
      onopentag: (name) => reader.open(name),
      onclosetag: (name) => reader.close(name),
      ontext: (text) => reader.text(parser.startIndex, text.length),
      onprocessinginstruction(name) {
        if (name.toLowerCase() === "!doctype") reader.documentBegins();
      },
    },
    { decodeEntities: false },
  );
  parser.end(marked.text);
  return reader.isFound;
}

class PlaceReader {
  readonly #marked: MarkedSource;
  readonly #place: Span;
  #isInHead = false;
  #isAfterBody = false;
  /** Open elements without content. */
  #depth = 0;
  isFound = false;

  constructor(marked: MarkedSource, place: Span) {
    this.#marked = marked;
    this.#place = place;
  }

  open(name: string): void {
    if (ofDocument.has(name)) this.documentBegins();
    if (withoutContent.has(name)) this.#depth += 1;
    if (name === "head") this.#isInHead = true;
    else if (!ofHead.has(name)) this.#isInHead = false;
  }

  close(name: string): void {
    if (withoutContent.has(name)) this.#depth -= 1;
    if (name === "head") this.#isInHead = false;
    if (name === "body" || name === "html") this.#isAfterBody = true;
  }

  text(start: number, length: number): void {
    const { start: place } = this.#place;
    const isHere =
      this.#marked.offsetOf(start) <= place && place <= this.#marked.offsetOf(start + length - 1);
    if (isHere) this.isFound = this.#depth === 0 && !this.#isInHead && !this.#isAfterBody;
  }

  /** What is before the document is not in its body. */
  documentBegins(): void {
    this.isFound = false;
  }
}
