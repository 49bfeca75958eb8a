/**
 * Parses addresses and domains as people and programs type them, by one strict grammar (RFC 5321 section 4.1.2, RFC
 * 5322 section 3.4.1, RFC 6531 for non-ASCII). An accepted address names exactly one mailbox, is safe inside an SMTP
 * command and a header field, and means the same to every server. Forms that mail software interprets in different ways
 * are refused: source routes, percent and bang routing, groups, comments, IP literals, and an @ inside a quoted local
 * part.
 *
 * A refusal is a value; its `message` is a sentence for the person who typed the text.
 */

import { domainToASCII } from "node:url";
import { invalidLabel } from "./check-idna-labels.ts";

/** One mailbox. The local part keeps its case; the domain is lower-case A-labels (punycode). */
export interface Address {
  readonly local: string;
  readonly domain: string;
  /** `local@domain`, for SMTP and header fields. */
  readonly address: string;
}

/** Why a text is refused: `message` is a sentence for the person who typed it. */
export type AddressFault = { readonly ok: false; readonly message: string };
export type ParsedAddress = ({ readonly ok: true } & Address) | AddressFault;
export type ParsedDomain = { readonly ok: true; readonly domain: string } | AddressFault;

/** In octets (RFC 5321 section 4.5.3.1). A path has 256 octets, 254 without its angle brackets. */
export const maxLocalOctets = 64;
export const maxAddressOctets = 254;
/** In characters of the text form (RFC 1035: 255 octets on the wire). */
const maxDomainLength = 253;
/** Longer texts are refused unread: a mailbox with its display name fits. */
const maxMailboxLength = 1000;

const atom = "[\\w!#$%&'*+/=?^`{|}~\\u{80}-\\u{10ffff}-]+";
/** RFC 5322 section 3.2.3, RFC 6531 section 3.3. */
export const dotAtom = new RegExp(`^${atom}(?:\\.${atom})*$`, "u");
/** Invisible characters: controls, joiners, direction marks, private use, blanks of every width. */
export const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Z}]/u;
const quotedAddress = /^"((?:[^"\\]|\\.)*)"@(.*)$/u;
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** domainToASCII parses its argument as a URL host; a label of these characters has no other meaning in a URL. */
const labelOfAnyScript = /^[a-z0-9\u{80}-\u{10ffff}-]+$/iu;

/**
 * Parses a bare address such as `name@example.com` or `"two words"@example.com`; surrounding blanks are ignored.
 * Needless quotes around a local part are removed, so that one mailbox has one spelling.
 */
export function parseAddress(text: string): ParsedAddress {
  const fault = lineFault(text);
  if (fault !== null) return refuse(fault);
  const bare = trimSpace(text);
  const quoted = quotedAddress.exec(bare);
  const at = bare.indexOf("@");
  if (quoted === null && at < 0) return refuse("Enter an address with an @, such as name@example.com.");
  const local = quoted === null ? plainLocal(bare.slice(0, at)) : quotedLocal(quoted[1] ?? "");
  if (typeof local !== "string") return local;
  if (Buffer.byteLength(local) > maxLocalOctets) {
    return refuse(`Shorten the part before the @ to ${maxLocalOctets} characters.`);
  }
  const host = asciiDomain(quoted === null ? bare.slice(at + 1) : (quoted[2] ?? ""));
  if (!host.ok) return host;
  const address = `${local}@${host.domain}`;
  if (Buffer.byteLength(address) > maxAddressOctets) {
    return refuse(`Shorten the address to ${maxAddressOctets} characters.`);
  }
  return { ok: true, local, domain: host.domain, address };
}

/** The domain of a parsed address. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf("@") + 1);
}

/** Removes the tag: `ada+anything@` becomes `ada@`. */
export function withoutTag(address: string): string {
  return address.replace(/\+[^@]*(?=@)/, "");
}

/**
 * The mailbox that an address most likely belongs to: most providers deliver `ada+anything@` to `ada@`, and Gmail
 * ignores dots. Use it for counting only; mail is sent to the address itself.
 */
export function mailboxOf(address: string): string {
  const bare = withoutTag(address);
  const gmail = /^(.*)@(?:gmail|googlemail)\.com$/.exec(bare);
  return gmail?.[1] === undefined ? bare : `${gmail[1].replaceAll(".", "")}@gmail.com`;
}

/** Parses a domain name of at least two labels. A trailing dot is accepted; an IP address or a URL is not. */
export function parseDomain(text: string): ParsedDomain {
  const fault = lineFault(text);
  if (fault !== null) return refuse(fault);
  const bare = trimSpace(text);
  if (/[/:@]/.test(bare)) {
    return refuse("Enter only the domain, such as example.com, without https://, path, port or user name.");
  }
  return asciiDomain(bare.endsWith(".") ? bare.slice(0, -1) : bare);
}

/**
 * The spelling for storing and comparing: without surrounding Unicode space, lower-case, composed (NFC), domain in
 * A-labels. A text that is not an address is only trimmed and lower-cased, so the function is total and idempotent.
 */
export function normalizeAddress(text: string): string {
  const bare = trimSpace(text);
  const parsed = parseAddress(bare);
  return comparable(parsed.ok ? parsed.address : bare);
}

/** The spelling that normalizeAddress gives, for an address that is already parsed. */
export function comparable(address: string): string {
  const lower = address.toLowerCase();
  return isAscii(lower) ? lower : lower.normalize("NFC");
}

/** Whether both addresses have the same spelling after normalizeAddress; null equals nothing. */
export function isSameAddress(one: string, other: string | null): boolean {
  return other !== null && normalizeAddress(one) === normalizeAddress(other);
}

