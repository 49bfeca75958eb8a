/**
 * Checks names that tenants choose (of a list, of a sender) before the service's own mail shows them to people who may not
 * know the tenant. A name that looks like a link, an amount of money or an advertisement, or that hides its text, would turn
 * such a mail into spam. The check is heuristic: a harmless name that fails is replaced by a neutral phrase, so in doubt a
 * name fails.
 */
import { domainToASCII } from "node:url";
import { parse } from "tldts";
import advertising from "./advertising-words.json" with { type: "json" };

const LONGEST = 60;
/** In UTF-16 code units; a longer name fails at once. A family emoji has 11. */
const LONGEST_RAW = 400;
const MOST_EMOJI = 3;
const MOST_DIGITS = 5;
const MOST_YEARS = 2;
const MOST_CAPITALS = 14;

/** @param ownDomains verified domains of the workspace, which the name may contain, with their subdomains */
export function readsLikeName(text: string, ownDomains: readonly string[] = []): boolean {
  const name = text.trim();
  if (name === "" || name.length > LONGEST_RAW || lengthOf(name) > LONGEST) return false;
  if (hides(name)) return false;
  const plain = plainText(name);
  return !(
    linksElsewhere(plain, ownDomains) ||
    linksElsewhere(plain.replaceAll(spacedOut, "$1"), ownDomains) ||
    namesMoney(plain) ||
    countsMuch(plain) ||
    shouts(name) ||
    advertises(plain)
  );
}

/** The host names that a text seems to contain, and their parent domains, in lower-case A-labels. */
export function domainsIn(text: string): string[] {
  const hosts = hostsIn(plainText(text.slice(0, LONGEST_RAW)));
  const domains = hosts.flatMap((host) => {
    const labels = host.split(".");
    return labels.slice(1).map((_, at) => labels.slice(at).join("."));
  });
  return [...new Set(domains)];
}

function lengthOf(text: string): number {
  return [...new Intl.Segmenter().segment(text)].length;
}

const emoji = /\p{RGI_Emoji}/gv;
/** Control characters, line and paragraph separators, private use, unassigned, lone surrogates. */
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}]/u;
/** Zero-width, bidirectional and filler characters, and the Braille blank. */
const invisible = /[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;
/** Joiners have a meaning between letters of these scripts. */
const joiner =
  /(?<=[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Mongolian}])[\u200c\u200d]/gu;
/** Styled letters: mathematical, circled, squared, small capitals, superscript. */
const styled = /[\u{1d400}-\u{1d7ff}\u{1f100}-\u{1f1ff}\u2460-\u24ff\u1d00-\u1dbf\u2070-\u209fɢɪɴʀʏʙʜʟꜰꜱꞯ]/u;
const marksInARow = /\p{Mn}{4}/u;

function hides(name: string): boolean {
  let count = 0;
  const rest = name.replace(emoji, (found) => {
    count += 1;
    // Keycap emoji of digits, # and * count as styled letters.
    return /[\d#*]/.test(found) ? "\u2460" : " ";
  });
  if (count > MOST_EMOJI || unprintable.test(rest) || styled.test(rest)) return true;
  if (invisible.test(rest.replace(joiner, "")) || marksInARow.test(rest.normalize("NFC"))) return true;
  return (
    rest
      .normalize("NFKC")
      .match(/[\p{L}\p{M}]+/gu)
      ?.some(isMixed) ?? false
  );
}

/** Scripts with letters that look like Latin letters, or like those of each other. */
const lookalikes = [
  /\p{Script=Latin}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Armenian}/u,
  /\p{Script=Cherokee}/u,
  /\p{Script=Coptic}/u,
  /\p{Script=Lisu}/u,
];

function isMixed(word: string): boolean {
  return lookalikes.filter((script) => script.test(word)).length > 1;
}

/** The text in NFKC and lower case, without emoji, with one kind of dot, hyphen, slash and blank. */
function plainText(text: string): string {
  return text
    .replace(emoji, " ")
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[。｡․‧・·∙•⋅]/g, ".")
    .replaceAll(/[‐‑‒–—−]/g, "-")
    .replaceAll(/[⁄∕⧸]/g, "/")
    .replaceAll(/\s+/g, " ");
}

/** Characters separated by blanks: "e v i l . c o m". */
const spacedOut = /(?<!\S)(\S) (?=\S(?!\S))/g;
const scheme = /[a-z]{2,}:\/|\/\/|\\\\|\bwww\d?\b|\bh(?:tt|xx|\*\*)ps?\b|\b(?:mailto|tel|sms):|xn--/u;
const atSign = /\S@|@\S|[([{<]\s*(?:at|a|ät|arroba|собака|dot|punkt|punto|point|точка)\s*[)\]}>]/u;
const ipAddress = /\d{1,3}(?:\.\d{1,3}){3}/u;
const host = /[\p{L}\p{N}][\p{L}\p{M}\p{N}-]*(?:\.[\p{L}\p{M}\p{N}-]+)+/gu;
/** Top-level domains that count even with blanks around the dot, or with a word for the dot. */
const tld =
  "(?:com|net|org|info|biz|io|co|xyz|top|shop|site|online|store|app|dev|link|click|ru|cn|uk|de|me|tk)";
const spacedDot = new RegExp(
  `[\\p{L}\\p{N}](?: ?[([{<"'*_] ?\\. ?[)\\]}>"'*_]? ?| \\. ?|,)${tld}(?![\\p{L}\\p{N}])`,
  "u",
);
const sentenceDot = /[\p{L}\p{N}]\. (?:com|net|org|info|biz|io|xyz|ru|cn)(?![\p{L}\p{N}])/u;
const dotWord = new RegExp(
  `[\\p{L}\\p{N}][ ([{<"'*_-]+(?:dot|punkt|punto|point|ponto|puntocom|точка|tochka|nokta|kropka|tecka|ドット|닷|نقطة|点|點)[ )\\]}>"'*_-]+${tld}(?![\\p{L}\\p{N}])` +
    `|[\\p{L}\\p{N}]{2}dot(?:com|net|org)(?![\\p{L}\\p{N}])|[点點](?:com|net|org|cn)`,
  "u",
);

