/**
 * Reads the elements of an MJML document before MJML compiles it. MJML drops what it does not know, reads files for
 * mj-include, and has no limits; here such a document is refused, with the place of each fault.
 */
import { Parser } from "htmlparser2";
import type { Span } from "#mail/html/tag-positions.ts";
import type { PlacedFault } from "#mail/merge-tags/template-errors.ts";
import type { Insertion } from "#mail/merge-tags/template-pieces.ts";
import type { MarkedSource } from "./marked-source.ts";
import { elementsWithHtml, mjmlElements } from "./mjml-elements.ts";

/** Elements of one document outside of HTML: a long newsletter has some hundred. */
const MOST_ELEMENTS = 3_000;
const DEEPEST_ELEMENT = 20;
const MOST_FAULTS = 20;

/** Elements without a component of their own. */
const others: ReadonlySet<string> = new Set([
  "mjml",
  "mj-all",
  "mj-class",
  "mj-selector",
  "mj-html-attribute",
]);
/** Elements in which sections may be. */
const withSections: ReadonlySet<string> = new Set(["mj-body", "mj-wrapper"]);

/** An element outside of HTML; the offsets in the marked text are those of its start tag. */
export interface MjmlElement extends Span {
  readonly name: string;
  /** The name of the element that it is in; null of the first. */
  readonly parent: string | null;
}

export interface MjmlReading {
  /** With offsets in the marked text. */
  readonly faults: readonly PlacedFault[];
  /** The elements mj-raw around merge tags between elements, which MJML would drop otherwise. */
  readonly wraps: readonly Insertion[];
  /** The content of these elements, as offsets in the marked text; null where there is no such element. */
  readonly root: Span | null;
  readonly head: Span | null;
  readonly body: Span | null;
  readonly hasPreview: boolean;
  readonly elements: readonly MjmlElement[];
  /** Merge tags where sections may be: those between sections, and each that is alone in an mj-raw there. */
  readonly sectionPlaces: readonly Span[];
}

export function readMjml(source: MarkedSource): MjmlReading {
  const reader = new ElementReader(source);
  const parser: Parser = new Parser(
    {
      onopentag: (name) => reader.open(name, { start: parser.startIndex, end: parser.endIndex + 1 }),
      onclosetag: (name, isImplied) => reader.close(name, parser.startIndex, isImplied),
      ontext: (text) => reader.text(text, parser.startIndex),
    },
    // As MJML reads it.
    {
      recognizeCDATA: true,
      decodeEntities: false,
      recognizeSelfClosing: true,
      lowerCaseAttributeNames: false,
    },
  );
  parser.end(source.text);
  return reader.result();
}

interface OpenElement {
  readonly name: string;
  readonly at: number;
  readonly isKnown: boolean;
  readonly isSelfClosing: boolean;
}

class ElementReader {
  readonly #source: MarkedSource;
  readonly #faults: PlacedFault[] = [];
  readonly #wraps: Insertion[] = [];
  readonly #open: OpenElement[] = [];
  readonly #contents = new Map<string, { start: number; end: number }>();
  /** Elements with HTML that are open inside each other. */
  #htmlDepth = 0;
  readonly #elements: MjmlElement[] = [];
  readonly #sectionPlaces: Span[] = [];
  /** Where the content of an mj-raw between sections begins, while it is open. */
  #rawStart: number | null = null;
  #hasPreview = false;

  constructor(source: MarkedSource) {
    this.#source = source;
  }

  open(name: string, { start, end }: Span): void {
    const isHtml = elementsWithHtml.has(name);
    if (this.#htmlDepth > 0) {
      if (isHtml) this.#htmlDepth += 1;
      return;
    }
    if (isHtml) this.#htmlDepth += 1;
    this.#elements.push({ name, parent: this.#open.at(-1)?.name ?? null, start, end });
    this.#hasPreview ||= name === "mj-preview";
    const fault = this.#elementFault(name);
    if (fault !== null) this.#say(start, fault);
    const isSelfClosing = this.#source.text.slice(start, end).endsWith("/>");
    // With an attribute, its content may be shown elsewhere.
    const isPlainRaw = /^<mj-raw\s*>$/.test(this.#source.text.slice(start, end));
    if (isPlainRaw && this.#isBetweenSections()) this.#rawStart = end;
    this.#open.push({ name, at: start, isKnown: fault === null, isSelfClosing });
    if (!this.#contents.has(name)) this.#contents.set(name, { start: end, end });
  }

  /** @param isImplied whether there is no end tag */
  close(name: string, at: number, isImplied: boolean): void {
    if (elementsWithHtml.has(name)) this.#htmlDepth -= 1;
    if (this.#htmlDepth > 0) return;
    if (this.#rawStart !== null) {
      const raw = { start: this.#rawStart, end: at };
      if (this.#source.isOneMark(this.#source.text.slice(raw.start, raw.end))) this.#sectionPlaces.push(raw);
      this.#rawStart = null;
    }
    const content = this.#contents.get(name);
    // A self-closing element ends where it begins.
    if (content !== undefined) content.end = Math.max(content.start, at);
    const opened = this.#open.pop();
    if (isImplied && opened?.isSelfClosing === false) this.#say(opened.at, `This ${name} is not closed.`);
  }

  text(text: string, at: number): void {
    const inside = this.#open.at(-1);
    if (this.#htmlDepth > 0 || text.trim() === "" || inside?.name === "mj-html-attribute") return;
    const start = at + text.length - text.trimStart().length;
    const end = at + text.trimEnd().length;
    if (this.#source.isOnlyMarks(text) && inside !== undefined) {
      this.#wraps.push({ at: start, text: "<mj-raw>" }, { at: end, text: "</mj-raw>" });
      if (this.#isBetweenSections()) this.#sectionPlaces.push({ start, end });
    } else if (inside?.isKnown !== false) {
      this.#say(start, "Text between MJML elements is not shown: put it into mj-text.");
    }
  }

  result(): MjmlReading {
    const [root, head, body] = ["mjml", "mj-head", "mj-body"].map((name) => this.#contents.get(name) ?? null);
    return {
      faults: this.#faults,
      wraps: this.#wraps,
      root: root ?? null,
      head: head ?? null,
      body: body ?? null,
      hasPreview: this.#hasPreview,
      elements: this.#elements,
      sectionPlaces: this.#sectionPlaces,
    };
  }

  #isBetweenSections(): boolean {
    return withSections.has(this.#open.at(-1)?.name ?? "");
  }

  #elementFault(name: string): string | null {
    if (this.#elements.length > MOST_ELEMENTS) {
      return this.#elements.length === MOST_ELEMENTS + 1
        ? `Shorten this to ${MOST_ELEMENTS} elements.`
        : null;
    }
    if (this.#open.length === DEEPEST_ELEMENT) return "This is nested too deeply.";
    if (name === "mj-include") return "mj-include reads files, which are not here: put the content here.";
    if (mjmlElements.has(name) || others.has(name)) return null;
    const advice = name.startsWith("mj-") ? "" : " Put HTML into mj-text, mj-table or mj-raw.";
    return `There is no MJML element ${this.#source.restore(name)}.${advice}`;
  }

  #say(at: number, message: string): void {
    if (this.#faults.length < MOST_FAULTS) this.#faults.push({ at, message });
  }
}
