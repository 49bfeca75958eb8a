/**
 * From a leased message to what SMTP sends: what the message is made of, who signs it, its envelope. Everything that
 * varies between attempts is absent, so that a retry sends the same Message-ID and Date from the same return path
 * (greylisting knows the triple of client, sender and recipient). The Date is that of the first attempt: mail may wait
 * here for days before it, in a paused campaign or a suspended workspace.
 *
 * A small message is assembled at once. The content of a large one is loaded when its turn comes, one message of a
 * workspace at a time, and assembled in a thread beside the event loop: so no text stops the mail of others.
 */

import type { KeyObject } from "node:crypto";
import type { ReadyMessage } from "#delivery/message/message.ts";
import type { TransportEvents } from "#delivery/message/transport.ts";
import type { LoadContent, StoredContent } from "#delivery/queue/content-store.ts";
import { domainOf } from "#mail/address.ts";
import { encodeReturnPath } from "#mail/bounces/verp.ts";
import { messageTokenHeader } from "#mail/dkim/dkim.ts";
import type { HeaderField } from "#mail/message/header.ts";
import { createKeyedLimiter, createLimiter } from "#platform/concurrency.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { SmtpTransaction } from "#smtp-client/envelope.ts";
import {
  type Assembled,
  assemble,
  type Complete,
  encodedAttachment,
  type Parts,
  type TrackHtml,
  type Tracking,
} from "./assemble.ts";

/** What the engine has to be told about a sender, by nouns it does not know. */
export interface SenderIdentity {
  readonly signingKey: Parts["signingKey"];
  /** Host of the envelope sender. */
  readonly returnPathHost: string;
  /** Where the links of tracked mail lead; without it nothing is tracked. */
  readonly tracking?: Tracking;
}

/** A message ready to be sent, with the subject that its reader sees. */
export interface Composed extends SmtpTransaction {
  readonly subject: string;
}

export type FindIdentity = (workspaceId: WorkspaceId, fromDomain: string) => Promise<SenderIdentity>;

export interface ComposeOptions {
  readonly findIdentity: FindIdentity;
  /** Keys the token in return paths and in our own header. */
  readonly returnPathKey: KeyObject;
  /** Where complaints may be sent (RFC 9477); null when we receive no mail. */
  readonly complaintAddress?: string | null;
  readonly trackHtml?: TrackHtml;
  /** Loads the content of a large message (ReadyMessage.is_large). */
  readonly loadContent?: LoadContent;
  /** Assembles large messages beside the event loop; without it they are assembled on it. */
  readonly assembleAside?: (mail: Parts | Complete) => Promise<Assembled>;
}

/** Gmail's SenderId (Feedback-ID): 5 to 15 characters, the same for the whole stream. */
const SENDER_ID = "posthaste";

/**
 * Messages that are being composed and signed at a time: more than one event loop keeps busy. The others would only wait
 * for a signing thread with all their texts in memory.
 */
const takeTurn = createLimiter(32);
/** Large messages of one workspace, of which one at a time is loaded and assembled: the next is another workspace's. */
const takeTurnOf = createKeyedLimiter<WorkspaceId>(1);

/** When a message whose sender or content could not be looked up comes back. */
const LOOK_UP_AGAIN_SECONDS = 5;

/**
 * Composes a message, or gives it back and answers null. A look-up that throws (the database is away) says nothing
 * about the message, which comes back soon; content that cannot be composed fails it.
 */
export async function prepare(
  message: ReadyMessage,
  options: ComposeOptions,
  events: TransportEvents,
): Promise<Composed | null> {
  let identity: SenderIdentity;
  try {
    identity = await options.findIdentity(message.workspace_id, domainOf(message.from_email));
  } catch (cause) {
    events.onEnd(message, { kind: "requeue", seconds: LOOK_UP_AGAIN_SECONDS, cause });
    return null;
  }
  if (message.is_large) {
    return takeTurnOf(message.workspace_id, () => prepareLarge(message, identity, options, events));
  }
  try {
    return await takeTurn(() => compose(message, message, identity, options, assemble));
  } catch (error) {
    events.onEnd(message, { kind: "unsendable", error });
    return null;
  }
}

