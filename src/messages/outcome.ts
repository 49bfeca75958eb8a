/** News of one message, on its way to the door. */
import type { Queryable } from "../platform/database/pool.ts";
import type { WorkspaceId } from "../platform/ids.ts";
import type { MessageSource, MessageStatus, OutcomeStatus } from "./states.ts";

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
}

/** A message that an outcome has moved from one status to another. */
export interface MovedMessage {
  readonly workspaceId: WorkspaceId;
  readonly messageId: string;
  readonly source: MessageSource;
  /** What it came from: the campaign, the API key. */
  readonly originId: string | null;
  /** As on the envelope. */
  readonly localpart: string;
  readonly domain: string;
  readonly from: MessageStatus;
  readonly status: OutcomeStatus;
  readonly time: Date;
  readonly isAddressFault: boolean;
}

/** What the rest of the house does about them, in the transaction that records the outcomes. */
export type OnMoved = (tx: Queryable, moved: readonly MovedMessage[]) => Promise<void>;

/** A message whose recipient must not be written to again: the address does not exist, or its owner complained. */
export type LostMessage = MovedMessage & { readonly status: "bounced" | "complained" };

export function lostAmong(moved: readonly MovedMessage[]): LostMessage[] {
  return moved.filter(
    (message): message is LostMessage =>
      message.status === "complained" || (message.status === "bounced" && message.isAddressFault),
  );
}
