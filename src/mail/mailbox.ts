/**
 * Parses one mailbox as people and programs write it (RFC 5322 section 3.4): an address, or a display name with the
 * address in angle brackets. A display name is a phrase: words, some of them quoted. Comments are read as mail programs
 * show them: a comment beside a bare address is its name, a comment in a name is part of the name, and a comment after
 * the brackets is ignored.
 *
 * Lists, groups, and unquoted names with special characters are refused: mail programs interpret them in different
 * ways.
 */
import {
  type Address,
  type AddressFault,
  headerTextFault,
  type ParsedAddress,
  parseAddress,
} from "./address.ts";

export type ParsedMailbox = ({ readonly ok: true; readonly name: string | null } & Address) | AddressFault;

/** Longer texts are refused unread: a mailbox with its display name fits. */
const maxMailboxLength = 1000;

interface Piece {
  readonly kind: "text" | "quoted" | "comment" | "address";
  /** Without the delimiters at both ends. */
  readonly content: string;
}

/** The closing delimiter of a piece, by its opening one. */
const ENDS = { '"': '"', "(": ")", "<": ">" } as const;
const KINDS = { '"': "quoted", "(": "comment", "<": "address" } as const;
const UNCLOSED = {
  '"': 'Close the double quote, or remove it: "Jane Doe" <name@example.com>.',
  "(": "Close the parenthesis, or remove it.",
  "<": "Close the angle bracket after the address.",
};
/** Characters that an unquoted word of a display name must not contain (RFC 5322 section 3.2.3). */
const SPECIAL = /[\\,:;@[\]]/;
/** A text without any of these is an address without a name, or not a mailbox. */
const STRUCTURE = /["()<>]/;
const several = "Enter one address, not several.";

/** Parses one mailbox: `name@example.com`, `<name@example.com>`, `Jane "JD" Doe <…>` or `name@example.com (Jane)`. */
export function parseMailbox(text: string): ParsedMailbox {
  if (text.length > maxMailboxLength) return refuse(`Enter at most ${maxMailboxLength} characters.`);
  if (!STRUCTURE.test(text)) {
    const parsed = parseAddress(text);
    if (parsed.ok) return { ...parsed, name: null };
  }
  const fault = headerTextFault(text);
  if (fault !== null) return refuse(fault);
  const pieces = piecesOf(text.trim());
  if (typeof pieces === "string") return refuse(pieces);
  const at = pieces.findIndex(({ kind }) => kind === "address");
  return at < 0 ? bareMailbox(pieces) : namedMailbox(pieces, at);
}

/** Parses an address where no name is allowed; if there is one, the refusal says so. */
export function parseOnlyAddress(text: string): ParsedAddress {
  const parsed = parseAddress(text);
  if (parsed.ok) return parsed;
  const mailbox = parseMailbox(text);
  return mailbox.ok
    ? refuse(`Enter only the address, ${mailbox.address}, without a name or brackets.`)
    : parsed;
}

/** Parses `Jane Doe <name@example.com>`; `at` is the index of the piece with the address. */
function namedMailbox(pieces: readonly Piece[], at: number): ParsedMailbox {
  const before = pieces.slice(0, at);
  const behind = pieces.slice(at + 1).filter(({ kind, content }) => kind !== "text" || content.trim() !== "");
  const rest = behind.find(({ kind }) => kind !== "comment");
  if (rest !== undefined) {
    const isList = behind.some(({ kind, content }) => kind === "address" || content.includes("@"));
    return refuse(isList ? several : "Remove the text after the address in angle brackets.");
  }
  const words = before.flatMap(({ kind, content }) => (kind === "text" ? [content] : []));
  if (words.some((word) => /@[^,;]*[,;]/.test(word))) return refuse(several);
  const special = SPECIAL.exec(words.join(" "))?.[0];
  if (special !== undefined) {
    const shown = special === "," ? "a comma" : `"${special}"`;
    return refuse(
      `Put the name in double quotes, because it holds ${shown}, as in "Doe, Jane" <name@example.com>.`,
    );
  }
  const parsed = parseAddress(pieces[at]?.content ?? "");
  if (!parsed.ok) return parsed;
  return { ...parsed, name: nameOf(before) ?? nameOf(behind) };
}

/** Parses `name@example.com`, optionally with a comment at one end. */
function bareMailbox(pieces: readonly Piece[]): ParsedMailbox {
  const isSaid = ({ kind, content }: Piece) => kind !== "comment" && content.trim() !== "";
  const first = pieces.findIndex(isSaid);
  const last = pieces.findLastIndex(isSaid);
  const said = first < 0 ? [] : pieces.slice(first, last + 1);
  if (said.some(({ kind }) => kind === "comment")) {
    return refuse("Remove the parentheses, and what is in them, from the address.");
  }
  const text = said.map((piece) => written(piece)).join("");
  const parsed = parseAddress(text);
  if (parsed.ok) return { ...parsed, name: nameOf(pieces.filter(({ kind }) => kind === "comment")) };
  if (text.split(/[,;]/).filter((part) => part.includes("@")).length > 1) return refuse(several);
  if (/^[^:]+:.*;$/.test(text)) return refuse("Enter one address; this is a group.");
  return /\S\s+[^\s@]+@[^\s@]+$/.test(text)
    ? refuse("Put the address in angle brackets after the name: Jane Doe <name@example.com>.")
    : parsed;
}

/** Splits the text into pieces. Returns an error sentence if a quote, parenthesis or bracket is not closed. */
function piecesOf(text: string): Piece[] | string {
  const pieces: Piece[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === ")") return 'Remove the ")", or put the name in double quotes.';
    if (character === ">") return 'Remove the ">", or put the name in double quotes.';
    if (character !== '"' && character !== "(" && character !== "<") continue;
    const end = endOf(text, at, character);
    if (end < 0) return UNCLOSED[character];
    if (at > start) pieces.push({ kind: "text", content: text.slice(start, at) });
    pieces.push({ kind: KINDS[character], content: text.slice(at + 1, end) });
    start = end + 1;
    at = end;
  }
  if (start < text.length) pieces.push({ kind: "text", content: text.slice(start) });
  return pieces;
}

