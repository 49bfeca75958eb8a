/** What comes of trying to hand a message over, and how a message comes back from a transport. */
import type { Unroutable } from "#smtp-client/mx.ts";
import type { TransactionResult } from "#smtp-client/outcome.ts";
import type { TlsNote } from "#smtp-client/tls.ts";

export type AttemptResult = TransactionResult | Unroutable;

/** An attempt over SMTP. */
export interface SmtpAttempt {
  readonly result: AttemptResult;
  /** Host that answered, or was tried last. */
  readonly mxHost: string | null;
  /** Our source address, where it is known. */
  readonly sourceIp?: string | null;
  /** True where the source address was chosen: the next attempt leaves from it, too. */
  readonly isSourceChosen?: boolean;
  /** What protected the connection; null or missing when there was none. */
  readonly tls?: TlsNote | null;
}

export type SmsResult =
  /** The gateway accepted it. With a receipt id a delivery receipt follows; without one none does. */
  | { readonly outcome: "taken"; readonly receiptId: string | null; readonly reason: string }
  | {
      readonly outcome: "declined";
      readonly mayRetry: boolean;
      /** Until the next attempt; null: by the retry schedule. */
      readonly waitSeconds: number | null;
      /** The gateway throttles us: all messages have to slow down. */
      readonly isThrottled: boolean;
      readonly reason: string;
    }
  /** The connection to the gateway is down. */
  | { readonly outcome: "away"; readonly reason: string; readonly seconds: number }
  /** `mayStart` answered false at the last moment; nothing was submitted. */
  | { readonly outcome: "withdrawn" };

/** An attempt through an SMS gateway. */
export interface SmsAttempt {
  readonly result: Extract<SmsResult, { outcome: "taken" | "declined" }>;
  /** Null where no gateway is configured. */
  readonly gateway: { readonly name: string; readonly host: string } | null;
}

/** How a message comes back to the delivery worker. Exactly one ending follows each lease. */
export type Ending =
  /** An attempt has ended, whatever its result. */
  | { readonly kind: "attempted"; readonly attempt: SmtpAttempt | SmsAttempt }
  /**
   * The host failed for another message (`attempt`) and is not asked again for some seconds. This message was not
   * attempted.
   */
  | { readonly kind: "backoff"; readonly attempt: SmtpAttempt | SmsAttempt; readonly seconds: number }
  /**
   * Back to the queue without an attempt: the lane is full or paused, or a dependency is unavailable, and then `cause`
   * is what was thrown.
   */
  | { readonly kind: "requeue"; readonly seconds: number; readonly cause?: unknown }
  /** Back to the queue for exactly that long: another machine has the source address, or its quota is used up today. */
  | { readonly kind: "hold"; readonly seconds: number; readonly sourceIp: string | null }
  /** Back as it was leased: this worker may not send it now. The next lease decides. */
  | { readonly kind: "release"; readonly seconds?: number }
  /** The pre-send check ended it without an attempt. */
  | { readonly kind: "end"; readonly status: "suppressed" | "cancelled"; readonly detail: string }
  /** Its content cannot be composed. The message fails. */
  | { readonly kind: "unsendable"; readonly error: unknown };
