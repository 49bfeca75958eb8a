/** Splits a template into texts, outputs and tags with their offsets, and inserts texts between them. */
import { type TopLevelToken, TypeGuards } from "liquidjs";
import type { Span } from "#mail/html/tag-positions.ts";
import { readingEngine } from "./liquid-engine.ts";
import { SourceTokenizer } from "./source-tokenizer.ts";

/** A part of a template: a text, an output `{{ … }}` or a tag `{% … %}`. */
export interface Piece extends Span {
  readonly kind: "text" | "output" | "tag";
  /** The name of a tag; empty for texts and outputs. */
  readonly name: string;
  /** Start and end of the content of an output or tag, without delimiters. */
  readonly content: readonly [number, number];
  /** Number of open blocks before it. */
  readonly depth: number;
  /** What happens with the piece: it is written, captured, written verbatim, or ignored. */
  readonly role: "shown" | "captured" | "verbatim" | "ignored";
}

/** A text that is inserted into a template. */
export interface Insertion {
  readonly at: number;
  readonly text: string;
}

const opening: ReadonlySet<string> = new Set("capture case comment for if raw unless".split(" "));

/**
 * The pieces in order; joined they are the source.
 * @throws LiquidError if an output or a tag is not closed
 */
export function cutTemplate(source: string): Piece[] {
  let depth = 0;
  /** The open captures, comment or raw block. */
  const open: string[] = [];
  return new SourceTokenizer(source).readTopLevelTokens(readingEngine.options).map((token) => {
    const { kind, name, content } = contentOf(token);
    if (open.length > 0 && name === `end${open.at(-1)}`) open.pop();
    const role = roleIn(open);
    const piece = { kind, name, content, role, depth, start: token.begin, end: token.end } as const;
    if (role !== "ignored") {
      depth += depthChange(piece);
      if (/^(?:capture|comment|raw)$/.test(name)) open.push(name);
    }
    return piece;
  });
}

/** Whether a text contains the start of a merge tag, for fields where merge tags are not replaced. */
export function holdsMergeTag(text: string): boolean {
  return /{{|{%/.test(text);
}

/** How a piece changes the number of open blocks. */
export function depthChange({ name }: Piece): number {
  if (opening.has(name)) return 1;
  return name.startsWith("end") && opening.has(name.slice("end".length)) ? -1 : 0;
}

/** The opening tags of blocks that are never closed. The end of a block also closes the blocks left open inside it. */
export function unclosedBlocks(pieces: readonly Piece[]): Piece[] {
  const open: Piece[] = [];
  const left: Piece[] = [];
  for (const piece of pieces) {
    const change = piece.role === "ignored" ? 0 : depthChange(piece);
    if (change > 0) open.push(piece);
    const ended = change < 0 ? open.findLastIndex(({ name }) => piece.name === `end${name}`) : -1;
    if (ended !== -1) left.push(...open.splice(ended).slice(1));
  }
  return [...left, ...open];
}

/** Outputs and tags that begin in a span. */
export function tagsIn(pieces: readonly Piece[], { start, end }: Span): Piece[] {
  let low = 0;
  for (let high = pieces.length; low < high; ) {
    const middle = (low + high) >> 1;
    if ((pieces[middle]?.start ?? end) < start) low = middle + 1;
    else high = middle;
  }
  const found: Piece[] = [];
  for (let piece = pieces[low]; piece !== undefined && piece.start < end; piece = pieces[++low]) {
    if (piece.kind !== "text") found.push(piece);
  }
  return found;
}

/** Inserts texts into a template; insertions at the same offset keep their order. */
export function withInsertions(source: string, insertions: readonly Insertion[]): string {
  let result = "";
  let done = 0;
  for (const { at, text } of insertions.toSorted((one, other) => one.at - other.at)) {
    result += source.slice(done, at) + text;
    done = at;
  }
  return result + source.slice(done);
}

function contentOf(token: TopLevelToken): Pick<Piece, "kind" | "name" | "content"> {
  if (TypeGuards.isTagToken(token)) return { kind: "tag", name: token.name, content: token.contentRange };
  if (TypeGuards.isOutputToken(token)) return { kind: "output", name: "", content: token.contentRange };
  return { kind: "text", name: "", content: [token.begin, token.end] };
}

function roleIn(open: readonly string[]): Piece["role"] {
  if (open.length === 0) return "shown";
  if (open.at(-1) === "comment") return "ignored";
  return open.at(-1) === "raw" ? "verbatim" : "captured";
}
