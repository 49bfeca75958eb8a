/**
 * Merge tags: templates in the grammar of Liquid, as LiquidJS reads it. Here a template is read once and checked; what
 * is wrong with it is said with line and column, so that nobody learns it from a recipient.
 */
import { analyzeSync, Tokenizer, type Variable } from "liquidjs";
import { LONGEST_BODY } from "#mail/html/body-conversion.ts";
import type { Span } from "#mail/html/tag-positions.ts";
import { readingEngine } from "./liquid-engine.ts";
import { liquidFaults, type PlacedFault, unclosed } from "./template-errors.ts";
import { cutTemplate, type Piece, unclosedBlocks } from "./template-pieces.ts";

export interface Template {
  readonly source: string;
  /** In order; together they are the source. */
  readonly pieces: readonly Piece[];
  /** What is asked of the values, in order. */
  readonly variables: readonly VariableUse[];
}

export interface VariableUse {
  /** `custom_fields.city` in two; null for what only the values say, as in `custom_fields[first_name]`. */
  readonly path: readonly (string | number | null)[];
  /** Offset of the name. */
  readonly at: number;
}

/** The filters of an output. */
export interface OutputFilters {
  /** The spans of their names. */
  readonly used: readonly (Span & { readonly name: string })[];
  /** Where one more is written. */
  readonly end: number;
}

/** A sentence about a place in a template, which is counted from 1. */
export interface TemplateFault {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export type TemplateReading =
  | { readonly ok: true; readonly template: Template }
  | { readonly ok: false; readonly faults: readonly TemplateFault[] };

/** Characters of a template in tags and outputs: LiquidJS takes time in their square to say where something is. */
const mostTagCharacters = 20_000;
/** Of one of these, and blocks in blocks: beyond, reading them would take the whole stack. */
const longestTag = 2_000;
const deepestBlock = 100;
const mostFaults = 20;

/**
 * Reads and checks a template. Faults, at least one, are what keeps it from being rendered.
 * @param added characters that are ours, and not its author's: the limits do not count them
 */
export function readTemplate(source: string, added = 0): TemplateReading {
  const refuse = (faults: readonly PlacedFault[]) =>
    ({ ok: false, faults: locateFaults(source, faults) }) as const;
  if (source.length > LONGEST_BODY + added) {
    return refuse([{ at: 0, message: `Shorten this to ${LONGEST_BODY} characters.` }]);
  }
  const tooManyTags = `Shorten the merge tags to ${mostTagCharacters} characters in all.`;
  if ((source.match(/{[{%]/g)?.length ?? 0) > mostTagCharacters + added)
    return refuse([{ at: 0, message: tooManyTags }]);
  let pieces: Piece[];
  try {
    pieces = cutTemplate(source);
  } catch (error) {
    return refuse(liquidFaults(error));
  }
  const unreadable = pieces.flatMap((piece) => pieceFault(piece) ?? []);
  if (unreadable.length > 0) return refuse(unreadable);
  const lines = new TagLines(source, pieces);
  if (lines.text.length > mostTagCharacters + added) {
    return refuse([{ at: 0, message: tooManyTags }]);
  }
  try {
    const { globals } = analyzeSync(readingEngine.parse(lines.text));
    const uses = Object.values(globals).flat();
    const variables = uses.map((use) => lines.useOf(use)).sort((one, other) => one.at - other.at);
    return { ok: true, template: { source, pieces, variables } };
  } catch (error) {
    const faults = liquidFaults(error).map(({ at, message }) => ({ at: lines.placeOf(at), message }));
    return refuse([...faults, ...unsaidBlocks(pieces, faults)]);
  }
}

/** LiquidJS leaves a block at the first fault inside of it, and never learns that it does not end; of raw it always does. */
function unsaidBlocks(pieces: readonly Piece[], said: readonly PlacedFault[]): PlacedFault[] {
  return unclosedBlocks(pieces)
    .filter(({ name }) => name !== "raw")
    .map(({ start, name }) => ({ at: start, message: unclosed(name) }))
    .filter((block) => !said.some(({ at, message }) => at === block.at && message === block.message));
}

function pieceFault({ kind, start, end, depth }: Piece): PlacedFault | null {
  if (kind !== "text" && end - start > longestTag) {
    return { at: start, message: `Shorten this tag to ${longestTag} characters.` };
  }
  return depth > deepestBlock ? { at: start, message: "This is nested too deeply." } : null;
}

/** The filters of an output that could be read. */
export function filtersOf(source: string, { content }: Piece): OutputFilters {
  const value = new Tokenizer(source, undefined, undefined, [...content]).readFilteredValue();
  const used = value.filters.map(({ name, begin }) => ({ name, start: begin, end: begin + name.length }));
  return { used, end: value.end };
}

/** Faults, and sentences about places, with line and column; the first of them, in order. */
export function locateFaults(source: string, faults: readonly PlacedFault[]): TemplateFault[] {
  const first = faults.toSorted((one, other) => one.at - other.at).slice(0, mostFaults);
  return first.map(({ at, message }) => {
    const before = source.slice(0, at);
    return { line: before.split("\n").length, column: at - before.lastIndexOf("\n"), message };
  });
}

/**
 * The tags and outputs of a template, one behind the other, without the text between them: what is wrong with them and
 * what they ask for does not depend on it, and LiquidJS reads all that is in front of a place to say its line.
 */
class TagLines {
  readonly text: string;
  readonly #pieces: readonly Piece[];
  /** Where the pieces begin in the text, and where its lines do. */
  readonly #starts: number[] = [];
  readonly #lines: number[] = [0];

  constructor(source: string, pieces: readonly Piece[]) {
    this.#pieces = pieces.filter(({ kind, role }) => kind !== "text" && role !== "ignored");
    let text = "";
    for (const { start, end } of this.#pieces) {
      this.#starts.push(text.length);
      text += `${source.slice(start, end)}\n`;
    }
    this.text = text;
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) this.#lines.push(at + 1);
  }

  useOf({ segments, location }: Variable): VariableUse {
    const path = segments.map((segment) => (typeof segment === "object" ? null : segment));
    return { path, at: this.placeOf((this.#lines[location.row - 1] ?? 0) + location.col - 1) };
  }

  /** The offset in the template for one in the text. */
  placeOf(at: number): number {
    const piece = this.#starts.findLastIndex((start) => start <= at);
    return (this.#pieces[piece]?.start ?? 0) + at - (this.#starts[piece] ?? 0);
  }
}