async function prepareLarge(
  message: ReadyMessage,
  identity: SenderIdentity,
  options: ComposeOptions,
  events: TransportEvents,
): Promise<Composed | null> {
  // It may have waited for long.
  if (!events.mayStart(message)) {
    events.onEnd(message, { kind: "release" });
    return null;
  }
  let stored: StoredContent | undefined = message;
  try {
    if (message.has_content && options.loadContent) stored = await options.loadContent(message);
  } catch (cause) {
    events.onEnd(message, { kind: "requeue", seconds: LOOK_UP_AGAIN_SECONDS, cause });
    return null;
  }
  try {
    if (stored === undefined) throw new Error("the content of a leased message was removed");
    const { assembleAside = assemble } = options;
    return await compose(message, stored, identity, options, assembleAside);
  } catch (error) {
    events.onEnd(message, { kind: "unsendable", error });
    return null;
  }
}

/** @throws a programmer's error on content that acceptance should have refused */
async function compose(
  message: ReadyMessage,
  stored: StoredContent,
  identity: SenderIdentity,
  options: ComposeOptions,
  assembleWith: (mail: Parts | Complete, trackHtml?: TrackHtml) => Promise<Assembled>,
): Promise<Composed> {
  const token = encodeReturnPath(message.message_id, options.returnPathKey);
  const recipient = `${message.localpart}@${message.domain}`;
  const envelope = {
    workspaceId: message.workspace_id,
    messageId: message.message_id,
    fromEmail: message.from_email,
    recipient,
    ours: ourFields(message, token, options.complaintAddress ?? null),
    signingKey: identity.signingKey,
  };
  const { mail, subject, returnPathHost } =
    stored.raw === null
      ? partsOf(message, stored, identity)
      : { mail: { raw: stored.raw }, subject: message.subject, returnPathHost: null };
  const assembled = await assembleWith({ ...envelope, ...mail }, options.trackHtml);
  return {
    subject,
    mailFrom: `${token}@${returnPathHost ?? identity.returnPathHost}`,
    rcptTo: recipient,
    ...assembled,
  };
}

function ourFields(message: ReadyMessage, token: string, complaintAddress: string | null): HeaderField[] {
  return [
    ["Feedback-ID", feedbackId(message)],
    [messageTokenHeader, token],
    ...complaintFields(complaintAddress, token),
    // Platform mail is made by a program: nothing should answer it (RFC 3834 section 5).
    ...(message.source === "platform" ? ([["Auto-Submitted", "auto-generated"]] as const) : []),
  ];
}

/** Whoever asks for complaints this way gets them signed for: a provider need not know us. */
function complaintFields(address: string | null, token: string): HeaderField[] {
  if (address === null) return [];
  return [
    ["CFBL-Address", `${address}; report=arf`],
    ["CFBL-Feedback-ID", token],
  ];
}

/** What the message says, of its own content or of what examination gave, with its host of the envelope sender. */
function partsOf(message: ReadyMessage, stored: StoredContent, { tracking }: SenderIdentity) {
  const given = message.content?.();
  if (given !== undefined) {
    const { returnPathHost, subject, ...rest } = given;
    const mail = { ...rest, subject, date: dateOf(message), tracking: null, showsTextAsHtml: true };
    return { mail, subject, returnPathHost };
  }
  if (!message.has_content)
    throw new Error("a message has no content: it was kept too short, or nobody gives it");
  const { particulars, subject } = message;
  const { html, text, attachments } = stored;
  return {
    mail: {
      date: dateOf(message),
      fromName: message.from_name,
      toName: message.to_name,
      subject,
      html,
      text,
      showsTextAsHtml: false,
      attachments: typeof attachments === "string" ? attachments : (attachments ?? []).map(encodedAttachment),
      headers: particulars?.headers ?? [],
      tracking: particulars?.is_tracked ? (tracking ?? null) : null,
    },
    subject,
    returnPathHost: particulars?.return_path_host ?? null,
  };
}

/** The Date of every attempt. */
function dateOf({ first_attempt_at, created_at }: ReadyMessage): Date {
  return first_attempt_at ?? created_at;
}

/** Names the stream and the customer, never one recipient (mail-practice, section 3). */
function feedbackId({ source, workspace_id, origin_id }: ReadyMessage): string {
  if (source === "campaign" || source === "autoresponder") {
    return `${origin_id?.slice(-8)}:${workspace_id.slice(-8)}:${source}:${SENDER_ID}`;
  }
  const stream = source === "platform" ? "platform" : "transactional";
  return `tx:${workspace_id.slice(-8)}:${stream}:${SENDER_ID}`;
}