function linksElsewhere(plain: string, ownDomains: readonly string[]): boolean {
  if (scheme.test(plain) || atSign.test(plain) || ipAddress.test(plain)) return true;
  if (spacedDot.test(plain) || sentenceDot.test(plain) || dotWord.test(plain)) return true;
  const hosts = hostsIn(plain);
  const isOwn = (name: string) => ownDomains.some((own) => name === own || name.endsWith(`.${own}`));
  if (!hosts.every(isOwn)) return true;
  // The workspace's own domain may be a brand; followed by a path, it is a link.
  return hosts.length > 0 && /\.[\p{L}\p{M}\p{N}-]+[/:?#\\]/u.test(plain);
}

/** Special-use names that are not in the public DNS. */
const specialUse = new Set(
  "example test invalid local localhost internal lan home eth bit crypto i2p onion".split(" "),
);

function isTopLevel(label: string): boolean {
  return specialUse.has(label) || parse(`x.${label}`).isIcann === true;
}

/** Host names in A-labels. A word without a top-level domain after one of its dots is none ("St.Gallen", "Node.js"). */
function hostsIn(plain: string): string[] {
  return [...plain.matchAll(host)].flatMap(([found]) => {
    const name = domainToASCII(found) || found;
    return name.split(".").slice(1).some(isTopLevel) ? [name] : [];
  });
}

const currencies = [
  "usd|eur|gbp|chf|jpy|cny|rmb|aud|cad|nzd|inr|rs|rub|uah|kzt|pln|czk|sek|nok|dkk|kr|huf|ron|bgn|brl|mxn|zar|ngn|kes",
  "aed|sar|qar|ils|thb|vnd|idr|php|sgd|hkd|twd|krw|btc|eth|usdt|usdc|xrp|sol|us|bucks?|dollars?|dollar|euros?|pounds?",
  "pfund|franken|francs?|pesos?|reais|rupees?|rubel|rubles?|roubles?|yen|yuan|lira|zl|zł|złotych|kronor|kroner|korun",
  "bitcoins?|доллар\\p{L}*|руб\\p{L}*|евро|гривень|грн|тенге|円|万円|元|块|塊|원|만원|ドル|美元|欧元|歐元|ユーロ|달러",
  "دولار|يورو|ريال|درهم|جنيه|دينار|تومان|डॉलर|रुपये|रुपए|टका|টাকা|บาท|đồng",
].join("|");
const amount = new RegExp(
  `\\p{Nd}[\\p{Nd}.,' ]*(?:k|m|mio|mln|mrd|million\\p{L}*|millon\\p{L}*|thousand|tausend)? ?(?:${currencies})(?!\\p{L})` +
    `|(?<!\\p{L})(?:${currencies}) ?\\p{Nd}|\\p{Nd}[\\p{Nd}.,']*(?:万|億|亿|만)?(?:円|元|원)`,
  "u",
);

function namesMoney(plain: string): boolean {
  return /\p{Sc}/u.test(plain) || amount.test(plain) || /\p{Nd} ?[%٪]|[%٪] ?\p{Nd}/u.test(plain);
}

const year = /(?<!\p{Nd})(?:19|20)\p{Nd}{2}(?!\p{Nd})/gu;

/** Whether the text has a telephone number, a code or a large number. */
function countsMuch(plain: string): boolean {
  if (/(?<![\p{L}\p{N}])\+ ?\p{Nd}/u.test(plain)) return true;
  let years = 0;
  const rest = plain.replace(year, (found) => {
    years += 1;
    return years > MOST_YEARS ? found : " ";
  });
  return (rest.match(/\p{Nd}/gu)?.length ?? 0) > MOST_DIGITS;
}

function shouts(name: string): boolean {
  const capitals = name.match(/\p{Lu}/gu)?.length ?? 0;
  const small = name.match(/\p{Ll}/gu)?.length ?? 0;
  if (capitals > MOST_CAPITALS && capitals > 2 * small) return true;
  return (name.normalize("NFKC").match(/[!¡]/g)?.length ?? 0) > 1;
}

const words = new RegExp(`(?<!\\p{L})(?:${advertising.words.join("|")})(?!\\p{L})`, "u");
const leet: Readonly<Record<string, string>> = {
  0: "o",
  1: "i",
  3: "e",
  4: "a",
  5: "s",
  7: "t",
  $: "s",
  "|": "i",
};
/** Single letters with separators: "w.o.n", "W I N". */
const spelledOut = /(?<![\p{L}\p{N}])\p{L}(?:[ ._*~/-]{1,2}\p{L}(?!\p{L}))+/gu;

function advertises(plain: string): boolean {
  const bare = plain
    .normalize("NFD")
    .replaceAll(/\p{Mn}/gu, "")
    .replaceAll("ı", "i")
    .replaceAll("ł", "l");
  if (advertising.parts.some((part) => plain.includes(part) || bare.includes(part))) return true;
  const joined = bare.replaceAll(spelledOut, (found) => found.replaceAll(/[ ._*~/-]/g, ""));
  const spelled = joined.replaceAll(
    /(?<=\p{L})[013457$|]|[013457$|](?=\p{L})/gu,
    (sign) => leet[sign] ?? sign,
  );
  return [bare, joined, spelled].some((form) => words.test(form.replaceAll(/['’_-]+/g, " ")));
}
