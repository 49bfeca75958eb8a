/** A template's HTML, so that whatever is made of HTML can be made of it: each merge tag is a word of its own in it. */
import { spanAt } from "#mail/html/tag-positions.ts";
import { TagReader } from "#mail/html/tag-reader.ts";
import type { HtmlTemplate } from "./html-template.ts";
import type { Piece } from "./template-pieces.ts";

export interface PlaceholderHtml {
  readonly html: string;
  /** Where each piece of the template begins in it. */
  readonly starts: readonly number[];
  /** The characters that such a word begins and ends with. */
  readonly outputMark: string;
  readonly tagMark: string;
  /** Such words; the first group is the index of the piece. */
  readonly words: RegExp;
}

/** Characters that Unicode leaves to private use. */
const firstPrivate = 0xe000;
const lastPrivate = 0xf8ff;

/** What stands between them is text of the HTML like any other. */
const rawTags: ReadonlySet<string> = new Set(["endraw", "raw"]);

/**
 * What stands between attributes is left out, and so are comments of the template and the tags of raw.
 * @returns null where the source holds all characters that could stand for a merge tag
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
 * Where lists begin of which the values of the recipient decide how many items they have: one stands in a block of the
 * template that does not hold the list.
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

/** Two of them, if there are. */
function unusedCharacters(source: string): string[] {
  const found: string[] = [];
  for (let code = firstPrivate; code <= lastPrivate && found.length < 2; code++) {
    const character = String.fromCharCode(code);
    if (!source.includes(character)) found.push(character);
  }
  return found;
}
