/** News of one message, on its way to the door. */

import type { BounceCategory, BounceClass } from "#mail/refusals/reply-codes.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { TlsNote } from "#smtp-client/tls.ts";
import type { MessageSource, MessageStatus, OutcomeStatus } from "./status.ts";

/** What a refusal was about. Our own faults are none: they fail and do not bounce. */
export interface Classification {
  readonly type: Exclude<BounceClass, "ours">;
  readonly category: BounceCategory;
}

/** What a complaint said of itself (RFC 5965). */
export interface ComplaintDetails {
  /** "abuse", "fraud", ...; at most 100 characters are kept, here and below. */
  readonly feedbackType: string;
  /** Who sent the report; null when unknown. */
  readonly provider: string | null;
}

export interface Outcome {
  readonly workspaceId: WorkspaceId;
  readonly messageId: string;
  readonly status: OutcomeStatus;
  readonly time: Date;
  /** SMTP attempts made so far; null for news that no attempt of ours brought. */
  readonly attempts: number | null;
  /** While deferred: when it is tried again. */
  readonly nextAttemptAt: Date | null;
  /** What the other side said, or why we gave up; at most 500 characters are kept. */
  readonly detail: string;
  readonly mxHost: string | null;
  /** SMTP reply code and enhanced code (RFC 3463) of the deciding reply. */
  readonly code: number | null;
  readonly enhancedCode: string | null;
  /** The address itself is at fault, and must not be written to again. */
  readonly isAddressFault: boolean;
  /** Of a refusal, where it was judged. */
  readonly classification: Classification | null;
  /** Of `complained`, where a report said it. */
  readonly complaint: ComplaintDetails | null;
  /** The address of ours that the attempt was made from; null when unknown, or when no attempt brought the news. */
  readonly sourceIp: string | null;
  /** Null when nobody was spoken to. */
  readonly tls: TlsNote | null;
}

/**
 * RFC 3463: "other or undefined mail system status". Without a reply code beside it, it is our own word for a fault of
 * ours: the mail could not be composed, or a program error ended it. What was taken for such a mail is given back.
 */
export const OUR_FAULT = "5.3.0";

/** For news that says nothing of these. */
export const unclassified = {
  classification: null,
  complaint: null,
  sourceIp: null,
  tls: null,
} as const;

/** A message that an outcome has moved from one status to another. */
export interface MovedMessage {
  readonly workspaceId: WorkspaceId;
  readonly messageId: string;
  readonly source: MessageSource;
  /** What it came from: the campaign, the API key. */
  readonly originId: string | null;
  readonly originName: string;
  readonly fromEmail: string;
  /** Of an SMS the envelope is that of its person's email. */
  readonly isSms: boolean;
  /** As on the envelope. */
  readonly localpart: string;
  readonly domain: string;
  readonly from: MessageStatus;
  readonly status: OutcomeStatus;
  readonly time: Date;
  /** SMTP attempts made so far. */
  readonly attempts: number;
  /** While deferred. */
  readonly nextAttemptAt: Date | null;
  /** What the other side said, or why we gave up: as much of it as is kept. */
  readonly detail: string;
  /** SMTP reply code and enhanced code (RFC 3463) of the deciding reply. */
  readonly code: number | null;
  readonly enhancedCode: string | null;
  readonly isAddressFault: boolean;
  /** It was forwarded, and the mailbox it was forwarded to failed: that says nothing of the recipient's own. */
  readonly isForward?: true;
  /** Of every bounce. */
  readonly classification: Classification | null;
  /** Of every complaint. */
  readonly complaint: ComplaintDetails | null;
  /** The address of ours that its last attempt was made from; null while there was none, or where that is unknown. */
  readonly sourceIp: string | null;
}

/** What the rest of the house does about them, in the transaction that records the outcomes. */
export type OnMoved = (tx: Queryable, moved: readonly MovedMessage[]) => Promise<void>;

/** A message whose recipient must not be written to again: the address does not exist, or its owner complained. */
export type SuppressingMessage = MovedMessage & { readonly status: "bounced" | "complained" };

export function suppressingAmong(moved: readonly MovedMessage[]): SuppressingMessage[] {
  return moved.filter(
    (message): message is SuppressingMessage =>
      message.status === "complained" || (message.status === "bounced" && message.isAddressFault),
  );
}
