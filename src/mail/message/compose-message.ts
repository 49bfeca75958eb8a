/**
 * Composes one message (RFC 5322, RFC 2045 to 2049): fields in the order they are sent, and a body whose structure
 * depends on the content:
 *
 *     multipart/mixed                 when there are attachments
 *       multipart/alternative         when there is text and HTML
 *         text/plain
 *         multipart/related           when the HTML has inline parts
 *           text/html
 *           image/png, inline, Content-ID
 *       application/pdf, attachment
 *
 * All content is 7bit, quoted-printable or base64, so no message needs 8BITMIME. Header fields are ASCII except for raw
 * UTF-8 addresses. Composing is deterministic except for the random boundary. A message of 10 KB takes 20 to 40
 * microseconds, little compared with its DKIM signature.
 */

import { randomUUID } from "node:crypto";
import { headerTextFault, needsSmtpUtf8 } from "#mail/address.ts";
import { relaxedText } from "./dkim-canonicalization.ts";
import {
  encodeDate,
  encodeMailbox,
  encodeMailboxes,
  encodeParameter,
  encodeText,
  encodeValue,
  type HeaderField,
  type Mailbox,
  renderHeaders,
} from "./encode-header.ts";
import { joinOctets, type Octets } from "./octet-pieces.ts";
import type { MailText } from "./shared-text-pieces.ts";
import { encodeTextContent, type TransferEncoding } from "./transfer-encoding.ts";

/** A file of a message, already encoded. */
export interface Attachment {
  readonly filename: string;
  /** The file as encodeBase64 returns it: encoded once, however many messages contain it. */
  readonly encoded: Buffer;
  /** A media type such as `application/pdf`, optionally with parameters. */
  readonly contentType: string;
  readonly disposition: "attachment" | "inline";
  /** Without angle brackets; the HTML refers to it as `cid:<contentId>`. */
  readonly contentId?: string | null;
}

/** The content of a message. Texts must not contain line breaks and control characters (headerTextFault). */
export interface MessageContent {
  /** Without angle brackets. */
  readonly messageId: string;
  readonly date: Date;
  readonly from: Mailbox;
  readonly to: Mailbox;
  /** Lists for To (in place of `to`), Cc and Reply-To. An empty list gives no field: To is empty if it was erased. */
  readonly addressees?: MailboxLists | undefined;
  readonly subject: string;
  /** At least one of the two bodies is not null. */
  readonly html: MailText | null;
  readonly text: MailText | null;
  readonly attachments: readonly Attachment[];
  /** Further fields, not encoded, sent after Message-ID in this order. */
  readonly headers: readonly HeaderField[];
}

export interface MailboxLists {
  readonly to: readonly Mailbox[];
  readonly cc: readonly Mailbox[];
  readonly replyTo: readonly Mailbox[];
}

/** Header fields and body of a composed message, before signing. */
export interface ComposedMessage {
  /** All fields, encoded and folded, in the order they are sent. */
  readonly headers: HeaderField[];
  readonly body: Octets;
  /**
   * The body in relaxed form (RFC 6376 section 3.4.4) if no text had to be encoded; null if it has to be computed from
   * the body.
   */
  readonly relaxedBody: Octets | null;
  /** Whether a header address is not ASCII, so that the message needs SMTPUTF8. */
  readonly needsSmtpUtf8: boolean;
}

/** A leaf or a multipart: its own Content-* fields and its content. */
interface Part {
  readonly headers: readonly HeaderField[];
  readonly content: Octets;
  /** The content in relaxed form, provided that a line break follows it. */
  readonly relaxed: Octets | null;
  readonly isMultipart?: boolean;
}

