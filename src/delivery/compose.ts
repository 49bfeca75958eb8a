/**
 * From a leased message to the bytes on the wire: headers, body, DKIM signature, envelope. Everything that varies
 * between attempts is absent, so that a retry sends the same Message-ID from the same return path (greylisting knows
 * the triple of client, sender and recipient).
 */
import type { KeyObject } from "node:crypto";
import { domainOf } from "../mail/address.ts";
import { type DkimSigning, messageTokenHeader, signDkim } from "../mail/dkim.ts";
import { renderMessage } from "../mail/header.ts";
import { htmlFromText, textFromHtml } from "../mail/html-text.ts";
import { type Attachment, composeMessage } from "../mail/mime.ts";
import { encodeBase64 } from "../mail/transfer-encoding.ts";
import { encodeReturnPath } from "../mail/verp.ts";
import type { StoredAttachment } from "../messages/store.ts";
import type { WorkspaceId } from "../platform/ids.ts";
import type { MessageContent } from "./examination.ts";
import type { Transaction } from "./smtp-envelope.ts";
import type { LeasedMessage } from "./store.ts";
import type { TransportEvents } from "./transport.ts";

/** What the engine has to be told about a sender, by nouns it does not know. */
export interface SenderIdentity {
  readonly signingKey: Pick<DkimSigning, "domain" | "selector" | "privateKey"> | null;
  /** Host of the envelope sender. */
  readonly returnPathHost: string;
}

/** A message ready to be sent, with the subject that its reader sees. */
export interface Composed extends Transaction {
  readonly subject: string;
}

export type FindIdentity = (workspaceId: WorkspaceId, fromDomain: string) => Promise<SenderIdentity>;

export interface ComposeOptions {
  readonly findIdentity: FindIdentity;
  /** Keys the token in return paths and in our own header. */
  readonly returnPathKey: KeyObject;
}

/** Gmail's SenderId (Feedback-ID): 5 to 15 characters, the same for the whole stream. */
const SENDER_ID = "posthaste";

/** When a message whose sender could not be looked up comes back. */
const LOOK_UP_AGAIN_SECONDS = 5;

/**
 * Composes a message, or gives it back and answers null. A look-up that throws (the database is away) says nothing
 * about the message, which comes back soon; content that cannot be composed fails it.
 */
export async function prepare(
  message: LeasedMessage,
  { findIdentity, returnPathKey }: ComposeOptions,
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
    return await compose(message, identity, returnPathKey);
  } catch (error) {
    events.onFault(message, error);
    return null;
  }
}

/** @throws a programmer's error on content that acceptance should have refused */
async function compose(
  message: LeasedMessage,
  { signingKey, returnPathHost }: SenderIdentity,
  returnPathKey: KeyObject,
): Promise<Composed> {
  const token = encodeReturnPath(message.message_id, returnPathKey);
  const recipient = `${message.localpart}@${message.domain}`;
  const content = message.content?.() ?? storedContent(message);
  const { subject } = content;
  const { headers, body, needsSmtpUtf8 } = composeMessage({
    messageId: `${message.message_id}@${domainOf(message.from_email)}`,
    date: message.created_at,
    from: { name: content.fromName, address: message.from_email },
    to: { name: content.toName, address: recipient },
    subject,
    html: content.html ?? htmlFromText(content.text ?? ""),
    text: content.text ?? textFromHtml(content.html ?? ""),
    attachments: content.attachments,
    headers: [
      ...content.headers,
      ["Feedback-ID", feedbackId(message)],
      [messageTokenHeader, token],
      // Platform mail is made by a program: nothing should answer it (RFC 3834 section 5).
      ...(message.source === "platform" ? ([["Auto-Submitted", "auto-generated"]] as const) : []),
    ],
  });
  const signature = signingKey && (await signDkim({ ...signingKey, headers, body, timestamp: new Date() }));
  return {
    subject,
    mailFrom: `${token}@${content.returnPathHost ?? returnPathHost}`,
    rcptTo: recipient,
    message: renderMessage(signature === null ? headers : [["DKIM-Signature", signature], ...headers], body),
    smtpUtf8: needsSmtpUtf8,
  };
}

function storedContent(message: LeasedMessage): MessageContent {
  if (!message.has_content)
    throw new Error("a message has no content: it was kept too short, or nobody gives it");
  return {
    fromName: message.from_name,
    toName: message.to_name,
    subject: message.subject,
    html: message.html,
    text: message.text,
    attachments: (message.attachments ?? []).map(encodedAttachment),
    headers: [],
    returnPathHost: null,
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

/** Names the stream and the customer, never one recipient (mail-practice, section 3). */
function feedbackId({ source, workspace_id, origin_id }: LeasedMessage): string {
  if (source === "campaign" || source === "autoresponder") {
    return `${origin_id?.slice(-8)}:${workspace_id.slice(-8)}:${source}:${SENDER_ID}`;
  }
  const stream = source === "platform" ? "platform" : "transactional";
  return `tx:${workspace_id.slice(-8)}:${stream}:${SENDER_ID}`;
}
