/**
 * Converts a header field in raw UTF-8 to ASCII, for messages without SMTPUTF8: text to encoded-words (RFC 2047),
 * parameters to RFC 2231, domains to A-labels. Fields whose syntax allows no text are not converted.
 */
import { isAscii } from "node:buffer";
import { decodeWords } from "postal-mime";
import { domainInALabels } from "#mail/address.ts";
import { encodeParameter, encodeText, encodeValue, maxWordLength } from "./encode-header.ts";
import { unfold } from "./header-section.ts";

const fields = (names: string) => new Set(names.split(" "));
const addressFields = fields(
  "from sender reply-to to cc resent-from resent-sender resent-reply-to resent-to resent-cc " +
    "disposition-notification-to return-receipt-to errors-to mail-followup-to mail-reply-to",
);
const parameterFields = fields("content-type content-disposition");
/** Fields whose syntax allows no text, or that only servers write. */
const fixedFields = fields(
  "message-id in-reply-to references date resent-date resent-message-id mime-version received return-path content-id " +
    "content-transfer-encoding dkim-signature arc-seal arc-message-signature arc-authentication-results",
);

/**
 * The value in ASCII, folded, without the CRLF at its end; null if that is impossible, for example for an address with
 * a non-ASCII local part.
 * @param value as in the message: folded, in UTF-8
 */
export function asciiField(name: string, value: string): string | null {
  const text = unfold(value);
  const column = name.length + 2;
  const kind = name.toLowerCase();
  if (fixedFields.has(kind) || isUnlikely(text)) return null;
  if (addressFields.has(kind)) return folded(asciiAddresses(text), column);
  if (parameterFields.has(kind)) return asciiParameters(text);
  if (kind.startsWith("list-")) return folded(asciiLinks(text), column);
  return encodeText(decodeWords(text), column);
}

/**
 * Refolds an ASCII value with a line beyond the 998 octets of RFC 5322; null if there is no place to fold. Lists of
 * addresses may be folded after a comma; one endless word of text becomes encoded-words.
 */
export function foldedField(name: string, value: string): string | null {
  const kind = name.toLowerCase();
  const text = unfold(value);
  if (isUnlikely(text)) return null;
  const spaced = addressFields.has(kind) ? blankBehindCommas(text) : text;
  const isText = ![addressFields, parameterFields, fixedFields].some((names) => names.has(kind));
  const hasRoom = spaced.split(" ").every((word) => word.length <= maxWordLength);
  return hasRoom || (isText && !kind.startsWith("list-")) ? encodeValue(spaced, name.length + 2) : null;
}

function blankBehindCommas(text: string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"|,(?=\S)/g, (found) => (found === "," ? ", " : found));
}

/** In longer texts with backslashes, finding the end of a quoted string may take quadratic time. */
const longestEscaped = 10_000;

function isUnlikely(text: string): boolean {
  return text.length > longestEscaped && text.includes("\\");
}

function folded(value: string | null, column: number): string | null {
  return value !== null && isAsciiText(value) ? encodeValue(value, column) : null;
}

/**
 * Mailboxes and groups (RFC 5322 section 3.4). If one word of a phrase is UTF-8 the whole phrase is encoded, because
 * readers drop the blanks between two encoded-words.
 */
function asciiAddresses(text: string): string | null {
  let result = "";
  let phrase: string[] = [];
  const endPhrase = (): boolean => {
    const whole = asciiPhrase(phrase);
    phrase = [];
    if (whole !== null) result += whole;
    return whole !== null;
  };
  for (const token of text.match(/"(?:[^"\\]|\\.)*"|\((?:[^()\\]|\\.)*\)|<[^<>]*>|[,:;]|[^"(<,:;]+|./gu) ??
    []) {
    const isWord = !/^[(<,:;]/.test(token);
    if (isWord) {
      phrase.push(token);
      continue;
    }
    if (!endPhrase()) return null;
    const ascii = isAsciiText(token)
      ? token
      : token.startsWith("<")
        ? asciiRoute(token)
        : asciiComment(token);
    if (ascii === null) return null;
    result += ascii;
  }
  return endPhrase() ? result : null;
}

function asciiPhrase(words: readonly string[]): string | null {
  const text = words.join("");
  if (isAsciiText(text)) return text;
  if (words.some((word) => !word.startsWith('"') && word.includes("@"))) return asciiAddress(text.trim());
  const shown = words.map((word) =>
    word.startsWith('"') ? word.slice(1, -1).replace(/\\(.)/gu, "$1") : decodeWords(word),
  );
  const phrase = shown.join("");
  const content = phrase.trim();
  const before = phrase.length - phrase.trimStart().length;
  const behind = phrase.slice(before + content.length);
  return `${phrase.slice(0, before)}${encoded(content)}${behind}`;
}

function asciiRoute(token: string): string | null {
  const address = asciiAddress(token.slice(1, -1));
  return address === null ? null : `<${address}>`;
}

function asciiComment(token: string): string {
  return `(${encoded(token.slice(1, -1).replace(/\\(.)/gu, "$1"))})`;
}

function asciiAddress(address: string): string | null {
  const ascii = domainInALabels(address);
  return isAsciiText(ascii) ? ascii : null;
}

function asciiParameters(text: string): string | null {
  const [value = "", ...parameters] = text.match(/(?:"(?:[^"\\]|\\.)*"|[^;"]|")+/gu) ?? [];
  const written = parameters.map((parameter) => {
    const trimmed = parameter.trim();
    if (isAsciiText(trimmed)) return trimmed;
    const [, name, given = ""] = /^([\w!#$&+.^`{|}~-]+)\s*=\s*(.*)$/s.exec(trimmed) ?? [];
    if (name === undefined) return null;
    const quoted = /^"(.*)"$/s.exec(given)?.[1];
    return encodeParameter(name, quoted === undefined ? given : quoted.replace(/\\(.)/gu, "$1"));
  });
  return isAsciiText(value) && !written.includes(null) ? [value.trim(), ...written].join(";\r\n ") : null;
}

/** Links in angle brackets (RFC 2369); characters beyond ASCII are percent-encoded. */
function asciiLinks(text: string): string {
  return text.replace(/[^\p{ASCII}]+/gu, (characters) => encodeURIComponent(characters.toWellFormed()));
}

function encoded(text: string): string {
  return encodeText(text, 1).replaceAll("\r\n", "");
}

function isAsciiText(text: string): boolean {
  return isAscii(Buffer.from(text));
}