/**
 * The index of the closing delimiter, -1 if there is none. Comments may be nested; an address in brackets may have a
 * quoted local part.
 */
function endOf(text: string, start: number, opening: keyof typeof ENDS): number {
  let depth = 0;
  let isQuoted = false;
  for (let at = start + 1; at < text.length; at++) {
    const character = text[at];
    if (character === "\\" && (opening !== "<" || isQuoted)) at++;
    else if (opening === "<" && character === '"') isQuoted = !isQuoted;
    else if (opening === "(" && character === "(") depth++;
    else if (character === ENDS[opening] && !isQuoted && depth-- === 0) return at;
  }
  return -1;
}

/** The display name as a reader sees it; null if it is empty. */
function nameOf(pieces: readonly Piece[]): string | null {
  const shown = pieces.filter(({ kind, content }) => kind !== "text" || content.trim() !== "");
  const [only] = shown;
  const name =
    shown.length === 1 && only?.kind === "comment"
      ? unescaped(only.content)
      : pieces.map((piece) => (piece.kind === "quoted" ? unescaped(piece.content) : written(piece))).join("");
  return name.trim() || null;
}

function written({ kind, content }: Piece): string {
  return kind === "quoted" ? `"${content}"` : kind === "comment" ? `(${content})` : content;
}

/** The characters that a quoted-string or a comment stands for (RFC 5322 section 3.2.1). */
function unescaped(text: string): string {
  return text.replace(/\\(.)/gu, "$1");
}

function refuse(message: string): AddressFault {
  return { ok: false, message };
}
