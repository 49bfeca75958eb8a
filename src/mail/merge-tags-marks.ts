/** A template's HTML, so that whatever is made of HTML can be made of it: each merge tag is a word of its own in it. */
import { spanAt } from "./html-links.ts";
import type { HtmlTemplate } from "./merge-tags-html.ts";
import type { Piece } from "./merge-tags-pieces.ts";

export interface MarkedHtml {
  readonly html: string;
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
export function markedHtml({ source, pieces, map }: HtmlTemplate): MarkedHtml | null {
  const [outputMark, tagMark] = unusedCharacters(source);
  if (outputMark === undefined || tagMark === undefined) return null;
  const isBetweenAttributes = ({ start }: Piece) => {
    const tag = spanAt(map.tags, start);
    return tag !== undefined && spanAt(tag.attributes, start) === undefined;
  };
  let html = "";
  for (const [index, piece] of pieces.entries()) {
    if (piece.role === "ignored" || rawTags.has(piece.name)) continue;
    if (piece.kind === "text") html += source.slice(piece.start, piece.end);
    else if (!isBetweenAttributes(piece)) {
      const mark = piece.kind === "tag" ? tagMark : outputMark;
      html += `${mark}${index}${mark}`;
    }
  }
  const words = new RegExp(`[${outputMark}${tagMark}](\\d+)[${outputMark}${tagMark}]`, "g");
  return { html, outputMark, tagMark, words };
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