/**
 * Part of an address as normalizeAddress would spell it: the labels after the last @ in A-labels, or all labels if
 * there is no @. Each label is treated as complete; a label that has no A-label stays as it is.
 */
export function domainInALabels(text: string): string {
  const at = text.lastIndexOf("@") + 1;
  return text.slice(0, at) + text.slice(at).split(".").map(aLabel).join(".");
}

/** Whether an address needs SMTPUTF8 (RFC 6531): its local part is not ASCII. */
export function needsSmtpUtf8(address: string): boolean {
  return !isAscii(address);
}

/**
 * Why a text cannot be the content of one header line, as a sentence that says what to remove; null if it can.
 * Refused are line breaks of every kind (CR, LF, VT, FF, U+0085, U+2028, U+2029), NUL and all other control characters,
 * and lone surrogates, which no encoding can represent.
 */
export function headerTextFault(text: string): string | null {
  const found = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u.exec(text);
  if (found === null) return null;
  const code = found[0].charCodeAt(0);
  const codePoint = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  const kind = /[\n-\r\u0085\u2028\u2029]/.test(found[0])
    ? "line break"
    : /\p{Cs}/u.test(found[0])
      ? "broken character (half of a surrogate pair)"
      : "control character";
  return `Remove the ${kind} ${codePoint} at position ${found.index + 1}.`;
}

function refuse(message: string): AddressFault {
  return { ok: false, message };
}

function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length;
}

function lineFault(text: string): string | null {
  if (text.length > maxMailboxLength) return `Enter at most ${maxMailboxLength} characters.`;
  return headerTextFault(text);
}

/** A local part written without quotes: a dot-atom (RFC 5322 section 3.2.3, RFC 6531 section 3.3). */
function plainLocal(local: string): string | AddressFault {
  if (local === "") return refuse("Enter a name before the @, such as name@example.com.");
  const isPlain = (text: string) => dotAtom.test(text) && !/[%!]/.test(text) && !invisible.test(text);
  if (isPlain(local)) return local;
  for (const character of local) {
    if (character === "." || isPlain(character)) continue;
    return refuse(
      `Remove ${shown(character)} before the @; enter a single address such as name@example.com.`,
    );
  }
  return refuse("Remove the dot at an end, or one of two dots in a row, before the @.");
}

/**
 * Checks a quoted local part, given without its quotes (RFC 5321 Quoted-string). Characters that confuse routing and
 * careless SMTP parsers are refused even here: mail to `"a@evil.example x"@good.example` has been routed to
 * evil.example.
 */
function quotedLocal(quoted: string): string | AddressFault {
  const content = unescaped(quoted);
  if (content === "") return refuse("Enter a name between the quotes before the @.");
  for (const character of content) {
    if (/[@<>%!]/.test(character) || (character !== " " && invisible.test(character))) {
      return refuse(`Remove ${shown(character)} from the quoted part before the @.`);
    }
  }
  return dotAtom.test(content) ? content : `"${content.replace(/["\\]/g, "\\$&")}"`;
}

/**
 * A domain in lower-case A-labels. Each label has letters, digits and inner hyphens; the last one must not be a number.
 */
function asciiDomain(text: string): ParsedDomain {
  const lower = text.toLowerCase();
  if (lower.startsWith("[")) return refuse("Enter a domain name instead of an IP address in brackets.");
  const stray = /[ -,/:-`{-~]|\p{Z}/u.exec(lower);
  if (stray !== null) {
    return refuse(`Remove ${shown(stray[0])} from the domain; it holds letters, digits, hyphens and dots.`);
  }
  // ASCII names do not go through domainToASCII: it parses them as URL hosts and would turn 127.1 into an address.
  const domain = isAscii(lower) ? lower : domainToASCII(lower);
  if (domain === "")
    return refuse(text === "" ? "Enter a domain such as example.com." : "Check the spelling of the domain.");
  if (domain.length > maxDomainLength) return refuse(`Shorten the domain to ${maxDomainLength} characters.`);
  const labels = domain.split(".");
  if (labels.length < 2) return refuse("Enter the complete domain, such as example.com.");
  const wrong = labels.find((part) => !label.test(part));
  if (wrong === "") return refuse("Remove the dot at an end, or one of two dots in a row, from the domain.");
  if (wrong !== undefined) {
    return refuse(
      `Correct "${wrong}" in the domain: 1 to 63 letters, digits and hyphens, no hyphen at an end.`,
    );
  }
  const impossible = invalidLabel(domain);
  if (impossible !== null) {
    return refuse(`Correct "${impossible}" in the domain: no registry can assign such a name.`);
  }
  if (/^[0-9]/.test(labels.at(-1) ?? "")) {
    return refuse("Enter a domain name, such as example.com, instead of an IP address.");
  }
  return { ok: true, domain };
}

function aLabel(part: string): string {
  if (isAscii(part) || !labelOfAnyScript.test(part)) return part;
  // With a second label, because digits of another script alone would be parsed as an IP address.
  return domainToASCII(`${part}.x`).slice(0, -".x".length) || part;
}

/** The characters that a quoted-string stands for (RFC 5322 section 3.2.1: the backslash quotes the next one). */
function unescaped(quoted: string): string {
  return quoted.replace(/\\(.)/gu, "$1");
}

/** A character for an error sentence. */
function shown(character: string): string {
  if (!invisible.test(character)) return `"${character}"`;
  const code = character.codePointAt(0) ?? 0;
  return code === 0x20
    ? "the blank"
    : `the invisible character U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Removes blanks of any script at both ends. A loop, because /\s+$/ is quadratic on hostile input. */
function trimSpace(text: string): string {
  const space = /[\p{White_Space}\ufeff]/u;
  let start = 0;
  let end = text.length;
  while (start < end && space.test(text.charAt(start))) start++;
  while (end > start && space.test(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}
