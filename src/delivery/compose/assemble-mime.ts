/**
 * Assembles the octets of a message: both forms of its body, its MIME structure, its DKIM signature. The input is plain data, so
 * that a large message can be assembled in another thread (open-assembly-thread.ts).
 */
import { isAscii } from "node:buffer";
import type { KeyObject } from "node:crypto";
import { domainOf, needsSmtpUtf8 } from "#mail/address.ts";
import { type DkimSigning, signDkim } from "#mail/dkim/dkim.ts";
import { htmlFromText, textFromHtml } from "#mail/html/body-conversion.ts";
import { type Attachment, composeMessage } from "#mail/message/compose-message.ts";
import { type HeaderField, renderHeaders, renderMessage } from "#mail/message/encode-header.ts";
import { readHeaderSection } from "#mail/message/header-section.ts";
import { joinOctets, type Octets } from "#mail/message/octet-pieces.ts";
import type { MailText } from "#mail/message/shared-text-pieces.ts";
import { encodeBase64 } from "#mail/message/transfer-encoding.ts";
import type { StoredAttachment } from "#messages/message/attachment.ts";
import type { Addressees } from "#messages/store.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** The base address of a sender's tracked links, and the key of their tokens. */
export interface Tracking {
  readonly base: string;
  readonly key: KeyObject;
}

/** Replaces the links in HTML by tracked ones, and adds the open pixel at its end. */
export type TrackHtml = (
  html: string,
  mail: { readonly workspaceId: WorkspaceId; readonly messageId: string },
  tracking: Tracking,
) => string;

/** The fields of every message. */
interface Envelope {
  readonly workspaceId: WorkspaceId;
  readonly messageId: string;
  readonly fromEmail: string;
  readonly recipient: string;
  /** The header fields that we add to every message. */
  readonly ours: readonly HeaderField[];
  readonly signingKey: Pick<DkimSigning, "domain" | "selector" | "privateKey"> | null;
}

/** A message to be composed from its parts. */
export interface Parts extends Envelope {
  /** For the Date field. */
  readonly date: Date;
  readonly fromName: string | null;
  readonly toName: string | null;
  /** The addressees that it shows, and its Message-ID; null: its own recipient, and its own id. */
  readonly addressees: Addressees | null;
  readonly subject: string;
  readonly html: MailText | null;
  readonly text: MailText | null;
  /**
   * True: a text without HTML gets an HTML part made from it, as in a campaign. False: the text is sent alone, as its author
   * wrote it.
   */
  readonly showsTextAsHtml: boolean;
  /** A string is the stored JSON, parsed when the message is assembled. */
  readonly attachments: readonly Attachment[] | string;
  /** The message's own header fields, before ours. */
  readonly headers: readonly HeaderField[];
  /** Null: the HTML is not tracked. */
  readonly tracking: Tracking | null;
}

/** A complete message from the submission port. */
export interface Complete extends Envelope {
  readonly raw: Uint8Array;
}

export interface Assembled {
  readonly message: Buffer;
  readonly smtpUtf8: boolean;
}

/** A message without its signature. */
interface Unsigned extends Pick<Assembled, "smtpUtf8"> {
  /** The header fields to sign. */
  readonly headers: readonly HeaderField[];
  readonly body: Octets;
  /** The body in relaxed canonicalization, if it was made already. */
  readonly relaxedBody: Octets | null;
  /** The message with further fields in front. The octets are joined only once, because the message may be large. */
  readonly render: (fields: readonly HeaderField[]) => Buffer;
}

/** @throws an Error on content that acceptance should have refused */
export async function assemble(mail: Parts | Complete, trackHtml?: TrackHtml): Promise<Assembled> {
  const { signingKey } = mail;
  const { headers, body, relaxedBody, render, smtpUtf8 } =
    "raw" in mail ? complete(mail) : write(mail, trackHtml);
  const signing = { headers, body, relaxedBody, timestamp: new Date() };
  const signature = signingKey && (await signDkim({ ...signingKey, ...signing }));
  return { message: render(signature === null ? [] : [["DKIM-Signature", signature]]), smtpUtf8 };
}

function write(mail: Parts, trackHtml?: TrackHtml): Unsigned {
  const { messageId, fromEmail, recipient, subject, ours, addressees } = mail;
  const bodies = bodiesOf(mail, trackHtml);
  const { attachments } = mail;
  const composed = composeMessage({
    messageId: `${addressees?.message_id ?? messageId}@${domainOf(fromEmail)}`,
    date: mail.date,
    from: { name: mail.fromName, address: fromEmail },
    to: { name: mail.toName, address: recipient },
    addressees: addressees ? { ...addressees, replyTo: addressees.reply_to } : undefined,
    subject,
    ...bothBodies(bodies, mail.showsTextAsHtml),
    attachments:
      typeof attachments === "string"
        ? (JSON.parse(attachments) as readonly StoredAttachment[]).map(encodedAttachment)
        : attachments,
    headers: [...mail.headers, ...ours],
  });
  const { headers, body, relaxedBody } = composed;
  const render = (fields: readonly HeaderField[]) => renderMessage([...fields, ...headers], body);
  const smtpUtf8 = composed.needsSmtpUtf8 || needsSmtpUtf8(recipient);
  return { headers, body, relaxedBody, render, smtpUtf8 };
}

/** Both bodies of a mail: the one that is missing is made from the other. Also for previews. */
export function bothBodies<Body extends MailText | string>(
  { html, text }: { readonly html: Body | null; readonly text: Body | null },
  showsTextAsHtml: boolean,
) {
  return {
    html: html ?? (showsTextAsHtml ? htmlFromText(String(text ?? "")) : null),
    text: text ?? textFromHtml(String(html ?? "")),
  };
}

/** The text is made from the untracked HTML, because people read the addresses in it. */
function bodiesOf(mail: Parts, trackHtml?: TrackHtml): Pick<Parts, "html" | "text"> {
  const { html, text, tracking } = mail;
  if (html === null || tracking === null || trackHtml === undefined) return { html, text };
  const written = String(html);
  return { html: trackHtml(written, mail, tracking), text: text ?? textFromHtml(written) };
}

/** A submitted message is sent unchanged, after the header fields that we add. */
function complete({ raw: octets, recipient, ours }: Complete): Unsigned {
  const raw = Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength);
  const section = readHeaderSection(raw);
  if (!section.ok) throw new Error(`a submitted message cannot be parsed: ${section.fault}`);
  const given = section.fields.map(({ name, value }): HeaderField => [name, value]);
  return {
    headers: [...ours, ...given],
    body: [raw.subarray(section.bodyStart)],
    relaxedBody: null,
    render: (fields) => joinOctets([Buffer.from(renderHeaders([...fields, ...ours])), raw]),
    smtpUtf8: needsSmtpUtf8(recipient) || !isAscii(raw.subarray(0, section.bodyStart)),
  };
}

/** A stored attachment, for composeMessage. */
export function encodedAttachment(attachment: StoredAttachment): Attachment {
  return {
    filename: attachment.filename,
    encoded: encodeBase64(Buffer.from(attachment.content, "base64")),
    contentType: attachment.content_type,
    disposition: attachment.disposition,
    contentId: attachment.content_id,
  };
}
