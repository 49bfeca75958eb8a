/** Merge tags in plain text: values inside URLs, and the plain text template that is made from an HTML template. */
import { textFromHtml } from "#mail/html/body-conversion.ts";
import { type AddedFilter, filterInsertion, type HtmlTemplate, isEncoded } from "./html-template.ts";
import { noOpFilters } from "./liquid-engine.ts";
import { filtersOf, type OutputFilters, type Template } from "./read-template.ts";
import { htmlWithPlaceholders, listsInBlocks } from "./tag-placeholders.ts";
import type { Insertion, Piece } from "./template-pieces.ts";
import { endsInUrl, isPartOfWord } from "./url-filters.ts";

/** Limit of literal braces, because each costs as much as a merge tag. */
const mostBraces = 500;
/** Characters between the parts of a URL. */
const urlSeparator = /[/?&=#]/;
/** Filters that have an effect only in HTML. */
const htmlFilters: ReadonlySet<string> = new Set([...noOpFilters, "newline_to_br"]);

/** An output, and the filters that are added to it. */
interface WrittenOutput {
  readonly filters: OutputFilters;
  readonly added: AddedFilter[];
}

/**
 * The filters for outputs inside http URLs: their values are percent-encoded, so that they cannot end the URL. An
 * output that begins a URL in angle brackets, as links from HTML do, gets a filter that allows only safe schemes.
 */
export function urlInsertions({ source, pieces }: Template): Insertion[] {
  const outputs: WrittenOutput[] = [];
  let isInUrl = false;
  let isInBracket = false;
  const word = new WordOfValues();
  for (const piece of pieces) {
    if (piece.kind === "text" && (piece.role === "shown" || piece.role === "verbatim")) {
      const text = source.slice(piece.start, piece.end);
      isInUrl = endsInUrl(text, isInUrl);
      isInBracket = text.endsWith("<");
      word.addText(text);
    } else if (piece.kind === "output" && (piece.role === "shown" || piece.role === "captured")) {
      const output: WrittenOutput = { filters: filtersOf(source, piece), added: [] };
      outputs.push(output);
      if (piece.role === "captured") output.added.push("as_is");
      else if (isInUrl) {
        if (!isEncoded(output.filters)) output.added.push("as_url_part");
      } else {
        if (isInBracket) output.added.push("as_text_url");
        isInBracket = false;
        word.addOutput(output);
      }
    }
  }
  return outputs
    .filter(({ added }) => added.length > 0)
    .map(({ filters, added }) => filterInsertion(source, filters, ...added));
}

/** A word that begins with an output, and is a URL if the value is one. */
class WordOfValues {
  /** Number of the current word; only words in which one output depends on another are counted. */
  #number = 0;
  #isNumbered = false;
  /** The outputs at the beginning of the word. */
  #beginning: WrittenOutput[] = [];
  #isPastSeparator = false;

  addText(text: string): void {
    if (isPartOfWord(text)) this.#isPastSeparator ||= this.#beginning.length > 0 && urlSeparator.test(text);
    else {
      this.#beginning = [];
      this.#isPastSeparator = false;
      this.#isNumbered = false;
    }
  }

  addOutput(output: WrittenOutput): void {
    if (!this.#isPastSeparator) this.#beginning.push(output);
    else if (!isEncoded(output.filters)) {
      if (!this.#isNumbered) this.#numberBeginning();
      output.added.push(`as_address_part: ${this.#number}`);
    }
  }

  #numberBeginning(): void {
    this.#number++;
    this.#isNumbered = true;
    for (const [at, { added }] of this.#beginning.entries()) {
      added.push(`${at === 0 ? "as_address_start" : "as_address_more"}: ${this.#number}`);
    }
  }
}

/**
 * The plain text template of an HTML template. Merge tags pass through the conversion as placeholder words. Tags such
 * as `{% if … %}` that are alone in a line are joined to the next line, so that they leave no empty lines; lists whose
 * items depend on such tags are not numbered.
 * Braces that are text in HTML, but would begin a merge tag, become values.
 * @returns null if the source contains every character that could mark a placeholder, or too many such braces
 */
export function textTemplateOf(template: HtmlTemplate): string | null {
  const marked = htmlWithPlaceholders(template);
  if (marked === null) return null;
  const { html, outputMark, tagMark, words } = marked;
  const tagLine = new RegExp(`^[> ]*((?:${tagMark}\\d+${tagMark} *)+)$`);
  const text = joinedLines(
    textFromHtml(html, { uncounted: listsInBlocks(marked, template.pieces) }),
    tagLine,
  );
  const braces = new RegExp(`{+(?=[%${outputMark}${tagMark}])|{{+`, "g");
  if ((text.match(braces)?.length ?? 0) > mostBraces) return null;
  const literal = text.replaceAll(braces, (shown) => `{{ "${shown}" }}`);
  return literal.replaceAll(words, (_word, index) =>
    textTag(template.source, template.pieces[Number(index)]),
  );
}

/**
 * Joins lines that the first group of a pattern matches to the line that follows, with as many empty lines before it as
 * there were.
 */
function joinedLines(text: string, pattern: RegExp): string {
  let joined = "";
  /** Line breaks after the last other line: those in the text, and those that are written. */
  let breaks = 0;
  let written = Number.POSITIVE_INFINITY;
  for (const [index, line] of text.split("\n").entries()) {
    if (index > 0) breaks++;
    if (line === "") continue;
    const tags = pattern.exec(line)?.[1];
    joined += "\n".repeat(Math.max(0, breaks - written)) + (tags ?? line);
    written = tags === undefined ? 0 : Math.max(written, breaks);
    breaks = 0;
  }
  return joined;
}

/** The tag, or the output without trailing filters that only affect HTML. */
function textTag(source: string, piece: Piece | undefined): string {
  if (piece === undefined) return "";
  if (piece.kind === "tag") return source.slice(piece.start, piece.end);
  const { used, end } = filtersOf(source, piece);
  const kept = used.findLastIndex(({ name }) => !htmlFilters.has(name)) + 1;
  const first = used[kept];
  const cut = first === undefined ? end : source.lastIndexOf("|", first.start);
  return source.slice(piece.start, cut).trimEnd() + source.slice(end, piece.end);
}
