/**
 * Header fields as they are sent: encoded (RFC 2047 for text, RFC 2231 for parameters), folded to 76 octets where the
 * syntax allows it (RFC 5322 section 2.2.3), and joined with a body into a message.
 *
 * Every fold is written CRLF SPACE, so unfolding is replacing CRLF by nothing. All functions take the `column` at
 * which the value starts in its first line: the length of the field's name plus 2.
 */

import { joinOctets, type Octets } from "./octet-pieces.ts";

/** A field as it is sent: name, and encoded and folded value without the CRLF at its end. */
export type HeaderField = readonly [name: string, value: string];

/** An address that parseAddress accepted, and a display name of any content. */
export interface Mailbox {
  readonly name?: string | null;
  readonly address: string;
}

/** Limit of a subject in characters: RFC 5322 section 2.1.1 allows no longer line. */
export const LONGEST_SUBJECT = 998;

const lineLength = 76;
/** RFC 2047 section 2: an encoded-word has at most 75 characters, including this frame. */
const encodedWordLength = 75;
const encodedWordFrame = "=?UTF-8?B??=".length;
/** A word longer than this cannot be folded under the 998 octets of RFC 5322 section 2.1.1. */
export const maxWordLength = 900;
const fold = "\r\n ";

/**
 * Encodes human text (RFC 5322 unstructured). Readers show it exactly as given, even if it looks like an encoded-word.
 */
export function encodeText(text: string, column: number): string {
  const plain = /^(?:[!-~]+(?: [!-~]+)*)?$/.test(text) && !text.includes("=?") && isFoldable(text);
  return plain ? foldWords(text, column) : encodedWords(text, column);
}

/** Folds a value that already is header syntax. It is encoded only if it could not be sent otherwise. */
export function encodeValue(value: string, column: number): string {
  const trimmed = value.trim();
  return /^[ -~]*$/.test(trimmed) && isFoldable(trimmed)
    ? foldWords(trimmed, column)
    : encodedWords(trimmed, column);
}

/**
 * Encodes a mailbox (RFC 5322 section 3.4) so that parsers read exactly one, whatever the name contains: plain words
 * unchanged, other ASCII quoted, everything else as encoded-words. The address is written raw, so a non-ASCII local
 * part makes the field UTF-8 (RFC 6532).
 */
export function encodeMailbox({ name, address }: Mailbox, column: number): string {
  const display = name?.trim() ?? "";
  if (display === "") return address;
  const phrase = encodePhrase(display, column);
  const lastLine = phrase.lastIndexOf(fold);
  const width = lastLine < 0 ? column + phrase.length : phrase.length - lastLine - 2;
  return `${phrase}${width + address.length + 3 > lineLength ? fold : " "}<${address}>`;
}

/** Encodes a list of mailboxes, one a line after the first. */
export function encodeMailboxes(mailboxes: readonly Mailbox[], column: number): string {
  return mailboxes.map((mailbox, at) => encodeMailbox(mailbox, at === 0 ? column : 1)).join(`,${fold}`);
}

/** Encodes one parameter of a structured value (RFC 2045 section 5.1); in RFC 2231 form unless it is short ASCII. */
export function encodeParameter(name: string, value: string): string {
  if (/^[\w!#$&+.^`{|}~-]{1,60}$/.test(value)) return `${name}=${value}`;
  if (/^[ -~]{0,60}$/.test(value) && !value.includes("=?")) return `${name}=${quoted(value)}`;
  const percent = encodeURIComponent(value.toWellFormed()).replace(/[*'()]/g, percentEscape);
  // All octets of one character stay in one segment.
  const characters = percent.match(/%[0-9A-F]{2}(?:%[89AB][0-9A-F])*|[^%]/g) ?? [];
  const segments = packed(characters, () => lineLength - name.length - "*00*=UTF-8'';".length);
  const [only, ...more] = segments;
  if (more.length === 0) return `${name}*=UTF-8''${only ?? ""}`;
  return segments
    .map((segment, index) => `${name}*${index}*=${index === 0 ? "UTF-8''" : ""}${segment}`)
    .join(`;${fold}`);
}

/** A time in UTC in the form of a Date field (RFC 5322 section 3.3). */
export function encodeDate(date: Date): string {
  return date.toUTCString().replace("GMT", "+0000");
}

/**
 * Renders the complete message: header fields, an empty line, the body. Further fields (DKIM-Signature, Received) are
 * put before the others.
 * @throws Error on a line break that is not a fold: the caller has not checked untrusted text, and the next line would
 * be a field of the attacker
 */
export function renderMessage(headers: readonly HeaderField[], body: Octets): Buffer {
  return joinOctets([Buffer.from(`${renderHeaders(headers)}\r\n`), body]);
}

/** Renders the header fields alone, each with its CRLF. Throws as renderMessage does. */
export function renderHeaders(headers: readonly HeaderField[]): string {
  let lines = "";
  for (const [name, value] of headers) {
    const unfolded = value.includes(fold) ? value.replaceAll(fold, " ") : value;
    if (!/^[!-9;-~]+$/.test(name) || /[\r\n]/.test(unfolded) || unfolded.includes("\0")) {
      throw new Error(
        `The header field ${JSON.stringify(name)} holds a raw line break, NUL or an impossible name.`,
      );
    }
    lines += `${name}: ${value}\r\n`;
  }
  return lines;
}

function encodePhrase(display: string, column: number): string {
  const short = display.length <= lineLength - column && !display.includes("=?");
  if (short && /^[\w!#$%&'*+/=?^`{|}~-]+(?: [\w!#$%&'*+/=?^`{|}~-]+)*$/.test(display)) return display;
  if (short && /^[ -~]*$/.test(display)) return quoted(display);
  return encodedWords(display, column);
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}

function isFoldable(value: string): boolean {
  return value.length <= maxWordLength || value.split(" ").every((word) => word.length <= maxWordLength);
}

/** Folds before words. Blanks between two words stay together, so unfolding restores the value exactly. */
function foldWords(value: string, column: number): string {
  if (column + value.length <= lineLength) return value;
  let folded = "";
  let width = column;
  for (const word of value.match(/ *[^ ]+/g) ?? []) {
    if (width + word.length > lineLength && folded !== "") {
      folded += "\r\n";
      width = 0;
    }
    folded += word;
    width += word.length;
  }
  return folded;
}

/** RFC 2047 encoded-words in base64, one a line after the first. No character is split. */
function encodedWords(text: string, column: number): string {
  const octetsFor = (start: number) =>
    Math.max(1, Math.floor((Math.min(encodedWordLength, lineLength - start) - encodedWordFrame) / 4)) * 3;
  return packed(Array.from(text.toWellFormed()), (index) => octetsFor(index === 0 ? column : 1))
    .map((part) => `=?UTF-8?B?${Buffer.from(part).toString("base64")}?=`)
    .join(fold);
}

/** Packs the characters in order into pieces of at most `room(index of the piece)` octets each. */
function packed(characters: readonly string[], room: (index: number) => number): string[] {
  const pieces: string[] = [];
  let piece = "";
  let octets = 0;
  for (const character of characters) {
    const size = Buffer.byteLength(character);
    if (octets + size > room(pieces.length) && piece !== "") {
      pieces.push(piece);
      piece = "";
      octets = 0;
    }
    piece += character;
    octets += size;
  }
  if (piece !== "") pieces.push(piece);
  return pieces;
}

function percentEscape(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
