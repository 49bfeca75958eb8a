/** Guesses the encoding of a text that is not UTF-8 and has no byte order mark. */
import chardet from "chardet";
import type { Encoding } from "./encodings.ts";
import { plausibleEncoding } from "./plausible-encoding.ts";

/** chardet's names for encodings of non-Latin scripts. */
const otherScripts = new Map<string, Encoding>([
  ["windows-1251", "windows-1251"],
  ["ISO-8859-5", "iso-8859-5"],
  ["KOI8-R", "koi8-r"],
  ["ISO-8859-7", "windows-1253"],
  ["windows-1253", "windows-1253"],
  ["ISO-8859-8", "windows-1255"],
  ["windows-1255", "windows-1255"],
  ["ISO-8859-6", "iso-8859-6"],
  ["windows-1256", "windows-1256"],
  ["Shift_JIS", "shift_jis"],
  ["EUC-JP", "euc-jp"],
  ["ISO-2022-JP", "iso-2022-jp"],
  ["GB18030", "gb18030"],
  ["Big5", "big5"],
  ["EUC-KR", "euc-kr"],
]);
/** chardet's names for encodings of Latin scripts, which it distinguishes less reliably. */
const latinPages = new Map<string, Encoding>([
  ["ISO-8859-2", "iso-8859-2"],
  ["windows-1250", "windows-1250"],
  ["ISO-8859-9", "windows-1254"],
  ["windows-1254", "windows-1254"],
  ["windows-1257", "windows-1257"],
]);
const western = new Set(["ISO-8859-1", "windows-1252"]);

/** Confidences of chardet, out of 100. */
const LEAST_FOR_A_SCRIPT = 12;
const LEAD_OVER_WESTERN = 15;
/** With fewer non-ASCII letters, Western and other Latin code pages cannot be distinguished reliably. */
const LEAST_LATIN_LETTERS = 8;

/** @param sample lines with non-ASCII bytes */
export function guessEncoding(sample: Uint8Array): Encoding {
  if (isWritten(sample, "euc-kr", korean)) return "euc-kr";
  const matches = chardet.analyse(sample);
  const places = new Map(matches.map(({ name }, at) => [otherScripts.get(name) ?? latinPages.get(name), at]));
  const plausible = plausibleEncoding(sample, (encoding) => places.get(encoding) ?? matches.length);
  if (plausible !== undefined) return plausible;
  // A few Japanese letters are too little for chardet, but are valid in no other encoding.
  if (isWritten(sample, "shift_jis", japanese)) return "shift_jis";
  const confidenceOf = (name: string) => matches.find((match) => match.name === name)?.confidence ?? 0;
  const westernConfidence = Math.max(...[...western].map(confidenceOf));
  const hasRareChinese = hasManyHighBytes(sample);
  for (const { name, confidence } of matches) {
    const encoding = otherScripts.get(name);
    if (encoding === "gb18030" && hasRareChinese) continue;
    if (encoding === undefined || confidence < LEAST_FOR_A_SCRIPT || confidence < westernConfidence) continue;
    if (isDecodable(sample, encoding)) return encoding;
  }
  if (!hasRareChinese && isWritten(sample, "gb18030", chinese)) return "gb18030";
  if (isWritten(sample, "big5", chinese)) return "big5";
  if (isWritten(sample, "windows-1251", cyrillic)) return "windows-1251";
  const best = matches.find(({ name }) => latinPages.has(name));
  const latin = best && latinPages.get(best.name);
  const isAhead =
    best !== undefined &&
    best.confidence >= westernConfidence + LEAD_OVER_WESTERN &&
    sample.filter((byte) => byte >= 0x80).length >= LEAST_LATIN_LETTERS;
  const candidates: Encoding[] = ["windows-1252", "windows-1250", "iso-8859-2", "windows-1254", "macintosh"];
  if (latin !== undefined) candidates.splice(isAhead ? 0 : 1, 0, latin);
  return leastOdd(sample, candidates);
}

/** Lower-case letters of Windows-1251 are also valid pairs of GB18030, but of rare characters. */
function hasManyHighBytes(sample: Uint8Array): boolean {
  const bytes = sample.filter((byte) => byte >= 0x80);
  return bytes.filter((byte) => byte >= 0xe0).length > bytes.length / 2;
}

function isDecodable(bytes: Uint8Array, encoding: Encoding): boolean {
  try {
    // The sample may end within a character.
    new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** Share of letters that must be adjacent. In the wrong encoding, such letters occur singly between ASCII letters. */
const LEAST_ADJACENT = 0.6;
const korean = /\p{Script=Hangul}/gu;
const japanese = /[\p{Script=Han}\p{Script=Hiragana}ァ-ヶー\u3000々]/gu;
const cyrillic = /[А-яЁёЄєІіЇїҐґ№]/gu;
const chinese = /\p{Script=Han}/gu;

/** Whether all non-ASCII characters are such letters, and most of them are adjacent. */
function isWritten(sample: Uint8Array, encoding: Encoding, letters: RegExp): boolean {
  if (!isDecodable(sample, encoding)) return false;
  const text = new TextDecoder(encoding).decode(sample, { stream: true });
  const runs = text.match(/[^\0-\x7f]+/g) ?? [];
  const count = runs.reduce((sum, run) => sum + run.length, 0);
  const found = text.match(letters)?.reduce((sum, letter) => sum + letter.length, 0) ?? 0;
  const adjacent = runs.reduce((sum, run) => sum + (run.length > 1 ? run.length : 0), 0);
  return found === count && adjacent >= LEAST_ADJACENT * count;
}

/** Signs and capitals within words, as the wrong encoding produces them: "Pawe³", "RenŽe". */
const odd =
  /\p{L}[\p{Sk}\p{No}\p{Sc}\p{Sm}¦§¶¿¡\u0080-\u009f\ufffd]|[\p{Sk}\p{Sc}\p{Sm}\u0080-\u009f\ufffd]\p{L}|\p{Ll}(?![\0-\x7f])[\p{Lu}‘“”„†‡•…‰‹›ˆ˜™](?=\p{L}|[\s,;"]|$)/gu;

function leastOdd(sample: Uint8Array, candidates: readonly Encoding[]): Encoding {
  let best: { encoding: Encoding; oddities: number } | undefined;
  for (const encoding of candidates) {
    const oddities = new TextDecoder(encoding).decode(sample).match(odd)?.length ?? 0;
    if (best === undefined || oddities < best.oddities) best = { encoding, oddities };
  }
  return best?.encoding ?? "windows-1252";
}
