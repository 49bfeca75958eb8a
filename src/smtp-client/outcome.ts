/**
 * The results of an SMTP conversation. A result is a value, never an exception: retry, bounce and throttling logic read
 * all they need from it.
 */
import type { ReplyStage } from "#mail/refusals/classify-reply.ts";

/** The stage at which the conversation ended. */
export type SmtpStage = Exclude<ReplyStage, "report">;

/** The receiver's reply, printable and safe to store. */
export interface SmtpAnswer {
  readonly code: number;
  /** The enhanced status code of RFC 3463, such as "5.1.1". */
  readonly enhanced: string | null;
  /** The lines joined by a blank, without the reply code and the enhanced code. */
  readonly text: string;
}

/** Why a conversation ended without a reply. */
export interface SmtpFault {
  readonly fault: "unreachable" | "timeout" | "closed" | "protocol" | "tls";
  /** One clause for the log and the message's timeline. */
  readonly reason: string;
}

/** The receiver has taken responsibility for the message. */
export interface Accepted extends SmtpAnswer {
  readonly outcome: "accepted";
}

/** The receiver answered 4xx or 5xx, or its extensions show before any command that it cannot take the message. */
export interface SmtpRejection extends SmtpAnswer {
  readonly outcome: "refused";
  readonly stage: SmtpStage;
}

/** A conversation that ended without a reply, and its stage. */
export interface SmtpFailure extends SmtpFault {
  readonly outcome: "broken";
  readonly stage: SmtpStage;
  /** The final dot was sent: the receiver may have the message, so a retry may deliver a second copy. */
  readonly dataSent: boolean;
}

export type TransactionResult = Accepted | SmtpRejection | SmtpFailure;

/** Withdrawn before the final dot: the receiver has no message, and the session has ended. */
export interface Withdrawn {
  readonly outcome: "withdrawn";
}

/** Withdrawn before any of its commands was sent; the session continues. */
export interface NotStarted {
  readonly outcome: "unbegun";
}
