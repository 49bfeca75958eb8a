/**
 * Merge tags are templates in the Liquid grammar, as LiquidJS parses it. This file parses and checks a template once,
 * and reports faults with line and column, before anything is sent.
 */
import { analyzeSync, Tokenizer, type Variable } from "liquidjs";
import { LONGEST_BODY } from "#mail/html/body-conversion.ts";
import type { Span } from "#mail/html/tag-positions.ts";
import { readingEngine } from "./liquid-engine.ts";
import { liquidFaults, type PlacedFault, unclosed } from "./template-errors.ts";
import { cutTemplate, type Piece, unclosedBlocks } from "./template-pieces.ts";

/** A parsed template without faults. */
export interface Template {
  readonly source: string;
  /** In order; joined they are the source. */
  readonly pieces: readonly Piece[];
  /** The values that the template uses, in order. */
  readonly variables: readonly VariableUse[];
}

/** A use of a variable in a template. */
export interface VariableUse {
  /** `custom_fields.city` in two; null for a part that depends on a value, as in `custom_fields[first_name]`. */
  readonly path: readonly (string | number | null)[];
  /** Offset of the name. */
  readonly at: number;
}

/** The filters of an output. */
export interface OutputFilters {
  /** The names of the filters with their spans. */
  readonly used: readonly (Span & { readonly name: string })[];
  /** The offset at which another filter is appended. */
  readonly end: number;
}

/** A sentence about a position in a template; line and column count from 1. */
export interface TemplateFault {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export type TemplateReading =
  | { readonly ok: true; readonly template: Template }
  | { readonly ok: false; readonly faults: readonly TemplateFault[] };

/** Limit of characters inside tags and outputs: LiquidJS needs quadratic time to compute positions. */
const mostTagCharacters = 20_000;
/** Limits of one tag and of nested blocks: beyond them, parsing could overflow the stack. */
const longestTag = 2_000;
const deepestBlock = 100;
const mostFaults = 20;

/**
 * Parses and checks a template. If there are faults (at least one), it cannot be rendered.
 * @param added number of inserted characters, which do not count for the limits
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
    return refuse([...faults, ...unreportedBlocks(pieces, faults)]);
  }
}

/**
 * Reports unclosed blocks that LiquidJS missed: it leaves a block at the first fault inside of it. It always reports an
 * unclosed raw.
 */
function unreportedBlocks(pieces: readonly Piece[], said: readonly PlacedFault[]): PlacedFault[] {
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

/** The filters of an output that parsed without fault. */
export function filtersOf(source: string, { content }: Piece): OutputFilters {
  const value = new Tokenizer(source, undefined, undefined, [...content]).readFilteredValue();
  const used = value.filters.map(({ name, begin }) => ({ name, start: begin, end: begin + name.length }));
  return { used, end: value.end };
}

/** Adds line and column to faults and remarks; the first `mostFaults` of them in order. */
export function locateFaults(source: string, faults: readonly PlacedFault[]): TemplateFault[] {
  const first = faults.toSorted((one, other) => one.at - other.at).slice(0, mostFaults);
  return first.map(({ at, message }) => {
    const before = source.slice(0, at);
    return { line: before.split("\n").length, column: at - before.lastIndexOf("\n"), message };
  });
}

/**
 * The tags and outputs of a template on lines of their own, without the text between them. Their faults and variables
 * do not depend on the text, and LiquidJS reads everything before a position to compute its line.
 */
class TagLines {
  readonly text: string;
  readonly #pieces: readonly Piece[];
  /** The offsets in `text` at which the pieces begin, and its lines. */
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

  /** The offset in the template for an offset in `text`. */
  placeOf(at: number): number {
    const piece = this.#starts.findLastIndex((start) => start <= at);
    return (this.#pieces[piece]?.start ?? 0) + at - (this.#starts[piece] ?? 0);
  }
}
