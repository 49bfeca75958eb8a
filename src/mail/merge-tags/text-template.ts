/** Merge tags in plain text: values inside of addresses, and the text that is made of an HTML template. */
import { textFromHtml } from "#mail/html/body-conversion.ts";
import { type AddedFilter, filterInsertion, type HtmlTemplate, isEncoded } from "./html-template.ts";
import { idleFilters } from "./liquid-engine.ts";
import { filtersOf, type OutputFilters, type Template } from "./read-template.ts";
import { htmlWithPlaceholders, listsInBlocks } from "./tag-placeholders.ts";
import type { Insertion, Piece } from "./template-pieces.ts";
import { endsInAddress, isPartOfWord } from "./url-filters.ts";

/** Places with braces that are text: each costs as much as a merge tag does. */
const mostBraces = 500;
/** What stands between the parts of an address. */
const addressMark = /[/?&=#]/;
/** Filters that do nothing but in HTML. */
const htmlFilters: ReadonlySet<string> = new Set([...idleFilters, "newline_to_br"]);

/** An output, and what is added to it. */
interface WrittenOutput {
  readonly filters: OutputFilters;
  readonly added: AddedFilter[];
}

/**
 * What has to be added to outputs inside of http addresses: their values are encoded, or the address would end. One that
 * begins an address in brackets, as links stand in a text that was made of HTML, must not make a program of it.
 */
export function addressInsertions({ source, pieces }: Template): Insertion[] {
  const outputs: WrittenOutput[] = [];
  let isInAddress = false;
  let isInBracket = false;
  const word = new WordOfValues();
  for (const piece of pieces) {
    if (piece.kind === "text" && (piece.role === "shown" || piece.role === "verbatim")) {
      const text = source.slice(piece.start, piece.end);
      isInAddress = endsInAddress(text, isInAddress);
      isInBracket = text.endsWith("<");
      word.addText(text);
    } else if (piece.kind === "output" && (piece.role === "shown" || piece.role === "captured")) {
      const output: WrittenOutput = { filters: filtersOf(source, piece), added: [] };
      outputs.push(output);
      if (piece.role === "captured") output.added.push("as_is");
      else if (isInAddress) {
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

/** A word that begins with an output, and is an address where its value is one. */
class WordOfValues {
  /** Of the words in which an output depends on others; which need no filter elsewhere. */
  #number = 0;
  #isNumbered = false;
  /** The outputs that it begins with. */
  #beginning: WrittenOutput[] = [];
  #isPastMark = false;

  addText(text: string): void {
    if (isPartOfWord(text)) this.#isPastMark ||= this.#beginning.length > 0 && addressMark.test(text);
    else {
      this.#beginning = [];
      this.#isPastMark = false;
      this.#isNumbered = false;
    }
  }

  addOutput(output: WrittenOutput): void {
    if (!this.#isPastMark) this.#beginning.push(output);
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
 * The plain text of an HTML template, with its merge tags: they go through the conversion as words of their own. Tags
 * such as `{% if … %}` that would stand alone in a line are joined to the next, so that they leave no empty lines; and
 * where one of them decides about items of a list, these have no numbers.
 * Braces that HTML shows as text, and that would begin a merge tag, become values.
 * @returns null where the source holds all characters that could stand for a merge tag, or too many such braces
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

/** Joins lines that a pattern's first group makes up to those that follow, below as many empty lines as before. */
function joinedLines(text: string, pattern: RegExp): string {
  let joined = "";
  /** Line breaks behind the last line that is none of them: those there are, and those that are written. */
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

/** A tag, or an output without the filters at its end that make HTML. */
function textTag(source: string, piece: Piece | undefined): string {
  if (piece === undefined) return "";
  if (piece.kind === "tag") return source.slice(piece.start, piece.end);
  const { used, end } = filtersOf(source, piece);
  const kept = used.findLastIndex(({ name }) => !htmlFilters.has(name)) + 1;
  const first = used[kept];
  const cut = first === undefined ? end : source.lastIndexOf("|", first.start);
  return source.slice(piece.start, cut).trimEnd() + source.slice(end, piece.end);
}