const mediaType = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?: *; *[\w!#$&^.+-]+=(?:[\w!#$&^.+-]+|"[ !#-[\]-~]*"))* *$/;
const composerFields = /^(?:from|to|subject|date|message-id|mime-version|content-.*)$/i;
const lineBreak = Buffer.from("\r\n");
const maxMediaTypeLength = 255;

/**
 * Composes a message.
 * @throws Error on content that the caller should have refused (attachmentFault, headerTextFault), on further fields
 * that the composer writes itself, and if there is no body
 */
export function composeMessage(
  content: MessageContent,
  randomId: () => string = randomUUID,
): ComposedMessage {
  assertSendable(content);
  const { from } = content;
  const { to, cc, replyTo } = listsOf(content);
  const body = bodyOf(content, randomId);
  return {
    headers: [
      ["From", encodeMailbox(from, 6)],
      ...mailboxField("Reply-To", replyTo),
      ...mailboxField("To", to),
      ...mailboxField("Cc", cc),
      ["Subject", encodeText(content.subject, 9)],
      ["Date", encodeDate(content.date)],
      ["Message-ID", `<${content.messageId}>`],
      ...content.headers.map(([name, value]): HeaderField => [name, encodeValue(value, name.length + 2)]),
      ["MIME-Version", "1.0"],
      ...body.headers,
    ],
    body: withFinalLineBreak(body),
    // A text that is the whole body may end in empty lines, which relaxed form drops.
    relaxedBody: body.isMultipart ? body.relaxed : null,
    needsSmtpUtf8: [from, ...to, ...cc, ...replyTo].some(({ address }) => needsSmtpUtf8(address)),
  };
}

function listsOf({ to, addressees }: MessageContent): MailboxLists {
  return addressees ?? { to: [to], cc: [], replyTo: [] };
}

/** A field with a list of mailboxes; none without them. */
function mailboxField(name: string, mailboxes: readonly Mailbox[]): HeaderField[] {
  return mailboxes.length === 0 ? [] : [[name, encodeMailboxes(mailboxes, name.length + 2)]];
}

/** Why a file cannot be attached, as a sentence for the sender; null if it can. */
export function attachmentFault({
  filename,
  contentType,
  contentId,
}: Omit<Attachment, "encoded">): string | null {
  if (filename.trim() === "") return "Give the attachment a filename.";
  const fault = headerTextFault(filename);
  if (fault !== null) return `Correct the filename: ${fault}`;
  if (contentType.length > maxMediaTypeLength || !mediaType.test(contentType)) {
    return "Enter the content_type as a media type, such as application/pdf.";
  }
  if (contentId != null && !/^[!-;=?-~]{1,200}$/.test(contentId)) {
    return "Enter the content_id as 1 to 200 ASCII characters without blanks and angle brackets.";
  }
  return null;
}

function assertSendable(content: MessageContent): void {
  const { messageId, from, subject, html, text, attachments, headers } = content;
  const { to, cc, replyTo } = listsOf(content);
  const texts = [
    ...[from, ...to, ...cc, ...replyTo].flatMap(({ name, address }) => [name ?? "", address]),
    subject,
    ...headers.map(([, value]) => value),
  ];
  const fault = texts.map(headerTextFault).find((found) => found !== null);
  if (fault != null) throw new Error(`A header text cannot be sent: ${fault}`);
  const file = attachments.map(attachmentFault).find((found) => found !== null);
  if (file != null) throw new Error(`An attachment cannot be sent: ${file}`);
  const owned = headers.find(([name]) => composerFields.test(name));
  if (owned !== undefined) throw new Error(`The composer writes the field ${owned[0]} itself.`);
  if (!/^[!-;=?-~]+$/.test(messageId)) throw new Error("A Message-ID is given without <, > and blanks.");
  if (html === null && text === null) throw new Error("A message has a text or an HTML body.");
}

function bodyOf({ html, text, attachments }: MessageContent, randomId: () => string): Part {
  const plain = text === null ? null : textPart("plain", text);
  const rich = html === null ? null : textPart("html", html);
  const isInline = (file: Attachment) =>
    rich !== null && file.disposition === "inline" && file.contentId != null;
  const boundary = unusedBoundary([plain, rich], randomId);
  const inline = attachments.filter(isInline).map(attachmentPart);
  const attached = attachments.filter((file) => !isInline(file)).map(attachmentPart);
  const related = rich && multipart('related; type="text/html"', [rich, ...inline], `=_r${boundary}`);
  const bodies = [plain, related].filter((part) => part !== null);
  return multipart(
    "mixed",
    [multipart("alternative", bodies, `=_a${boundary}`), ...attached],
    `=_m${boundary}`,
  );
}

function textPart(subtype: "plain" | "html", text: MailText): Part {
  const { encoding, ...rest } = encodedText(text);
  return {
    headers: [
      ["Content-Type", `text/${subtype}; charset=utf-8`],
      ["Content-Transfer-Encoding", encoding],
    ],
    ...rest,
  };
}

function encodedText(
  text: MailText,
): Pick<Part, "content" | "relaxed"> & { readonly encoding: TransferEncoding } {
  const sevenBit = typeof text === "string" ? null : text.sevenBit();
  if (sevenBit !== null) return { encoding: "7bit", content: sevenBit.wire, relaxed: sevenBit.relaxed };
  const { encoding, content } = encodeTextContent(String(text));
  return {
    encoding,
    content: [content],
    relaxed: typeof content === "string" ? [relaxedText(content)] : null,
  };
}

function attachmentPart({ filename, encoded, contentType, disposition, contentId }: Attachment): Part {
  // Messages and multiparts must not be base64 (RFC 2045 section 6.4), and only base64 preserves every octet.
  const type = /^(?:message|multipart)\//i.test(contentType) ? "application/octet-stream" : contentType;
  const headers: HeaderField[] = [
    ["Content-Type", encodeValue(type, 14)],
    ["Content-Transfer-Encoding", "base64"],
    ["Content-Disposition", `${disposition};\r\n ${encodeParameter("filename", filename)}`],
  ];
  if (contentId != null) headers.push(["Content-ID", `<${contentId}>`]);
  return { headers, content: [encoded], relaxed: null };
}

/** Joins parts with boundaries; a single part is returned without a multipart around it. */
function multipart(subtype: string, parts: readonly Part[], boundary: string): Part {
  const [only, ...more] = parts;
  if (only !== undefined && more.length === 0) return only;
  const content: (string | Octets)[] = [];
  const relaxed: (string | Octets)[] = [];
  for (const [at, part] of parts.entries()) {
    const start = `${at === 0 ? "" : "\r\n"}--${boundary}\r\n${renderHeaders(part.headers)}\r\n`;
    content.push(start, part.content);
    relaxed.push(start, part.relaxed ?? []);
  }
  const end = `\r\n--${boundary}--\r\n`;
  return {
    headers: [["Content-Type", `multipart/${subtype};\r\n boundary="${boundary}"`]],
    content: [...content, end],
    relaxed: parts.every((part) => part.relaxed !== null) ? [...relaxed, end] : null,
    isMultipart: true,
  };
}

/** SMTP ends every message with CRLF. A body that ends with it is hashed, sent and stored as the same octets. */
function withFinalLineBreak({ content, isMultipart }: Part): Octets {
  const isEnded = isMultipart || joinOctets(content).subarray(-2).equals(lineBreak);
  return isEnded ? content : [...content, lineBreak];
}

/**
 * The common suffix of a message's boundaries. It is random, so that no body can end a part early, and it is also
 * searched for in texts of one piece. Base64 and quoted-printable cannot contain the "=_" before it.
 */
function unusedBoundary(leaves: readonly (Part | null)[], randomId: () => string): string {
  const whole = leaves.flatMap((leaf) => (leaf?.content.length === 1 ? leaf.content : []));
  for (;;) {
    const boundary = randomId();
    if (!whole.some((octets) => octets.includes(boundary))) return boundary;
  }
}
