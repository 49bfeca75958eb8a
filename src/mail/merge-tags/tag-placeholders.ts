/**
 * The HTML of a template with a placeholder word for each merge tag, so that the HTML can be converted like any other.
 */
import { spanAt } from "#mail/html/tag-positions.ts";
import { TagReader } from "#mail/html/tag-reader.ts";
import type { HtmlTemplate } from "./html-template.ts";
import type { Piece } from "./template-pieces.ts";

/** HTML in which each merge tag is a placeholder word. */
export interface PlaceholderHtml {
  readonly html: string;
  /** The offset in `html` at which each piece of the template begins. */
  readonly starts: readonly number[];
  /** The characters that begin and end the placeholder of an output or of a tag. */
  readonly outputMark: string;
  readonly tagMark: string;
  /** Matches placeholders; the first group is the index of the piece. */
  readonly words: RegExp;
}

/** The private use area of Unicode. */
const firstPrivate = 0xe000;
const lastPrivate = 0xf8ff;

/** The text between these tags is ordinary HTML. */
const rawTags: ReadonlySet<string> = new Set(["endraw", "raw"]);

/**
 * Replaces merge tags by placeholders. Tags between attributes, comments of the template and the tags of raw are left
 * out.
 * @returns null if the source contains every character that could mark a placeholder
 */
export function htmlWithPlaceholders({ source, pieces, map }: HtmlTemplate): PlaceholderHtml | null {
  const [outputMark, tagMark] = unusedCharacters(source);
  if (outputMark === undefined || tagMark === undefined) return null;
  const isBetweenAttributes = ({ start }: Piece) => {
    const tag = spanAt(map.tags, start);
    return tag !== undefined && spanAt(tag.attributes, start) === undefined;
  };
  const starts: number[] = [];
  let html = "";
  for (const [index, piece] of pieces.entries()) {
    starts.push(html.length);
    if (piece.role === "ignored" || rawTags.has(piece.name)) continue;
    if (piece.kind === "text") html += source.slice(piece.start, piece.end);
    else if (!isBetweenAttributes(piece)) {
      const mark = piece.kind === "tag" ? tagMark : outputMark;
      html += `${mark}${index}${mark}`;
    }
  }
  const words = new RegExp(`[${outputMark}${tagMark}](\\d+)[${outputMark}${tagMark}]`, "g");
  return { html, starts, outputMark, tagMark, words };
}

/**
 * The offsets of lists whose number of items depends on values of the recipient: an item is inside a block of the
 * template that does not contain the list.
 */
export function listsInBlocks({ html, starts }: PlaceholderHtml, pieces: readonly Piece[]): Set<number> {
  if (pieces.every(({ depth }) => depth === 0)) return new Set();
  const tags = new TagReader(html);
  const open: { readonly at: number; readonly depth: number }[] = [];
  const found = new Set<number>();
  let next = 0;
  for (let at = tags.textEnd(); tags.read(at); at = tags.textEnd()) {
    while ((starts[next] ?? html.length) <= at) next++;
    const depth = pieces[next - 1]?.depth ?? 0;
    const list = open.at(-1);
    if (tags.role === "numbers" || tags.role === "bullets") {
      if (tags.isEnd) open.pop();
      else open.push({ at, depth });
    } else if (tags.role === "item" && !tags.isEnd && list !== undefined && list.depth !== depth) {
      found.add(list.at);
    }
  }
  return found;
}

/** Two characters that the source does not contain, or fewer. */
function unusedCharacters(source: string): string[] {
  const found: string[] = [];
  for (let code = firstPrivate; code <= lastPrivate && found.length < 2; code++) {
    const character = String.fromCharCode(code);
    if (!source.includes(character)) found.push(character);
  }
  return found;
}
