/**
 * Code pages, the most common first, with the non-ASCII letters of each language that uses them. A text of one language
 * consists of the letters of that language only if it is decoded with the right encoding.
 */
import type { Encoding } from "./encodings.ts";

export interface Alphabet {
  readonly encoding: Encoding;
  /** Lower-case letters; their upper-case forms are included implicitly. */
  readonly letters: ReadonlySet<string>;
  readonly script: "Latin" | "Cyrillic" | "Greek" | "Hebrew" | "Arabic" | "Thai";
}

const western = [
  "äöüß", // German
  "àâæçéèêëîïôœùûüÿ", // French
  "áéíñóúüªº", // Spanish
  "àáâãçéêíóôõúüªº", // Portuguese
  "àèéìíîòóùú", // Italian
  "áèéëïíóöúü", // Dutch
  "àçèéíïòóúü·", // Catalan
  "åäöéü", // Swedish, Finnish
  "æøåéèêóòâôü", // Danish, Norwegian
  "äöõüšž", // Estonian
];
const central = [
  "ąćęłńóśźż", // Polish
  "áčďéěíňóřšťúůýž", // Czech
  "áéíóöőúüű", // Hungarian
  "áäčďéíĺľňóôŕšťúýž", // Slovak
  "ăâîșțşţ", // Romanian
  "čćđšž", // Croatian, Slovenian
];
const icelandic = "áðéíóúýþæö";
const turkish = "çğıİöşüâîû";
const baltic = ["ąčęėįšųūž", "āčēģīķļņšūž", "äöõüšž"];
const cyrillic = ["абвгдеёжзийклмнопрстуфхцчшщъыьэюя", "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя"];
const southern = ["абвгдђежзијклљмнњопрстћуфхцчџш", "абвгдеёжзійклмнопрстуўфхцчшыьэюя"];
const greek = ["αάβγδεέζηήθιίϊΐκλμνξοόπρσςτυύϋΰφχψωώ"];
const hebrew = ["אבגדהוזחטיךכלםמןנסעףפץצקרשת"];
const arabic = ["ءآأؤإئابةتثجحخدذرزسشصضطظعغـفقكلمنهوىيپچژگ"];
const thai = [
  "กขฃคฅฆงจฉชซฌญฎฏฐฑฒณดตถทธนบปผฝพฟภมยรฤลฦวศษสหฬอฮเแโใไๅะาำ\u0e31\u0e34\u0e35\u0e36\u0e37\u0e38\u0e39\u0e3a\u0e47\u0e48\u0e49\u0e4a\u0e4b\u0e4c\u0e4d\u0e4e",
];

function of(
  script: Alphabet["script"],
  languages: readonly string[],
  ...encodings: readonly Encoding[]
): Alphabet[] {
  return encodings.flatMap((encoding) =>
    languages.map((letters) => ({ encoding, script, letters: new Set(letters) })),
  );
}

/** If several fit a text equally well, the first is chosen. */
export const alphabets: readonly Alphabet[] = [
  ...of("Latin", western, "windows-1252"),
  ...of("Latin", central, "windows-1250", "iso-8859-2"),
  ...of("Latin", [turkish], "windows-1254"),
  ...of("Latin", baltic, "windows-1257"),
  ...of("Latin", western, "macintosh"),
  ...of("Latin", [icelandic], "windows-1252"),
  ...of("Cyrillic", cyrillic, "windows-1251", "koi8-r", "koi8-u", "ibm866", "x-mac-cyrillic", "iso-8859-5"),
  ...of("Cyrillic", southern, "windows-1251", "iso-8859-5"),
  ...of("Greek", greek, "windows-1253", "iso-8859-7"),
  ...of("Hebrew", hebrew, "windows-1255", "iso-8859-8"),
  ...of("Arabic", arabic, "windows-1256", "iso-8859-6"),
  ...of("Thai", thai, "windows-874"),
  // Files with people from several countries.
  ...of("Latin", [western.join("")], "windows-1252", "macintosh"),
  ...of("Latin", [central.join("") + western.join("")], "windows-1250", "iso-8859-2"),
];
