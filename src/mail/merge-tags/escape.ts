/**
 * Escapes values for the position of their merge tag. Values are untrusted (a subscriber may be called `<script>`), so
 * each kind of position has an escaping that a value cannot break out of.
 */
import { domainToASCII } from "node:url";
import { toValue } from "liquidjs";
import { decodeEntities } from "#mail/html/entities.ts";

const htmlReferences: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&#34;",
  "'": "&#39;",
};
/** Schemes that a URL in a value may have; other schemes could run a script in the reader's browser. */
const schemes: ReadonlySet<string> = new Set(["http", "https", "mailto", "tel", "sms", "cid"]);

/** The text of a value: empty for null and objects, the joined members of an array. */
export function textOf(value: unknown): string {
  const plain: unknown = typeof value === "string" ? value : toValue(value);
  switch (typeof plain) {
    case "string":
      return plain;
    case "number":
    case "boolean":
      return String(plain);
    default:
      return Array.isArray(plain) ? plain.map(textOf).join("") : "";
  }
}

/** Undoes HTML escaping in a value that may already be escaped. */
export function unescapeHtml(value: unknown): string {
  return textOf(value).replaceAll(/&(?:#\d+|#x[\da-f]+|[a-z]\w*);/gi, (reference) =>
    decodeEntities(reference),
  );
}

/** For HTML text and for attribute values in quotes: as LiquidJS's filter `escape`, without U+0000, which HTML cannot have. */
export function escapeHtml(value: unknown): string {
  const text = textOf(value);
  return /[&<>"'\0]/.test(text)
    ? text.replaceAll(/[&<>"'\0]/g, (character) => htmlReferences[character] ?? "")
    : text;
}

/** For unquoted attribute values and elsewhere in a tag: the value cannot end or begin an attribute. */
export function escapeUnquoted(value: unknown): string {
  return textOf(value).replaceAll(/[^\w.:~%+@#-]/gu, (character) => `&#${character.codePointAt(0)};`);
}

/** For a whole URL in HTML: `#` if its scheme is not allowed. */
export function escapeUrl(value: unknown): string {
  const address = soundAddress(value);
  if (address === null) return "#";
  return escapeHtml(withAsciiHost(address).replaceAll(/[^\w!#$%&()*+,./:;=?@[\]~-]/gu, percentEncode));
}

/**
 * For a whole URL in angle brackets in plain text: `#` if its scheme is not allowed; the value cannot end the brackets.
 */
export function cleanUrl(value: unknown): string {
  return soundAddress(value)?.replaceAll(/[\s<>]/gu, percentEncode) ?? "#";
}

/** Converts the host to A-labels: many mail programs do not open a percent-encoded host. */
function withAsciiHost(address: string): string {
  return address.replace(/^((?:https?:)?\/\/(?:[^/?#\\]*@)?)([^/?#\\@:]+)/i, (written, before, host) =>
    /\P{ASCII}/u.test(host) ? before + (domainToASCII(host) || host) : written,
  );
}

/** The URL without control characters; null if its scheme is not allowed. */
function soundAddress(value: unknown): string | null {
  const address = textOf(value)
    .toWellFormed()
    .replaceAll(/\p{Cc}+/gu, "")
    .trim();
  const scheme = /^([^/?#]*?):/.exec(address)?.[1]?.toLowerCase();
  return scheme === undefined || schemes.has(scheme) ? address : null;
}

/** For a part of a URL: percent-encodes all but the unreserved characters (RFC 3986 section 2.3). */
export function escapeUrlPart(value: unknown): string {
  return textOf(value)
    .toWellFormed()
    .replaceAll(/[^\w.~-]/gu, percentEncode);
}

/** For a part of a mailto:, tel: or sms: URL, where `@` and `+` need no encoding. */
export function escapeMailbox(value: unknown): string {
  return textOf(value)
    .toWellFormed()
    .replaceAll(/[^\w.~@+-]/gu, percentEncode);
}

/** For a plain text body: removes control characters except line breaks and tabs. */
export function cleanText(value: unknown): string {
  const text = textOf(value);
  return /[^\n\P{Cc}]|\p{Cs}/u.test(text)
    ? text
        .toWellFormed()
        .replaceAll(/\r\n?/g, "\n")
        .replaceAll(/[^\n\t\P{Cc}]/gu, "")
    : text;
}

/** For a header field: always one line that headerTextFault (address.ts) accepts. */
export function cleanLine(value: unknown): string {
  const text = textOf(value);
  return /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u.test(text)
    ? text.toWellFormed().replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ")
    : text;
}

function percentEncode(character: string): string {
  const encoded = encodeURIComponent(character);
  return encoded === character ? `%${character.charCodeAt(0).toString(16).toUpperCase()}` : encoded;
}
