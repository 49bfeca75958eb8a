/**
 * Composes the message that SMTP sends from a leased message: its content, its signature, its envelope. Nothing varies between
 * attempts, so that a retry has the same Message-ID, Date and return path (greylisting remembers client, sender and
 * recipient). The Date is that of the first attempt, because a message may wait for days before it, in a paused campaign or a
 * suspended workspace.
 *
 * A small message is assembled at once. The content of a large one is loaded one message of a workspace at a time and assembled
 * in a separate thread, so that it does not block other mail.
 */

import type { KeyObject } from "node:crypto";
import type { ReadyMessage } from "#delivery/message/message.ts";
import type { TransportEvents } from "#delivery/message/transport.ts";
import type { LoadContent, StoredContent } from "#delivery/queue/load-large-content-store.ts";
import { domainOf } from "#mail/address.ts";
import { encodeReturnPath } from "#mail/bounces/verp.ts";
import { messageTokenHeader } from "#mail/dkim/dkim.ts";
import type { HeaderField } from "#mail/message/encode-header.ts";
import { createKeyedLimiter, createLimiter } from "#platform/concurrency.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { PurposeKeys, Secrets } from "#platform/secrets/secrets.ts";
import type { SmtpTransaction } from "#smtp-client/envelope-commands.ts";
import {
  type Assembled,
  assemble,
  type Complete,
  encodedAttachment,
  type Parts,
  type TrackHtml,
  type Tracking,
} from "./assemble-mime.ts";

/** What the engine needs to know about a sender; the identity wing provides it. */
export interface SenderIdentity {
  readonly signingKey: Parts["signingKey"];
  /** Host of the envelope sender. */
  readonly returnPathHost: string;
  /** The tracking domain; without it nothing is tracked. */
  readonly tracking?: Tracking;
}

/** A composed message, with its decoded subject. */
export interface Composed extends SmtpTransaction {
  readonly subject: string;
}

export type FindIdentity = (workspaceId: WorkspaceId, fromDomain: string) => Promise<SenderIdentity>;

export interface ComposeOptions {
  readonly findIdentity: FindIdentity;
  /** The key of the token in return paths and in our own header. */
  readonly returnPathKey: KeyObject;
  /** The address for complaint reports (RFC 9477); null when we receive no mail. */
  readonly complaintAddress?: string | null;
  readonly trackHtml?: TrackHtml;
  /** Loads the content of a large message (ReadyMessage.is_large). */
  readonly loadContent?: LoadContent;
  /** Assembles large messages in a separate thread; without it they are assembled on the event loop. */
  readonly assembleAside?: (mail: Parts | Complete) => Promise<Assembled>;
}

/** The keys of the tokens in return paths and in our own header, for composing and for reading bounces. */
export function returnPathKeys(secrets: Secrets): PurposeKeys {
  return secrets.derive("return paths");
}

/** Gmail's SenderId (Feedback-ID): 5 to 15 characters, the same for the whole stream. */
const SENDER_ID = "posthaste";

/**
 * Messages composed and signed at the same time: enough to keep the signing threads busy. Further messages would only
 * keep their texts in memory while they wait for a thread.
 */
const takeTurn = createLimiter(32);
/** Large messages are loaded and assembled one at a time per workspace. */
const takeTurnOf = createKeyedLimiter<WorkspaceId>(1);

/** The delay before a message is leased again after the look-up of its sender or content failed. */
const LOOK_UP_AGAIN_SECONDS = 5;

/**
 * Composes a message, or ends it and resolves to null. After a failed look-up (the database is unavailable) the message is
 * requeued; if its content cannot be composed, it fails.
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
  // The message may have waited for a long time.
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
    if (stored === undefined) throw new Error("the content of a leased message has been removed");
    const { assembleAside = assemble } = options;
    return await compose(message, stored, identity, options, assembleAside);
  } catch (error) {
    events.onEnd(message, { kind: "unsendable", error });
    return null;
  }
}

/** What composing needs of a message. */
export type ComposableMessage = Omit<
  ReadyMessage,
  | "lease_number"
  | "priority"
  | "attempts"
  | "bytes"
  | "expires_at"
  | "lives_ms"
  | "is_large"
  | "is_stale"
  | "routing_version"
  | "source_ip"
  | keyof StoredContent
>;

/**
 * Also composes the mail that a preview measures.
 * @throws an Error on content that acceptance should have refused
 */
export async function compose(
  message: ComposableMessage,
  stored: StoredContent,
  identity: SenderIdentity,
  options: Pick<ComposeOptions, "returnPathKey" | "complaintAddress" | "trackHtml">,
  assembleWith: (mail: Parts | Complete, trackHtml?: TrackHtml) => Promise<Assembled>,
): Promise<Composed> {
  const token = encodeReturnPath(message.workspace_id, message.message_id, options.returnPathKey);
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

function ourFields(
  message: ComposableMessage,
  token: string,
  complaintAddress: string | null,
): HeaderField[] {
  return [
    ["Feedback-ID", feedbackId(message)],
    [messageTokenHeader, token],
    ...complaintFields(complaintAddress, token),
    // Automatic answers to platform mail are not wanted (RFC 3834 section 5).
    ...(message.source === "platform" ? ([["Auto-Submitted", "auto-generated"]] as const) : []),
  ];
}

/** Asks for complaint reports in the message itself, so that no registration with a provider is needed (RFC 9477). */
function complaintFields(address: string | null, token: string): HeaderField[] {
  if (address === null) return [];
  return [
    ["CFBL-Address", `${address}; report=arf`],
    ["CFBL-Feedback-ID", token],
  ];
}

/**
 * The content, made by the pre-send check or stored, and the host of the envelope sender if that is not the default
 * host.
 */
function partsOf(message: ComposableMessage, stored: StoredContent, { tracking }: SenderIdentity) {
  const given = message.content?.();
  if (given !== undefined) {
    const { returnPathHost, subject, ...rest } = given;
    const own = { tracking: null, showsTextAsHtml: true, addressees: null };
    const mail = { ...rest, ...own, subject, date: dateOf(message) };
    return { mail, subject, returnPathHost };
  }
  if (!message.has_content)
    throw new Error("a message has no content: it was removed too early, or the pre-send check made none");
  const { particulars, subject } = message;
  const { html, text, attachments } = stored;
  return {
    mail: {
      date: dateOf(message),
      fromName: message.from_name,
      toName: message.to_name,
      addressees: particulars?.addressees ?? null,
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

/** The Date field, the same for every attempt. */
function dateOf({ first_attempt_at, created_at }: ComposableMessage): Date {
  return first_attempt_at ?? created_at;
}

/** Names the stream and the customer, never a recipient: Gmail counts complaints by these names. */
function feedbackId({ source, workspace_id, origin_id }: ComposableMessage): string {
  if (source === "campaign" || source === "autoresponder") {
    return `${origin_id?.slice(-8)}:${workspace_id.slice(-8)}:${source}:${SENDER_ID}`;
  }
  const stream = source === "platform" ? "platform" : "transactional";
  return `tx:${workspace_id.slice(-8)}:${stream}:${SENDER_ID}`;
}
