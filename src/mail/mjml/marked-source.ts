/**
 * A template in another markup, with a word in place of each merge tag: compilers of that markup would read a merge tag as a
 * part of it, split it, or refuse its characters. The words have lower-case letters and digits only, so that they may stand
 * in texts, attribute values, class names and CSS.
 */
import { cutTemplate, type Piece } from "#mail/merge-tags/template-pieces.ts";

export class MarkedSource {
  readonly text: string;
  readonly #source: string;
  readonly #words: RegExp;
  /** The marked pieces, by the numbers in their words. */
  readonly #pieces: readonly Piece[];
  /** Where the pieces of the source begin in `text`, and in the source. */
  readonly #places: { readonly marked: number; readonly own: number; readonly isText: boolean }[] = [];

  /** @param source a template without faults (readTemplate) */
  constructor(source: string) {
    const prefix = unusedPrefix(source);
    const pieces: Piece[] = [];
    let text = "";
    for (const piece of cutTemplate(source)) {
      const isText = piece.kind === "text" && piece.role !== "verbatim";
      this.#places.push({ marked: text.length, own: piece.start, isText });
      if (piece.role === "ignored") continue;
      if (isText) text += source.slice(piece.start, piece.end);
      else text += `${prefix}${pieces.push(piece) - 1}z`;
    }
    this.text = text;
    this.#source = source;
    this.#pieces = pieces;
    this.#words = new RegExp(`${prefix}(\\d+)z`, "g");
  }

  /** A text that was made from `text`, with the merge tags in place of their words. */
  restore(text: string): string {
    return text.replaceAll(this.#words, (word, index) => this.#written(index) ?? word);
  }

  hasMark(text: string): boolean {
    return text.search(this.#words) !== -1;
  }

  /** Whether a text has nothing but words of merge tags, at least one. */
  isOnlyMarks(text: string): boolean {
    return this.hasMark(text) && text.replaceAll(this.#words, "").trim() === "";
  }

  /** Whether a text has one word of a merge tag, and besides it only white space. */
  isOneMark(text: string): boolean {
    const [first, ...more] = text.match(this.#words) ?? [];
    return more.length === 0 && first === text.trim();
  }

  startsWithMark(text: string): boolean {
    return text.search(this.#words) === 0;
  }

  /** The offsets in the source of merge tags that a text made from `text` does not have. */
  missingIn(text: string): number[] {
    const kept = new Set([...text.matchAll(this.#words)].map(([, index]) => Number(index)));
    return this.#pieces.flatMap(({ start }, index) => (kept.has(index) ? [] : start));
  }

  /** The offset in the source of an offset in `text`. */
  offsetOf(at: number): number {
    const place = this.#places.findLast(({ marked }) => marked <= at);
    if (place === undefined) return at;
    return place.isText ? place.own + at - place.marked : place.own;
  }

  #written(index: string): string | undefined {
    const piece = this.#pieces[Number(index)];
    return piece && this.#source.slice(piece.start, piece.end);
  }
}

/** The beginning of words that the source does not have. */
function unusedPrefix(source: string): string {
  const lower = source.toLowerCase();
  let prefix = "mtag";
  while (lower.includes(prefix)) prefix += "q";
  return prefix;
}
