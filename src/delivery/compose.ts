/**
 * From a leased message to the bytes on the wire: headers, body, DKIM signature, envelope. Everything that varies
 * between attempts is absent, so that a retry sends the same Message-ID from the same return path (greylisting knows
 * the triple of client, sender and recipient).
 */
import { isAscii } from "node:buffer";
import type { KeyObject } from "node:crypto";
import { domainOf, needsSmtpUtf8 } from "../mail/address.ts";
import { encodeReturnPath } from "../mail/bounces/verp.ts";
import { type DkimSigning, messageTokenHeader, signDkim } from "../mail/dkim/dkim.ts";
import { htmlFromText, textFromHtml } from "../mail/html/body-forms.ts";
import { type HeaderField, renderHeaders, renderMessage } from "../mail/message/header.ts";
import { readHeaderSection } from "../mail/message/header-section.ts";
import { type Attachment, composeMessage } from "../mail/message/mime.ts";
import { joinOctets, type Octets } from "../mail/message/octets.ts";
import { encodeBase64 } from "../mail/message/transfer-encoding.ts";
import type { StoredAttachment } from "../messages/store.ts";
import type { WorkspaceId } from "../platform/ids.ts";
import { createTurns } from "../platform/turns.ts";
import type { MessageContent } from "./examination.ts";
import type { LeasedMessage } from "./queue/lease-store.ts";
import type { Transaction } from "./smtp/envelope.ts";
import type { TransportEvents } from "./transport.ts";

/** What the engine has to be told about a sender, by nouns it does not know. */
export interface SenderIdentity {
  readonly signingKey: Pick<DkimSigning, "domain" | "selector" | "privateKey"> | null;
  /** Host of the envelope sender. */
  readonly returnPathHost: string;
  /** What puts the addresses of tracked mail into its HTML; without it nothing is tracked. */
  readonly track?: TrackHtml;
}

/** HTML whose links lead back to us, with a pixel at its end. */
export type TrackHtml = (
  mail: { readonly workspaceId: WorkspaceId; readonly messageId: string },
  html: string,
) => string;

/** A message ready to be sent, with the subject that its reader sees. */
export interface Composed extends Transaction {
  readonly subject: string;
}

export type FindIdentity = (workspaceId: WorkspaceId, fromDomain: string) => Promise<SenderIdentity>;

export interface ComposeOptions {
  readonly findIdentity: FindIdentity;
  /** Keys the token in return paths and in our own header. */
  readonly returnPathKey: KeyObject;
  /** Where complaints may be sent (RFC 9477); null when we receive no mail. */
  readonly complaintAddress?: string | null;
}

/** Gmail's SenderId (Feedback-ID): 5 to 15 characters, the same for the whole stream. */
const SENDER_ID = "posthaste";

/**
 * Messages that are being composed and signed at a time: more than one event loop keeps busy. The others would only wait
 * for a signing thread with all their texts in memory.
 */
const takeTurn = createTurns(32);

/** When a message whose sender could not be looked up comes back. */
const LOOK_UP_AGAIN_SECONDS = 5;

/**
 * Composes a message, or gives it back and answers null. A look-up that throws (the database is away) says nothing
 * about the message, which comes back soon; content that cannot be composed fails it.
 */
export async function prepare(
  message: LeasedMessage,
  { findIdentity, ...marking }: ComposeOptions,
  events: TransportEvents,
): Promise<Composed | null> {
  let identity: SenderIdentity;
  try {
    identity = await findIdentity(message.workspace_id, domainOf(message.from_email));
  } catch (cause) {
    events.onPostponed(message, LOOK_UP_AGAIN_SECONDS, cause);
    return null;
  }
  try {
    return await takeTurn(() => compose(message, identity, marking));
  } catch (error) {
    events.onFault(message, error);
    return null;
  }
}

/** A message but for its signature. */
interface Written extends Pick<Composed, "subject" | "smtpUtf8"> {
  /** What is signed. */
  readonly headers: readonly HeaderField[];
  readonly body: Octets;
  /** Its relaxed form, where that was made with it. */
  readonly relaxedBody: Octets | null;
  /** The message as it is sent, with further fields in front: joined once, for it is the largest thing made here. */
  readonly behind: (fields: readonly HeaderField[]) => Buffer;
  /** Where it is not that of From's domain. */
  readonly returnPathHost: string | null;
}

