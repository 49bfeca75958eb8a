/**
 * What a language's notices say of a delivery. The rules read text as normalize-text.ts writes it, with "@" for each
 * address. What a language says of a delay or of giving up counts only where two different words of its `marks` are in
 * the text, because those rules are short enough to match words of other languages.
 */

export interface BounceLanguage {
  /** Frequent words of the language; null where its script or its rules are unmistakable. */
  readonly marks: RegExp | null;
  /** The message was not delivered. */
  readonly failed: RegExp;
  /** It is late, or will be tried again. */
  readonly delayed: RegExp;
  /** It will not be tried again, whatever else is said. */
  readonly givenUp: RegExp;
}

/** Any word, at most so many times: what stands between the words of a rule. */
const words = (most: number) => String.raw`(?: [^\s.:;!?]+){0,${most}}`;
/** A rule: its phrases, "~3" for up to three words in between. Each phrase begins a word. */
export function phraseRule(...phrases: readonly string[]): RegExp {
  const source = phrases.map((text) => text.replace(/~(\d)/g, (_, most: string) => words(Number(most))));
  return new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${source.join("|")})`, "u");
}
/** Words that are whole. */
export const frequentWords = (text: string) =>
  new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${text.replaceAll(" ", "|")})(?![\p{L}\p{N}])`, "gu");
