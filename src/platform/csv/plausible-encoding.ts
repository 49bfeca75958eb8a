/**
 * Finds the encoding in which a text reads as words of one language: all letters are in its alphabet, capitals occur only
 * where they may, and no word mixes scripts. This works for lists of names, which are too short for chardet's statistics.
 */
import { type Alphabet, alphabets } from "./alphabets.ts";
import type { Encoding } from "./encodings.ts";

/** Share of the non-ASCII letters that must fit; the rest may be foreign names. */
const LEAST_SHARE = 0.97;
/** Bytes that are examined; the time grows with the number of alphabets. */
const MOST_BYTES = 8_192;
/** Alphabets whose share differs by less from the best are a tie. */
const TIE = 0.01;
/** Words, including signs within them. */
const WORD = /[^\0-\x7f]*(?:[A-Za-z]|[^\0-\x7f\s])+/gu;
/**
 * Punctuation, which is in no alphabet. An opening quotation mark or a bullet directly after a letter is not included: it is
 * a wrongly decoded letter ("Zo‘" is "Zoë" of Macintosh), unless it closes a German quotation („so“).
 */
const PUNCTUATION = /[’”„‚«»‹›–—…€№\u00a0]|(?<!\p{L})[‘“•]|(?<=„[^„“]{1,100})“|(?<=‚[^‚‘]{1,100})‘/gu;

/**
 * @param rank of an encoding by another detector (0 is best), for texts that fit several scripts
 * @returns undefined if the text fits no alphabet
 */
export function plausibleEncoding(
  sample: Uint8Array,
  rank: (encoding: Encoding) => number,
): Encoding | undefined {
  const texts = new Map<Encoding, readonly string[]>();
  const fitting: { readonly alphabet: Alphabet; readonly share: number }[] = [];
  for (const alphabet of alphabets) {
    const words = texts.get(alphabet.encoding) ?? wordsIn(sample, alphabet.encoding);
    texts.set(alphabet.encoding, words);
    const share = shareOf(words, alphabet);
    if (share >= LEAST_SHARE) fitting.push({ alphabet, share });
  }
  const most = Math.max(0, ...fitting.map(({ share }) => share));
  const best = fitting.filter(({ share }) => share >= most - TIE).map(({ alphabet }) => alphabet);
  const [first] = best;
  if (first === undefined || first.script === "Latin") return first?.encoding;
  return best.toSorted((one, other) => rank(one.encoding) - rank(other.encoding))[0]?.encoding;
}

/** The words with non-ASCII characters, without punctuation. */
function wordsIn(sample: Uint8Array, encoding: Encoding): readonly string[] {
  const text = new TextDecoder(encoding).decode(sample.subarray(0, MOST_BYTES)).replace(PUNCTUATION, " ");
  return (text.match(WORD) ?? []).filter((word) => /[^\0-\x7f]/.test(word));
}

/** The share of non-ASCII characters that fit the alphabet. */
function shareOf(words: readonly string[], { letters, script }: Alphabet): number {
  let fits = 0;
  let all = 0;
  for (const word of words) {
    const beyond = word.match(/[^\0-\x7f]/gu) ?? [];
    const known = beyond.filter((letter) => letters.has(letter) || letters.has(letter.toLowerCase()));
    all += beyond.length;
    fits += known.length * shapeOf(word, beyond.length, script);
  }
  return all === 0 ? 0 : fits / all;
}

/** Weight of words in one case: names in Cyrillic and Greek are capitalised, wrongly decoded Hebrew and Arabic is not. */
const ODD_CASE = 0.98;

/** How well the form of a word fits the script, from 0 to 1. */
function shapeOf(word: string, beyond: number, script: Alphabet["script"]): number {
  if (script === "Latin") {
    const isForeign = beyond >= 3 && beyond === word.length;
    return isForeign || CAPITAL_INSIDE.test(word) ? 0 : 1;
  }
  if (/[A-Za-z]/.test(word)) return 0;
  if (script === "Thai") return THAI.test(word) ? 1 : 0;
  if (script !== "Cyrillic" && script !== "Greek") return 1;
  if (/\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}/u.test(word)) return 0;
  return /^\p{Ll}|^\p{Lu}{2}/u.test(word) ? ODD_CASE : 1;
}

/**
 * A capital after a lower-case letter, or between a capital and a lower-case letter, with a non-ASCII letter among the
 * first two.
 */
const CAPITAL_INSIDE = /\p{Ll}(?![\0-\x7f])\p{Lu}|(?![\0-\x7f])\p{Ll}\p{Lu}|\p{Lu}(?![\0-\x7f])\p{Lu}\p{Ll}/u;
/** Consonants, each with an optional vowel before, above, below or after it, and a tone mark. */
const THAI = /^(?:[เ-ไ]?[ก-ฮ][\u0e31\u0e34-\u0e3a]?[\u0e47-\u0e4e]?[ะาำๅ]?)+$/u;