/** @throws a programmer's error on content that acceptance should have refused */
async function compose(
  message: LeasedMessage,
  { signingKey, returnPathHost, track }: SenderIdentity,
  { returnPathKey, complaintAddress = null }: Omit<ComposeOptions, "findIdentity">,
): Promise<Composed> {
  const token = encodeReturnPath(message.message_id, returnPathKey);
  const ours: HeaderField[] = [
    ["Feedback-ID", feedbackId(message)],
    [messageTokenHeader, token],
    ...complaintFields(complaintAddress, token),
  ];
  const { raw } = message;
  const written = raw === null ? write(message, ours, track) : complete(message, raw, ours);
  const { headers, body, relaxedBody, subject, smtpUtf8 } = written;
  const signing = { headers, body, relaxedBody, timestamp: new Date() };
  const signature = signingKey && (await signDkim({ ...signingKey, ...signing }));
  return {
    subject,
    mailFrom: `${token}@${written.returnPathHost ?? returnPathHost}`,
    rcptTo: recipientOf(message),
    message: written.behind(signature === null ? [] : [["DKIM-Signature", signature]]),
    smtpUtf8,
  };
}

/** Whoever asks for complaints this way gets them signed for: a provider need not know us. */
function complaintFields(address: string | null, token: string): HeaderField[] {
  if (address === null) return [];
  return [
    ["CFBL-Address", `${address}; report=arf`],
    ["CFBL-Feedback-ID", token],
  ];
}

function recipientOf({ localpart, domain }: LeasedMessage): string {
  return `${localpart}@${domain}`;
}

function write(message: LeasedMessage, ours: readonly HeaderField[], track?: TrackHtml): Written {
  const content = message.content?.() ?? storedContent(message, track);
  const { subject, returnPathHost } = content;
  const composed = composeMessage({
    messageId: `${message.message_id}@${domainOf(message.from_email)}`,
    date: message.created_at,
    from: { name: content.fromName, address: message.from_email },
    to: { name: content.toName, address: recipientOf(message) },
    subject,
    html: content.html ?? htmlFromText(String(content.text ?? "")),
    text: content.text ?? textFromHtml(String(content.html ?? "")),
    attachments: content.attachments,
    headers: [
      ...content.headers,
      ...ours,
      // Platform mail is made by a program: nothing should answer it (RFC 3834 section 5).
      ...(message.source === "platform" ? ([["Auto-Submitted", "auto-generated"]] as const) : []),
    ],
  });
  const { headers, body, relaxedBody } = composed;
  const behind = (fields: readonly HeaderField[]) => renderMessage([...fields, ...headers], body);
  return { subject, headers, body, relaxedBody, behind, returnPathHost, smtpUtf8: composed.needsSmtpUtf8 };
}

/** What a client of the submission port wrote goes out octet by octet, behind the fields that are this message's own. */
function complete(message: LeasedMessage, raw: Buffer, ours: readonly HeaderField[]): Written {
  const section = readHeaderSection(raw);
  if (!section.ok) throw new Error(`a submitted message cannot be read: ${section.fault}`);
  const given = section.fields.map(({ name, value }): HeaderField => [name, value]);
  return {
    subject: message.subject,
    headers: [...ours, ...given],
    body: [raw.subarray(section.bodyStart)],
    relaxedBody: null,
    behind: (fields) => joinOctets([Buffer.from(renderHeaders([...fields, ...ours])), raw]),
    returnPathHost: null,
    smtpUtf8: needsSmtpUtf8(recipientOf(message)) || !isAscii(raw.subarray(0, section.bodyStart)),
  };
}

function storedContent(message: LeasedMessage, track?: TrackHtml): MessageContent {
  if (!message.has_content)
    throw new Error("a message has no content: it was kept too short, or nobody gives it");
  return {
    fromName: message.from_name,
    toName: message.to_name,
    subject: message.subject,
    ...storedBodies(message, track),
    attachments: (message.attachments ?? []).map(encodedAttachment),
    headers: message.particulars?.headers ?? [],
    returnPathHost: message.particulars?.return_path_host ?? null,
  };
}

/** The text of a tracked mail is that of its own HTML: addresses there are read by people. */
function storedBodies(
  { workspace_id: workspaceId, message_id: messageId, html, text, particulars }: LeasedMessage,
  track?: TrackHtml,
): Pick<MessageContent, "html" | "text"> {
  if (html === null || !particulars?.is_tracked || track === undefined) return { html, text };
  return { html: track({ workspaceId, messageId }, html), text: text ?? textFromHtml(html) };
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

/** Names the stream and the customer, never one recipient (mail-practice, section 3). */
function feedbackId({ source, workspace_id, origin_id }: LeasedMessage): string {
  if (source === "campaign" || source === "autoresponder") {
    return `${origin_id?.slice(-8)}:${workspace_id.slice(-8)}:${source}:${SENDER_ID}`;
  }
  const stream = source === "platform" ? "platform" : "transactional";
  return `tx:${workspace_id.slice(-8)}:${stream}:${SENDER_ID}`;
}
