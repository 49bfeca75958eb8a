/** A template cut into its texts, outputs and tags, each with its place; and texts put between them. */
import { type TopLevelToken, TypeGuards } from "liquidjs";
import type { Span } from "#mail/html/tag-positions.ts";
import { readingEngine } from "./liquid-engine.ts";
import { SourceTokenizer } from "./source-tokenizer.ts";

export interface Piece extends Span {
  readonly kind: "text" | "output" | "tag";
  /** Of a tag. */
  readonly name: string;
  /** Of an output or a tag: from where to where, without delimiters. */
  readonly content: readonly [number, number];
  /** Blocks that are open in front of it. */
  readonly depth: number;
  /** What becomes of it: written, kept by a capture, written as it is, or nothing. */
  readonly role: "shown" | "captured" | "verbatim" | "ignored";
}

/** A text to be put into a template. */
export interface Insertion {
  readonly at: number;
  readonly text: string;
}

const opening: ReadonlySet<string> = new Set("capture case comment for if raw unless".split(" "));

/**
 * The pieces in order; together they are the source.
 * @throws LiquidError where an output or a tag does not end
 */
export function cutTemplate(source: string): Piece[] {
  let depth = 0;
  /** The captures, the comment or the raw block that is open. */
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

/** Whether something in a text begins as a merge tag does, in fields where none is replaced. */
export function holdsMergeTag(text: string): boolean {
  return /{{|{%/.test(text);
}

/** How a piece changes the number of open blocks. */
export function depthChange({ name }: Piece): number {
  if (opening.has(name)) return 1;
  return name.startsWith("end") && opening.has(name.slice("end".length)) ? -1 : 0;
}

/** The tags that open a block which nothing ends; the end of a block ends those that were left open in it. */
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

/** Puts texts into a template; of those at one place, the first comes first. */
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
