/**
 * Internationalized labels that a registry can assign: valid Punycode of characters that IDNA2008 permits (RFC 5891
 * section 4.2.2, RFC 5892). The URL parser's domainToASCII is less strict: it accepts shop.com©.
 */
import { domainToASCII, domainToUnicode } from "node:url";

/** LetterDigits of RFC 5892 section 2.1, and the exceptions and contextual characters of its sections 2.6 and A. */
const PERMITTED = /^[\p{Ll}\p{Lo}\p{Lm}\p{Mn}\p{Mc}\p{Nd}\-·͵׳״۽۾་〇・\u{200c}\u{200d}]+$/u;
/**
 * Some country-code registries sell names with emoji against IDNA2008, and the owner of a domain may use any label
 * below it. Signs such as © are in neither.
 */
const EMOJI = /(?![\p{ASCII}©®™])[\p{Extended_Pictographic}\p{Emoji_Component}]/gu;
const COUNTRY = /\.[a-z]{2}$/;

/**
 * The first label of a name in lower-case A-labels that is not a valid internationalized label; null if all are valid.
 */
export function invalidLabel(domain: string): string | null {
  if (!domain.includes("xn--")) return null;
  const labels = domain.split(".");
  const isOwners = (index: number) => index < labels.length - 2;
  const wrong = labels.find(
    (label, index) => label.startsWith("xn--") && !isPossible(label, isOwners(index) || COUNTRY.test(domain)),
  );
  return wrong ?? null;
}

function isPossible(label: string, mayHaveEmoji: boolean): boolean {
  // With a second label, because a label of digits would be parsed as an IP address.
  const shown = domainToUnicode(`${label}.x`).slice(0, -".x".length);
  if (shown === "" || shown.startsWith("xn--") || domainToASCII(`${shown}.x`) !== `${label}.x`) return false;
  const letters = mayHaveEmoji ? shown.replace(EMOJI, "") : shown;
  return letters === "" || PERMITTED.test(letters);
}
