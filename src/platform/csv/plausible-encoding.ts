/**
 * The encoding in which a text reads as words of one language: all its letters are of that language's alphabet, capitals stand
 * where they may, and no word mixes scripts. Lists of names are too short for the statistics of chardet.
 */
import { type Alphabet, alphabets } from "./alphabets.ts";
import type { Encoding } from "./encodings.ts";

/** Of the letters beyond ASCII; the rest may be somebody's foreign name. */
const LEAST_SHARE = 0.97;
/** Bytes that are looked at: each alphabet takes its time. */
const MOST_BYTES = 8_192;
/** Alphabets within this of the best fit as well. */
const TIE = 0.01;
/** Letters and what stands between them as a part of the word. */
const WORD = /[^\0-\x7f]*(?:[A-Za-z]|[^\0-\x7f\s])+/gu;
/**
 * Signs of ordinary text that are in no alphabet. An opening quotation mark or a bullet right behind a letter is a letter of
 * another encoding ("Zo‘" is "Zoë" of Macintosh), unless it closes a German quotation („so“).
 */
const PUNCTUATION = /[’”„‚«»‹›–—…€№\u00a0]|(?<!\p{L})[‘“•]|(?<=„[^„“]{1,100})“|(?<=‚[^‚‘]{1,100})‘/gu;

/**
 * @param rank how far down another judge puts an encoding, for texts that fit several scripts
 * @returns undefined where the text fits none
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

/** The words that hold something beyond ASCII, without punctuation. */
function wordsIn(sample: Uint8Array, encoding: Encoding): readonly string[] {
  const text = new TextDecoder(encoding).decode(sample.subarray(0, MOST_BYTES)).replace(PUNCTUATION, " ");
  return (text.match(WORD) ?? []).filter((word) => /[^\0-\x7f]/.test(word));
}

/** Which share of what is beyond ASCII fits the alphabet. */
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

/** Words of one case, which names of Cyrillic and Greek are not: letters of Hebrew and Arabic read so are. */
const ODD_CASE = 0.98;

/** How much a word is shaped as one of the script, from 0 to 1. */
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

/** A capital behind a small letter, or between a capital and a small one, where one of the first two is beyond ASCII. */
const CAPITAL_INSIDE = /\p{Ll}(?![\0-\x7f])\p{Lu}|(?![\0-\x7f])\p{Ll}\p{Lu}|\p{Lu}(?![\0-\x7f])\p{Lu}\p{Ll}/u;
/** Consonants, each with a vowel before, on or behind it and a sign of tone. */
const THAI = /^(?:[เ-ไ]?[ก-ฮ][\u0e31\u0e34-\u0e3a]?[\u0e47-\u0e4e]?[ะาำๅ]?)+$/u;
