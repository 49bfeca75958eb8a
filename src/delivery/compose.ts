/**
 * From a leased message to the bytes on the wire: headers, body, DKIM signature, envelope. Everything that varies
 * between attempts is absent, so that a retry sends the same Message-ID from the same return path (greylisting knows
 * the triple of client, sender and recipient).
 */
import type { KeyObject } from "node:crypto";
import { type DkimSigning, messageTokenHeader, signDkim } from "../mail/dkim.ts";
import { renderMessage } from "../mail/header.ts";
import { htmlFromText, textFromHtml } from "../mail/html-text.ts";
import { composeMessage } from "../mail/mime.ts";
import { encodeReturnPath } from "../mail/verp.ts";
import type { WorkspaceId } from "../platform/ids.ts";
import type { Transaction } from "./smtp-envelope.ts";
import type { LeasedMessage } from "./store.ts";
import type { TransportEvents } from "./transport.ts";

/** What the engine has to be told about a sender, by nouns it does not know. */
export interface SenderIdentity {
  readonly signingKey: Pick<DkimSigning, "domain" | "selector" | "privateKey"> | null;
  /** Host of the envelope sender. */
  readonly returnPathHost: string;
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
): Promise<Transaction | null> {
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
): Promise<Transaction> {
  const token = encodeReturnPath(message.message_id, returnPathKey);
  const recipient = `${message.localpart}@${message.domain}`;
  const { headers, body, needsSmtpUtf8 } = composeMessage({
    messageId: `${message.message_id}@${domainOf(message.from_email)}`,
    date: message.created_at,
    from: { name: message.from_name, address: message.from_email },
    to: { name: message.to_name, address: recipient },
    subject: message.subject,
    html: message.html ?? htmlFromText(message.text ?? ""),
    text: message.text ?? textFromHtml(message.html ?? ""),
    attachments: (message.attachments ?? []).map((attachment) => ({
      filename: attachment.filename,
      content: Buffer.from(attachment.content, "base64"),
      contentType: attachment.content_type,
      disposition: attachment.disposition,
      contentId: attachment.content_id,
    })),
    headers: [
      ["Feedback-ID", feedbackId(message)],
      [messageTokenHeader, token],
      // Platform mail is made by a program: nothing should answer it (RFC 3834 section 5).
      ...(message.source === "platform" ? ([["Auto-Submitted", "auto-generated"]] as const) : []),
    ],
  });
  const signature = signingKey && (await signDkim({ ...signingKey, headers, body, timestamp: new Date() }));
  return {
    mailFrom: `${token}@${returnPathHost}`,
    rcptTo: recipient,
    message: renderMessage(signature === null ? headers : [["DKIM-Signature", signature], ...headers], body),
    smtpUtf8: needsSmtpUtf8,
  };
}

/** Names the stream and the customer, never one recipient (mail-practice, section 3). */
function feedbackId({ source, workspace_id }: LeasedMessage): string {
  const stream = source === "platform" ? "platform" : "transactional";
  return `tx:${workspace_id.slice(-8)}:${stream}:${SENDER_ID}`;
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf("@") + 1);
}
