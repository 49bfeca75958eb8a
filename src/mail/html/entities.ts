/**
 * Character references of HTML: the numeric ones, the 252 names of HTML 4, and the names of HTML 5 that occur in mail.
 * Unknown names stay as they are. htmlparser2 decodes references only inside its tokenizer, which is too slow here (see
 * tag-reader.ts).
 */

const namedCharacters = new Map<string, string>();

/** U+00A0 to U+00FF. */
const latin1 =
  "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute " +
  "micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig " +
  "Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash " +
  "Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute " +
  "ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc " +
  "uuml yacute thorn yuml";
/** U+0391 to U+03A9 and U+03B1 to U+03C9; the capital at the position of the final sigma does not exist. */
const greekCapitals =
  "Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho - Sigma Tau Upsilon Phi " +
  "Chi Psi Omega";
const greek =
  "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigmaf sigma tau upsilon " +
  "phi chi psi omega";
const markup = 'amp & lt < gt > quot " AMP & LT < GT > QUOT " COPY © REG ®';
const others =
  "apos ' OElig Œ oelig œ Scaron Š scaron š Yuml Ÿ fnof ƒ circ ˆ tilde ˜ thetasym ϑ upsih ϒ piv ϖ ndash – mdash — " +
  "lsquo ‘ rsquo ’ sbquo ‚ ldquo “ rdquo ” bdquo „ dagger † Dagger ‡ bull • hellip … permil ‰ prime ′ Prime ″ " +
  "lsaquo ‹ rsaquo › oline ‾ frasl ⁄ euro € image ℑ weierp ℘ real ℜ trade ™ alefsym ℵ larr ← uarr ↑ rarr → darr ↓ " +
  "harr ↔ crarr ↵ lArr ⇐ uArr ⇑ rArr ⇒ dArr ⇓ hArr ⇔ forall ∀ part ∂ exist ∃ empty ∅ nabla ∇ isin ∈ notin ∉ ni ∋ " +
  "prod ∏ sum ∑ minus − lowast ∗ radic √ prop ∝ infin ∞ ang ∠ and ∧ or ∨ cap ∩ cup ∪ int ∫ there4 ∴ sim ∼ cong ≅ " +
  "asymp ≈ ne ≠ equiv ≡ le ≤ ge ≥ sub ⊂ sup ⊃ nsub ⊄ sube ⊆ supe ⊇ oplus ⊕ otimes ⊗ perp ⊥ sdot ⋅ lceil ⌈ rceil ⌉ " +
  "lfloor ⌊ rfloor ⌋ lang ⟨ rang ⟩ loz ◊ spades ♠ clubs ♣ hearts ♥ diams ♦ check ✓ cross ✗ star ☆ starf ★ phone ☎ " +
  "excl ! num # dollar $ percnt % lpar ( rpar ) ast * plus + comma , period . sol / colon : semi ; equals = quest ? " +
  "commat @ lsqb [ bsol \\ rsqb ] lowbar _ grave ` lcub { verbar | rcub } hyphen ‐";
/** Characters that are invisible when written as themselves. */
const unseen: Readonly<Record<string, number>> = {
  Tab: 0x09,
  NewLine: 0x0a,
  ensp: 0x2002,
  emsp: 0x2003,
  numsp: 0x2007,
  thinsp: 0x2009,
  zwnj: 0x200c,
  zwj: 0x200d,
  lrm: 0x200e,
  rlm: 0x200f,
};

nameInARow(latin1, 0xa0);
namePairs(markup);
/** Names that HTML also decodes without the semicolon. */
const unterminated: ReadonlySet<string> = new Set(namedCharacters.keys());
nameInARow(greekCapitals, 0x391);
nameInARow(greek, 0x3b1);
namePairs(others);
for (const [name, code] of Object.entries(unseen)) namedCharacters.set(name, String.fromCodePoint(code));

/** Windows-1252 at 0x80 to 0x9F: `&#150;` means its dash, and browsers show it so. */
const windows1252 = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ";
const numberSign = 0x23;
const semicolon = 0x3b;
const equalsSign = 0x3d;
const letterX = 0x78;

/** The characters that a reference stands for, and the offset after it. */
export interface CharacterReference {
  readonly characters: string;
  readonly end: number;
}

/**
 * The character reference at an `&`; null if there is none. References without a semicolon follow the rules of
 * browsers.
 */
export function readCharacterReference(text: string, ampersand: number): CharacterReference | null {
  const isNumber = text.charCodeAt(ampersand + 1) === numberSign;
  const isHexadecimal = isNumber && (text.charCodeAt(ampersand + 2) | 0x20) === letterX;
  const start = ampersand + 1 + Number(isNumber) + Number(isHexadecimal);
  const end = digitsEnd(text, start, isHexadecimal ? 16 : isNumber ? 10 : 36);
  const word = text.slice(start, end);
  const behind = text.charCodeAt(end);
  let characters: string | undefined;
  if (word === "") return null;
  if (isNumber) characters = characterOf(Number.parseInt(word, isHexadecimal ? 16 : 10));
  // Before `=` the name is a query parameter of a URL: `?a=1&copy=2`.
  else if (behind === semicolon || (unterminated.has(word) && behind !== equalsSign)) {
    characters = namedCharacters.get(word);
  }
  return characters === undefined ? null : { characters, end: behind === semicolon ? end + 1 : end };
}

/** Decodes the character references in a text or an attribute value. */
export function decodeEntities(text: string): string {
  let decoded = "";
  let start = 0;
  for (let at = text.indexOf("&"); at !== -1; at = text.indexOf("&", at + 1)) {
    const reference = readCharacterReference(text, at);
    if (reference === null) continue;
    decoded += text.slice(start, at) + reference.characters;
    start = reference.end;
  }
  return start === 0 ? text : decoded + text.slice(start);
}

/** The end of a number in base 10 or 16; with base 36, the end of a name of letters and digits. */
function digitsEnd(text: string, start: number, base: number): number {
  let end = start;
  for (; end < text.length; end++) {
    const code = text.charCodeAt(end);
    const digit = code - 0x30;
    const letter = (code | 0x20) - 0x57;
    if (!((digit >= 0 && digit < 10) || (letter >= 10 && letter < base))) break;
  }
  return end;
}

function characterOf(code: number): string {
  if (code >= 0x80 && code <= 0x9f) return windows1252.charAt(code - 0x80);
  const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return isCharacter ? String.fromCodePoint(code) : "\ufffd";
}

function nameInARow(names: string, first: number): void {
  for (const [index, name] of names.split(" ").entries()) {
    namedCharacters.set(name, String.fromCodePoint(first + index));
  }
}

function namePairs(pairs: string): void {
  for (const [, name = "", character = ""] of pairs.matchAll(/(\S+) (\S+)/g))
    namedCharacters.set(name, character);
}
