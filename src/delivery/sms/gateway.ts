/**
 * The interface of SMS gateways: SMPP or HTTP, as SMS_GATEWAY_URL says. The result of a submission is a value, never an
 * exception.
 */

import type { SmsResult } from "#delivery/message/attempt.ts";
import type { SmsContent } from "#delivery/message/message.ts";
import type { WorkspaceId } from "#platform/ids.ts";

export interface ShortMessage extends SmsContent {
  readonly workspaceId: WorkspaceId;
  readonly id: string;
}

export interface SmsGateway {
  /** Identifies the gateway in receipts; the same on every machine. */
  readonly name: string;
  readonly host: string;
  /** Messages that may be under way at the same time. */
  readonly window: number;
  /** Messages started in a second; null without a limit. */
  readonly perSecond: number | null;
  /** True while no message can be sent. */
  readonly isAway: boolean;
  /** Resolves within a minute. `mayStart` is called right before the message is sent. */
  submit(message: ShortMessage, mayStart: () => boolean): Promise<SmsResult>;
  close(): void;
}

/** The final state of a message that a gateway has taken. */
export interface SmsReceipt {
  readonly gateway: string;
  readonly gatewayId: string;
  /** Our message, if the receipt names it (HTTP); null if it must be found by `gatewayId` (SMPP). */
  readonly message: { readonly workspaceId: WorkspaceId; readonly messageId: string } | null;
  readonly status: "delivered" | "failed";
  /** For the timeline of the message. */
  readonly detail: string;
}

/** The wait after a throttled answer that names none. */
const THROTTLED_SECONDS = 60;

/** @param mayRetry false for a permanent refusal */
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
