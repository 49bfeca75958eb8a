/**
 * What carries short messages out of the house: an SMPP connection or an HTTP gateway, as SMS_GATEWAY_URL says. What
 * becomes of a message is a value, never an exception.
 */

import type { SmsResult } from "#delivery/message/attempt.ts";
import type { SmsContent } from "#delivery/message/message.ts";
import type { WorkspaceId } from "#platform/ids.ts";

export interface ShortMessage extends SmsContent {
  readonly workspaceId: WorkspaceId;
  readonly id: string;
}

export interface SmsGateway {
  /** Names whose ids its receipts speak of; the same on every machine. */
  readonly name: string;
  readonly host: string;
  /** Messages that may be under way at once. */
  readonly window: number;
  /** At most so many begin in a second; null for no limit. */
  readonly perSecond: number | null;
  /** Nothing can be sent now. */
  readonly isAway: boolean;
  /** `mayStart` is asked right before the message leaves. Ends within a minute. */
  submit(message: ShortMessage, mayStart: () => boolean): Promise<SmsResult>;
  close(): void;
}

/** Whatever a gateway says at last about a message that it took. */
export interface SmsReceipt {
  readonly gateway: string;
  readonly gatewayId: string;
  /** That of ours, where the gateway was told which it is; else only `gatewayId` leads to it. */
  readonly message: { readonly workspaceId: WorkspaceId; readonly messageId: string } | null;
  readonly status: "delivered" | "failed";
  /** A sentence for the message's timeline. */
  readonly detail: string;
}

/** After which a message is tried again that the gateway had no room for, unless it asks for another wait. */
const THROTTLED_SECONDS = 60;

/** @param mayRetry whether another try may go better */
export const declined = (
  reason: string,
  mayRetry: boolean,
  {
    isThrottled = false,
    waitSeconds = null,
  }: { readonly isThrottled?: boolean; readonly waitSeconds?: number | null } = {},
): Extract<SmsResult, { outcome: "declined" }> => ({
  outcome: "declined",
  mayRetry,
  waitSeconds: waitSeconds ?? (isThrottled ? THROTTLED_SECONDS : null),
  isThrottled,
  reason,
});
