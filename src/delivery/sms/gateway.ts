/**
 * What carries short messages out of the house: an SMPP connection or an HTTP gateway, as SMS_GATEWAY_URL says. What
 * becomes of a message is a value, never an exception.
 */
import type { WorkspaceId } from "#platform/ids.ts";

/** The text of a short message and the number it goes to. */
export interface SmsContent {
  /** E.164, with its plus sign. */
  readonly to: string;
  readonly text: string;
}

export interface ShortMessage extends SmsContent {
  readonly workspaceId: WorkspaceId;
  readonly id: string;
}

export type SmsResult =
  /** The gateway has it. With a receipt id it will tell what became of it; without one there is nothing to wait for. */
  | { readonly outcome: "taken"; readonly receiptId: string | null; readonly reason: string }
  | {
      readonly outcome: "declined";
      readonly mayRetry: boolean;
      /** Until it is tried again; null: as the schedule has it. */
      readonly waitSeconds: number | null;
      /** It takes too much from us: everything has to slow down. */
      readonly isThrottled: boolean;
      readonly reason: string;
    }
  /** Nobody was asked: the connection is down. */
  | { readonly outcome: "away"; readonly reason: string; readonly seconds: number }
  /** `mayStart` said no at the last moment; the gateway has nothing. */
  | { readonly outcome: "withdrawn" };

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
