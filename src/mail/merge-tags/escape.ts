/**
 * How a value is written where a merge tag stands. Values come from strangers (a subscriber may call himself
 * `<script>`), so each place takes them in a form that cannot end it: the value stays a value.
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
/** Addresses that a value alone may make; others could run a program in the reader's browser. */
const schemes: ReadonlySet<string> = new Set(["http", "https", "mailto", "tel", "sms", "cid"]);

/** The text of a value: nothing for null and for objects, the members of an array one behind the other. */
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

/** What a value that may be escaped for HTML already shows there. */
export function unescapeHtml(value: unknown): string {
  return textOf(value).replaceAll(/&(?:#\d+|#x[\da-f]+|[a-z]\w*);/gi, (reference) =>
    decodeEntities(reference),
  );
}

/** For the text of HTML and for attribute values in quotes: what LiquidJS's filter `escape` does. */
export function escapeHtml(value: unknown): string {
  const text = textOf(value);
  return /[&<>"']/.test(text)
    ? text.replaceAll(/[&<>"']/g, (character) => htmlReferences[character] ?? "")
    : text;
}

/** For attribute values without quotes, and elsewhere in a tag: nothing in it ends a value or begins an attribute. */
export function escapeUnquoted(value: unknown): string {
  return textOf(value).replaceAll(/[^\w.:~%+@#-]/gu, (character) => `&#${character.codePointAt(0)};`);
}

/** For a whole address, in HTML: `#` when it is none that a mail should lead to. */
export function escapeUrl(value: unknown): string {
  const address = soundAddress(value);
  if (address === null) return "#";
  return escapeHtml(withAsciiHost(address).replaceAll(/[^\w!#$%&()*+,./:;=?@[\]~-]/gu, percentEncode));
}

/** For a whole address in the brackets of a plain text: the same, and nothing in it ends them. */
export function cleanUrl(value: unknown): string {
  return soundAddress(value)?.replaceAll(/[\s<>]/gu, percentEncode) ?? "#";
}

/** With the host in A-labels: many mail programs do not open one that is percent-encoded. */
function withAsciiHost(address: string): string {
  return address.replace(/^((?:https?:)?\/\/(?:[^/?#\\]*@)?)([^/?#\\@:]+)/i, (written, before, host) =>
    /\P{ASCII}/u.test(host) ? before + (domainToASCII(host) || host) : written,
  );
}

/** Null for what would lead where no mail should. */
function soundAddress(value: unknown): string | null {
  const address = textOf(value)
    .toWellFormed()
    .replaceAll(/\p{Cc}+/gu, "")
    .trim();
  const scheme = /^([^/?#]*?):/.exec(address)?.[1]?.toLowerCase();
  return scheme === undefined || schemes.has(scheme) ? address : null;
}

/** For a part of an address (RFC 3986 section 2.3: everything but the unreserved characters is encoded). */
export function escapeUrlPart(value: unknown): string {
  return textOf(value)
    .toWellFormed()
    .replaceAll(/[^\w.~-]/gu, percentEncode);
}

/** For a part of a mailto:, tel: or sms: address, in which `@` and `+` stand for themselves. */
export function escapeMailbox(value: unknown): string {
  return textOf(value)
    .toWellFormed()
    .replaceAll(/[^\w.~@+-]/gu, percentEncode);
}

/** For a body of plain text: without control characters other than line breaks and tabs. */
export function cleanText(value: unknown): string {
  const text = textOf(value);
  return /[^\n\P{Cc}]|\p{Cs}/u.test(text)
    ? text
        .toWellFormed()
        .replaceAll(/\r\n?/g, "\n")
        .replaceAll(/[^\n\t\P{Cc}]/gu, "")
    : text;
}

/** For a header: one line, whatever the value holds; headerTextFault (address.ts) finds nothing in it. */
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
