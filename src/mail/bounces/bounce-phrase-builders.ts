/**
 * Phrases of bounces in one language. They match text from normalize-text.ts in which each address is "@". The phrases
 * for delays and for giving up are short enough to match other languages, so they count only if two different words of
 * `frequentWords` occur in the text.
 */

export interface BounceLanguage {
  /** Frequent words of the language; null if its script or its phrases are unambiguous. */
  readonly frequentWords: RegExp | null;
  /** The message was not delivered. */
  readonly failed: RegExp;
  /** The message is late, or will be tried again. */
  readonly delayed: RegExp;
  /** The message will not be tried again; overrides `delayed`. */
  readonly givenUp: RegExp;
}

/** Up to `most` words of any kind between the words of a phrase. */
const words = (most: number) => String.raw`(?: [^\s.:;!?]+){0,${most}}`;
/** Builds a pattern of phrases; "~3" stands for up to three words in between. Each phrase begins at a word. */
export function phraseRule(...phrases: readonly string[]): RegExp {
  const source = phrases.map((text) => text.replace(/~(\d)/g, (_, most: string) => words(Number(most))));
  return new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${source.join("|")})`, "u");
}
/** Builds a pattern of whole words. */
export const frequentWords = (text: string) =>
  new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${text.replaceAll(" ", "|")})(?![\p{L}\p{N}])`, "gu");
