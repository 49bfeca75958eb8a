/**
 * Reads a received mail into what the API shows of it. postal-mime parses structure, addresses and attachments; texts and
 * header fields that it cannot decode, such as 8-bit text without a charset, are read leniently (lenient-mime.ts). Everything
 * is bounded, nothing throws, and what does not fit is named in `cut`.
 */
import PostalMime, {
  type Address,
  type Attachment,
  addressParser,
  decodeWords,
  type Email,
} from "postal-mime";
import { decodeHeader, decodeText, needsDecoding } from "#mail/bounces/charset.ts";
import {
  headerText,
  headerValue,
  lenientMimeLimit,
  type MailPart,
  ownParts,
  partOctets,
  readMime,
} from "#mail/bounces/lenient-mime.ts";
import { textFromHtml } from "#mail/html/body-conversion.ts";
import { type Automatic, automaticKind } from "./automatic-kind.ts";
import { storable } from "./storable-text.ts";

export interface MailboxOfMail {
  readonly email: string;
  readonly name: string | null;
}

export interface ReceivedAttachment {
  readonly filename: string;
  /** Lower case, without parameters. */
  readonly content_type: string;
  /** Without angle brackets; the HTML refers to it as `cid:<content_id>`. */
  readonly content_id: string | null;
  /** Decoded octets. */
  readonly size: number;
  readonly is_inline: boolean;
}

/** The parts of a mail that may exceed their limits. */
export const cutParts = ["subject", "text", "html", "headers", "addresses", "attachments"] as const;
type CutPart = (typeof cutParts)[number];

export interface ReceivedMail {
  /** The first address in From; null if there is none. */
  readonly from: MailboxOfMail | null;
  readonly to: readonly MailboxOfMail[];
  readonly cc: readonly MailboxOfMail[];
  readonly reply_to: readonly MailboxOfMail[];
  readonly subject: string;
  /** ISO 8601; null if the field is missing or unreadable. */
  readonly date: string | null;
  /** Without angle brackets. */
  readonly message_id: string | null;
  /** Message-IDs in In-Reply-To and References without angle brackets, the nearest first. */
  readonly answered: readonly string[];
  readonly text: string | null;
  readonly html: string | null;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly attachments: readonly ReceivedAttachment[];
  readonly automatic: Automatic | null;
  readonly cut: readonly CutPart[];
}

const MOST = {
  subject: 2_000,
  body: 1_000_000,
  headers: 200,
  headerValue: 2_000,
  headerCharacters: 64_000,
  addresses: 100,
  addressField: 100_000,
  attachments: 1_000,
  filename: 255,
  answered: 50,
};
/** A mail of more levels or larger headers is read leniently only. */
const LIMITS = { maxNestingDepth: 50, maxHeadersSize: 2 * 1024 * 1024, maxRfc822NestingDepth: 0 };
/** What a decoder writes for octets that it cannot decode. */
const UNDECODED = "\ufffd";

/** @param mailFrom the envelope sender, "" for the null sender */
export async function readReceivedMail(raw: Uint8Array, mailFrom: string): Promise<ReceivedMail> {
  const lenient = readMime(raw);
  const parsed = await PostalMime.parse(raw, LIMITS).catch(() => null);
  const cut = new Set<CutPart>();
  const bounded = (part: CutPart, text: string, most: number) => {
    if (text.length > most) cut.add(part);
    return storable(text.slice(0, most));
  };
  const first = <Value>(part: CutPart, all: readonly Value[], most: number) => {
    if (all.length > most) cut.add(part);
    return all.slice(0, most);
  };
  const addresses = (name: string) =>
    first("addresses", mailboxesIn(fieldText(lenient, name)), MOST.addresses);
  const { text, html } = bodiesOf(parsed, lenient, raw.byteLength <= lenientMimeLimit);
  if (parsed === null) cut.add("attachments");
  return {
    from: mailboxesIn(fieldText(lenient, "From"))[0] ?? null,
    to: addresses("To"),
    cc: addresses("Cc"),
    reply_to: addresses("Reply-To"),
    subject: bounded("subject", headerText(lenient, "Subject"), MOST.subject),
    date: dateOf(headerValue(lenient, "Date") ?? ""),
    message_id: idsIn(headerValue(lenient, "Message-ID") ?? "")[0] ?? null,
    answered: answeredIds(lenient),
    text: text === null ? null : bounded("text", text, MOST.body),
    html: html === null ? null : bounded("html", html, MOST.body),
    headers: headersOf(lenient, () => cut.add("headers")),
    attachments: first("attachments", parsed?.attachments ?? [], MOST.attachments).map(describeAttachment),
    automatic: automaticKind(lenient, raw, mailFrom),
    cut: cutParts.filter((part) => cut.has(part)),
  };
}

