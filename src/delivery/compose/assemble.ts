/**
 * From all that a message is made of to its octets on the wire: both forms of its body, its MIME structure, its DKIM
 * signature. What goes in is plain data, so that a large message is assembled in a thread of its own
 * (assembly-line.ts), and a small one where it is needed.
 */
import { isAscii } from "node:buffer";
import type { KeyObject } from "node:crypto";
import { domainOf, needsSmtpUtf8 } from "#mail/address.ts";
import { type DkimSigning, signDkim } from "#mail/dkim/dkim.ts";
import { htmlFromText, textFromHtml } from "#mail/html/body-conversion.ts";
import { type HeaderField, renderHeaders, renderMessage } from "#mail/message/header.ts";
import { readHeaderSection } from "#mail/message/header-section.ts";
import { type Attachment, composeMessage } from "#mail/message/mime.ts";
import { joinOctets, type Octets } from "#mail/message/octets.ts";
import type { MailText } from "#mail/message/template-text.ts";
import { encodeBase64 } from "#mail/message/transfer-encoding.ts";
import type { StoredAttachment } from "#messages/message/attachment.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** Where the tracked links of a sender's mail lead, and what keys their tokens. */
export interface Tracking {
  readonly base: string;
  readonly key: KeyObject;
}

/** Gives HTML whose links lead back to us, with a pixel at its end. */
export type TrackHtml = (
  html: string,
  mail: { readonly workspaceId: WorkspaceId; readonly messageId: string },
  tracking: Tracking,
) => string;

/** What every message has. */
interface Envelope {
  readonly workspaceId: WorkspaceId;
  readonly messageId: string;
  readonly fromEmail: string;
  readonly recipient: string;
  /** Those that we add to every message. */
  readonly ours: readonly HeaderField[];
  readonly signingKey: Pick<DkimSigning, "domain" | "selector" | "privateKey"> | null;
}

/** A message that is composed of its parts. */
export interface Parts extends Envelope {
  /** Of its Date field. */
  readonly date: Date;
  readonly fromName: string | null;
  readonly toName: string | null;
  readonly subject: string;
  readonly html: MailText | null;
  readonly text: MailText | null;
  /**
   * Whether a text without HTML gets an HTML part that is made of it, as in a campaign; otherwise the text goes out alone,
   * as its author wrote it.
   */
  readonly showsTextAsHtml: boolean;
  /** As composing takes them; or as they are stored, in JSON, which is read when they are needed. */
  readonly attachments: readonly Attachment[] | string;
  /** Its own fields, in front of ours. */
  readonly headers: readonly HeaderField[];
  /** Null: its HTML is sent as it is. */
  readonly tracking: Tracking | null;
}

/** A complete message of a client of the submission port. */
export interface Complete extends Envelope {
  readonly raw: Uint8Array;
}

export interface Assembled {
  readonly message: Buffer;
  readonly smtpUtf8: boolean;
}

/** A message but for its signature. */
interface Unsigned extends Pick<Assembled, "smtpUtf8"> {
  /** What is signed. */
  readonly headers: readonly HeaderField[];
  readonly body: Octets;
  /** Its relaxed form, where that was made with it. */
  readonly relaxedBody: Octets | null;
  /** The message as it is sent, with further fields in front: joined once, for it is the largest thing made here. */
  readonly behind: (fields: readonly HeaderField[]) => Buffer;
}

/** @throws a programmer's error on content that acceptance should have refused */
export async function assemble(mail: Parts | Complete, trackHtml?: TrackHtml): Promise<Assembled> {
  const { signingKey } = mail;
  const { headers, body, relaxedBody, behind, smtpUtf8 } =
    "raw" in mail ? complete(mail) : write(mail, trackHtml);
  const signing = { headers, body, relaxedBody, timestamp: new Date() };
  const signature = signingKey && (await signDkim({ ...signingKey, ...signing }));
  return { message: behind(signature === null ? [] : [["DKIM-Signature", signature]]), smtpUtf8 };
}

function write(mail: Parts, trackHtml?: TrackHtml): Unsigned {
  const { messageId, fromEmail, recipient, subject, ours } = mail;
  const bodies = bodiesOf(mail, trackHtml);
  const { attachments } = mail;
  const composed = composeMessage({
    messageId: `${messageId}@${domainOf(fromEmail)}`,
    date: mail.date,
    from: { name: mail.fromName, address: fromEmail },
    to: { name: mail.toName, address: recipient },
    subject,
    html: bodies.html ?? (mail.showsTextAsHtml ? htmlFromText(String(bodies.text ?? "")) : null),
    text: bodies.text ?? textFromHtml(String(bodies.html ?? "")),
    attachments:
      typeof attachments === "string"
        ? (JSON.parse(attachments) as readonly StoredAttachment[]).map(encodedAttachment)
        : attachments,
    headers: [...mail.headers, ...ours],
  });
  const { headers, body, relaxedBody } = composed;
  const behind = (fields: readonly HeaderField[]) => renderMessage([...fields, ...headers], body);
  return { headers, body, relaxedBody, behind, smtpUtf8: composed.needsSmtpUtf8 };
}

/** The text of a tracked mail is that of its own HTML: addresses there are read by people. */
function bodiesOf(mail: Parts, trackHtml?: TrackHtml): Pick<Parts, "html" | "text"> {
  const { html, text, tracking } = mail;
  if (html === null || tracking === null || trackHtml === undefined) return { html, text };
  const written = String(html);
  return { html: trackHtml(written, mail, tracking), text: text ?? textFromHtml(written) };
}

/** What a client of the submission port wrote goes out octet by octet, behind the fields that are this message's own. */
function complete({ raw: octets, recipient, ours }: Complete): Unsigned {
  const raw = Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength);
  const section = readHeaderSection(raw);
  if (!section.ok) throw new Error(`a submitted message cannot be read: ${section.fault}`);
  const given = section.fields.map(({ name, value }): HeaderField => [name, value]);
  return {
    headers: [...ours, ...given],
    body: [raw.subarray(section.bodyStart)],
    relaxedBody: null,
    behind: (fields) => joinOctets([Buffer.from(renderHeaders([...fields, ...ours])), raw]),
    smtpUtf8: needsSmtpUtf8(recipient) || !isAscii(raw.subarray(0, section.bodyStart)),
  };
}

/** An attachment as composing takes it. */
export function encodedAttachment(attachment: StoredAttachment): Attachment {
  return {
    filename: attachment.filename,
    encoded: encodeBase64(Buffer.from(attachment.content, "base64")),
    contentType: attachment.content_type,
    disposition: attachment.disposition,
    contentId: attachment.content_id,
  };
}
