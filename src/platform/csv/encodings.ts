/** The encodings of text files that can be read, and their common names. */
import iconv from "iconv-lite";
import { invalid } from "#platform/errors.ts";

/** Code pages of DOS, which TextDecoder does not know. */
const dosPages = [
  "cp437",
  "cp737",
  "cp775",
  "cp850",
  "cp852",
  "cp855",
  "cp857",
  "cp858",
  "cp860",
  "cp861",
  "cp862",
  "cp863",
  "cp864",
  "cp865",
  "cp869",
] as const;

/** Labels of the WHATWG Encoding Standard (TextDecoder), and code pages of DOS (iconv-lite). */
const encodings = [
  "utf-8",
  "utf-16le",
  "utf-16be",
  "windows-1250",
  "windows-1251",
  "windows-1252",
  "windows-1253",
  "windows-1254",
  "windows-1255",
  "windows-1256",
  "windows-1257",
  "windows-1258",
  "windows-874",
  "iso-8859-1",
  "iso-8859-2",
  "iso-8859-3",
  "iso-8859-4",
  "iso-8859-5",
  "iso-8859-6",
  "iso-8859-7",
  "iso-8859-8",
  "iso-8859-9",
  "iso-8859-10",
  "iso-8859-13",
  "iso-8859-14",
  "iso-8859-15",
  "iso-8859-16",
  "koi8-r",
  "koi8-u",
  "ibm866",
  "macintosh",
  "x-mac-cyrillic",
  "shift_jis",
  "euc-jp",
  "iso-2022-jp",
  "gb18030",
  "gbk",
  "big5",
  "euc-kr",
  ...dosPages,
] as const;
export type Encoding = (typeof encodings)[number];

/** Other names in use, reduced to letters and digits. */
const aliases = new Map<string, Encoding>([
  ["utf16", "utf-16le"],
  ["unicode", "utf-16le"],
  ["ucs2", "utf-16le"],
  ["utf8bom", "utf-8"],
  ["utf8sig", "utf-8"],
  ["ascii", "utf-8"],
  ["usascii", "utf-8"],
  ["ansi", "windows-1252"],
  ["western", "windows-1252"],
  ["latin1", "iso-8859-1"],
  ["latin2", "iso-8859-2"],
  ["latin5", "iso-8859-9"],
  ["latin9", "iso-8859-15"],
  ["mac", "macintosh"],
  ["macroman", "macintosh"],
  ["xmacroman", "macintosh"],
  ["maccyrillic", "x-mac-cyrillic"],
  ["cp866", "ibm866"],
  ["dos866", "ibm866"],
  ["koi8", "koi8-r"],
  ["sjis", "shift_jis"],
  ["cp932", "shift_jis"],
  ["windows932", "shift_jis"],
  ["windows31j", "shift_jis"],
  ["ms932", "shift_jis"],
  ["eucjp", "euc-jp"],
  ["jis", "iso-2022-jp"],
  ["gb2312", "gb18030"],
  ["cp936", "gbk"],
  ["windows936", "gbk"],
  ["euccn", "gbk"],
  ["big5hkscs", "big5"],
  ["cp950", "big5"],
  ["windows950", "big5"],
  ["cp949", "euc-kr"],
  ["windows949", "euc-kr"],
  ["uhc", "euc-kr"],
  ["ksc5601", "euc-kr"],
]);

const isDosPage = (encoding: Encoding) => dosPages.some((page) => page === encoding);

/** Decodes a text in chunks; set `stream` for all but the last. */
export interface TextPieces {
  decode(piece?: Uint8Array, options?: { readonly stream?: boolean }): string;
}

export function decoderOf(encoding: Encoding): TextPieces {
  if (!isDosPage(encoding)) return new TextDecoder(encoding);
  // One byte is one character, so no chunk ends within a character.
  return { decode: (piece = new Uint8Array()) => iconv.decode(Buffer.from(piece), encoding) };
}

const keyOf = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");

const byKey = new Map<string, Encoding>([
  ...aliases,
  ...encodings.flatMap((encoding): [string, Encoding][] => {
    const key = keyOf(encoding);
    // Also cp1252 for windows-1252, and 8859-1 for iso-8859-1.
    const short = key.replace(/^windows/, "cp").replace(/^iso(?=8859)/, "");
    const names = [key, short];
    // Also ibm850, dos850, oem850 and 850 for cp850.
    if (isDosPage(encoding))
      names.push(...["ibm", "dos", "oem", ""].map((start) => key.replace("cp", start)));
    return names.map((name) => [name, encoding]);
  }),
]);

export const encodingDescription =
  "Encoding of the file, such as utf-8, windows-1252 or shift_jis. If omitted, UTF-8 is detected and any other encoding is guessed.";

/** The encoding with this name; undefined for no name. @throws ApiError VALIDATION_ERROR for an unknown name */
export function readEncodingName(name: string | undefined): Encoding | undefined {
  if (name === undefined || name.trim() === "") return undefined;
  const encoding = byKey.get(keyOf(name));
  if (encoding === undefined) {
    throw invalid({ field: "encoding", message: `encoding must be one of ${encodings.join(", ")}` });
  }
  return encoding;
}