/** The content of the attachment at a place of `attachments`; null if there is none. */
export async function readAttachment(raw: Uint8Array, place: number): Promise<Uint8Array | null> {
  const { attachments } = await PostalMime.parse(raw, LIMITS);
  const content = attachments[place]?.content;
  if (content === undefined) return null;
  return typeof content === "string" ? Buffer.from(content) : new Uint8Array(content);
}

/** The text of a mail with HTML only is the text of its HTML. */
function bodiesOf(
  parsed: Email | null,
  lenient: MailPart,
  isWhole: boolean,
): { text: string | null; html: string | null } {
  const body = (given: string | undefined, type: string) => {
    const parts = [...ownParts(lenient)].filter((part) => part.type === type && !isFile(part));
    const [only] = parts;
    const isDoubtful = given !== undefined && /[^\0-\x7f]/.test(given) && isWhole && parts.length === 1;
    const isFlowed = /^flowed$/i.test(only?.parameters.get("format") ?? "");
    const isUndecoded = parsed === null || given?.includes(UNDECODED) === true;
    if (only === undefined || !(isUndecoded || (isDoubtful && !isFlowed))) return given ?? null;
    return decodedText(only);
  };
  const html = body(parsed?.html, "text/html");
  const text = body(parsed?.text, "text/plain");
  return { text: text ?? (html === null ? null : textFromHtml(html.slice(0, MOST.body))), html };
}

const isFile = (part: MailPart) => /^\s*attachment\b/i.test(headerValue(part, "Content-Disposition") ?? "");

/** The text of a part. Without any letter that its declared charset decodes beyond ASCII, the charset is guessed. */
function decodedText(part: MailPart): string {
  const octets = partOctets(part);
  const text = decodeText(octets, part.parameters.get("charset"));
  const isWrong = text.includes(UNDECODED) && !/[^\0-\x7f\ufffd]/.test(text);
  return isWrong ? decodeText(octets, undefined) : text;
}

/** A field of addresses, with raw octets decoded and encoded-words as they are: they may hold commas. */
function fieldText(mail: MailPart, name: string): string {
  const value = headerValue(mail, name) ?? "";
  return needsDecoding(value) ? decodeHeader(value, mail.parameters.get("charset")) : value;
}

function mailboxesIn(value: string): MailboxOfMail[] {
  const flat: Address[] = addressParser(value.slice(0, MOST.addressField), { flatten: true });
  return flat.flatMap(({ address, name }) =>
    address
      ? [{ email: storable(address.slice(0, 320)), name: storable(decodeWords(name).slice(0, 500)) || null }]
      : [],
  );
}

function dateOf(value: string): string | null {
  const time = new Date(value.replace(/\([^()]*\)/g, " ").trim());
  const year = time.getUTCFullYear();
  return year >= 1970 && year <= 9_999 ? time.toISOString() : null;
}

function idsIn(value: string): string[] {
  return [...value.matchAll(/<([^<>\s]{1,1000})>/g)].map(([, id = ""]) => storable(id));
}

function answeredIds(mail: MailPart): string[] {
  const references = idsIn(headerValue(mail, "References") ?? "").toReversed();
  const ids = [...idsIn(headerValue(mail, "In-Reply-To") ?? ""), ...references];
  return [...new Set(ids)].slice(0, MOST.answered);
}

function headersOf(mail: MailPart, onCut: () => void): ReceivedMail["headers"] {
  const shown: { name: string; value: string }[] = [];
  let characters = 0;
  for (const [name, value] of mail.headers) {
    const decoded = headerText({ headers: [[name, value]], parameters: mail.parameters }, name);
    const field = {
      name: storable(name.slice(0, 200)),
      value: storable(decoded.slice(0, MOST.headerValue)),
    };
    characters += field.name.length + field.value.length;
    if (shown.length === MOST.headers || characters > MOST.headerCharacters) {
      onCut();
      break;
    }
    if (decoded.length > MOST.headerValue) onCut();
    shown.push(field);
  }
  return shown;
}

function describeAttachment({ filename, mimeType, contentId, content, disposition, related }: Attachment) {
  return {
    filename: storable((filename ?? "unnamed").slice(0, MOST.filename)),
    content_type: storable(mimeType.slice(0, MOST.filename)),
    content_id:
      contentId === undefined ? null : storable(contentId.replace(/^<|>$/g, "").slice(0, MOST.filename)),
    size: typeof content === "string" ? Buffer.byteLength(content) : content.byteLength,
    is_inline: related === true || disposition === "inline",
  };
}
