/** Attempts and their results, and the endings by which a transport gives a message back. */
import type { SmtpConversation } from "#messages/message/conversation.ts";
import type { Unroutable } from "#smtp-client/mx.ts";
import type { TransactionResult } from "#smtp-client/outcome.ts";
import type { TlsNote } from "#smtp-client/tls.ts";

export type AttemptResult = TransactionResult | Unroutable;

/** An attempt over SMTP. */
export interface SmtpAttempt {
  readonly result: AttemptResult;
  /** The host that answered, or the last one tried. */
  readonly mxHost: string | null;
  /** Our source address, if known. */
  readonly sourceIp?: string | null;
  /** True when the source address was chosen by routing: the next attempt uses it, too. */
  readonly isSourceChosen?: boolean;
  /** The TLS of the connection; null or missing without a connection. */
  readonly tls?: TlsNote | null;
  /** What was said; null or missing if no host could be looked up, and in capture mode. */
  readonly conversation?: SmtpConversation | null;
  /** The name of the lane; missing if no host could be looked up, and in capture mode. */
  readonly lane?: string;
  /** How long the attempt took, without waiting for a connection; missing without one. */
  readonly ms?: number;
}

export type SmsResult =
  /** The gateway accepted it. With a receipt id a delivery receipt follows; without one none does. */
  | { readonly outcome: "accepted"; readonly receiptId: string | null; readonly reason: string }
  | {
      readonly outcome: "declined";
      readonly mayRetry: boolean;
      /** The wait before the next attempt; null to follow the retry schedule. */
      readonly waitSeconds: number | null;
      /** The gateway throttles us: no message is sent for a while. */
      readonly isThrottled: boolean;
      readonly reason: string;
    }
  /** The connection to the gateway is down. */
  | { readonly outcome: "unreachable"; readonly reason: string; readonly seconds: number }
  /** `mayStart` answered false at the last moment; nothing was submitted. */
  | { readonly outcome: "withdrawn" };

/** An attempt through an SMS gateway. */
export interface SmsAttempt {
  readonly result: Extract<SmsResult, { outcome: "accepted" | "declined" }>;
  /** Null where no gateway is configured. */
  readonly gateway: { readonly name: string; readonly host: string } | null;
}

/** How a transport gives a message back to the delivery worker. Each leased message gets exactly one ending. */
export type Ending =
  /** An attempt has ended, whatever its result. */
  | { readonly kind: "attempted"; readonly attempt: SmtpAttempt | SmsAttempt }
  /**
   * The host is backing off after `attempt` of another message failed. This message was not attempted.
   */
  | { readonly kind: "backoff"; readonly attempt: SmtpAttempt | SmsAttempt; readonly seconds: number }
  /**
   * Back to the queue without an attempt: the lane is full or paused. If a dependency is unavailable, `cause` is its error.
   */
  | { readonly kind: "requeue"; readonly seconds: number; readonly cause?: unknown }
  /** Back to the queue for exactly this time: another machine has the source address, or its daily quota is used up. */
  | { readonly kind: "hold"; readonly seconds: number; readonly sourceIp: string | null }
  /** Back to the queue as it was leased: this worker may not send it now. */
  | { readonly kind: "release"; readonly seconds?: number }
  /** Ended by the pre-send check without an attempt. */
  | { readonly kind: "end"; readonly status: "suppressed" | "cancelled"; readonly detail: string }
  /** The content of the message cannot be composed. The message fails. */
  | { readonly kind: "unsendable"; readonly error: unknown };
