/** Outcomes of messages: the argument of record-outcomes.ts, and the changed messages that it reports. */

import type { BounceCategory, BounceClass } from "#mail/refusals/reply-codes.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { TlsNote } from "#smtp-client/tls.ts";
import type { SmtpConversation } from "./conversation.ts";
import type { EmailDetails } from "./email-details.ts";
import type { MessageSource, MessageStatus, OutcomeStatus } from "./status.ts";

/** Bounce type and category of a rejection. Our own errors have none: they fail and do not bounce. */
export interface Classification {
  readonly type: Exclude<BounceClass, "ours">;
  readonly category: BounceCategory;
}

/** Details of a complaint, from its report (RFC 5965). */
export interface ComplaintDetails {
  /** "abuse", "fraud", ...; at most 100 characters are kept, here and below. */
  readonly feedbackType: string;
  /** The sender of the report; null when unknown. */
  readonly provider: string | null;
}

export interface Outcome {
  readonly workspaceId: WorkspaceId;
  readonly messageId: string;
  readonly status: OutcomeStatus;
  readonly time: Date;
  /** Attempts made so far; null when the outcome is not the result of an attempt. */
  readonly attempts: number | null;
  /** The next attempt of a deferred message. */
  readonly nextAttemptAt: Date | null;
  /** The remote reply, or why the service gave up; at most 500 characters are kept. */
  readonly detail: string;
  readonly mxHost: string | null;
  /** SMTP reply code and enhanced code (RFC 3463) of the deciding reply. */
  readonly code: number | null;
  readonly enhancedCode: string | null;
  /** The recipient's address is invalid and must be suppressed. */
  readonly isAddressFault: boolean;
  /** Set for rejections whose reply was classified. */
  readonly classification: Classification | null;
  /** Set for complaints whose report says it. */
  readonly complaint: ComplaintDetails | null;
  /** Our source address of the attempt; null when unknown, or without an attempt. */
  readonly sourceIp: string | null;
  /** Null without a connection. */
  readonly tls: TlsNote | null;
  /** The SMTP conversation of the attempt; null or missing without one. */
  readonly conversation?: SmtpConversation | null;
}

/**
 * RFC 3463: "other or undefined mail system status". Without a reply code it marks an error of our own: the mail could
 * not be composed, or a program error ended it. Usage charged for such a mail is refunded.
 */
export const OUR_FAULT = "5.3.0";

/** For outcomes without these details. */
export const unclassified = {
  classification: null,
  complaint: null,
  sourceIp: null,
  tls: null,
} as const;

/** The outcome of a waiting message that is not sent any more. @param detail why, for its timeline */
export function cancellation(
  { workspaceId, messageId }: Pick<Outcome, "workspaceId" | "messageId">,
  time: Date,
  detail: string,
): Outcome {
  return {
    ...unclassified,
    workspaceId,
    messageId,
    status: "cancelled",
    time,
    attempts: null,
    nextAttemptAt: null,
    detail,
    mxHost: null,
    code: null,
    enhancedCode: null,
    isAddressFault: false,
  };
}

/** A message whose status an outcome has changed. */
export interface MovedMessage {
  readonly workspaceId: WorkspaceId;
  readonly messageId: string;
  readonly source: MessageSource;
  /** Id of the campaign, API key or other origin. */
  readonly originId: string | null;
  readonly originName: string;
  readonly fromEmail: string;
  /** For an SMS, localpart and domain are those of the recipient's email address. */
  readonly isSms: boolean;
  /** Of mail of POST /emails. */
  readonly emailDetails?: EmailDetails | null;
  /** The local part as the envelope recipient has it. */
  readonly localpart: string;
  readonly domain: string;
  readonly from: MessageStatus;
  readonly status: OutcomeStatus;
  readonly time: Date;
  /** Attempts made so far. */
  readonly attempts: number;
  /** The next attempt of a deferred message. */
  readonly nextAttemptAt: Date | null;
  /** The remote reply, or why the service gave up, as far as it is kept. */
  readonly detail: string;
  /** SMTP reply code and enhanced code (RFC 3463) of the deciding reply. */
  readonly code: number | null;
  readonly enhancedCode: string | null;
  readonly isAddressFault: boolean;
  /** The failing mailbox was the target of a forward, which says nothing about the recipient's own mailbox. */
  readonly isForward?: true;
  /** Set for every bounce. */
  readonly classification: Classification | null;
  /** Set for every complaint. */
  readonly complaint: ComplaintDetails | null;
  /** Our source address of the last attempt; null without one, or when unknown. */
  readonly sourceIp: string | null;
}

/** Called with the changed messages, in the transaction that records the outcomes. */
export type OnMoved = (tx: Queryable, moved: readonly MovedMessage[]) => Promise<void>;

/** A message whose outcome suppresses its recipient: the address does not exist, or its owner complained. */
export type SuppressingMessage = MovedMessage & { readonly status: "bounced" | "complained" };

export function suppressingAmong(moved: readonly MovedMessage[]): SuppressingMessage[] {
  return moved.filter(
    (message): message is SuppressingMessage =>
      message.status === "complained" || (message.status === "bounced" && message.isAddressFault),
  );
}
