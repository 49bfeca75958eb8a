/**
 * What an SMTP conversation can come to. A delivery result is a value, never an exception: whoever retries, bounces
 * or slows a lane reads one of these and has everything that was learned.
 */
import type { ReplyStage } from "#mail/refusals/classify-reply.ts";

/** How far the conversation had got. */
export type SmtpStage = Exclude<ReplyStage, "report">;

/** What the receiver said, printable and safe to store. */
export interface SmtpAnswer {
  readonly code: number;
  /** The enhanced status code of RFC 3463, such as "5.1.1". */
  readonly enhanced: string | null;
  /** The lines joined by a blank, without the two codes. */
  readonly text: string;
}

/** Why a conversation ended without an answer. */
export interface SmtpFault {
  readonly fault: "unreachable" | "timeout" | "closed" | "protocol" | "tls";
  /** One clause for the log and the message's timeline. */
  readonly reason: string;
}

/** The receiver has taken the responsibility for the message. */
export interface Accepted extends SmtpAnswer {
  readonly outcome: "accepted";
}

/** The receiver (or, before anything was sent, our reading of what it offers) said no with a 4xx or 5xx. */
export interface SmtpRejection extends SmtpAnswer {
  readonly outcome: "refused";
  readonly stage: SmtpStage;
}

export interface SmtpFailure extends SmtpFault {
  readonly outcome: "broken";
  readonly stage: SmtpStage;
  /** The final dot had left: the receiver may have the message, so a retry may make a second copy. */
  readonly dataSent: boolean;
}

export type TransactionResult = Accepted | SmtpRejection | SmtpFailure;

/** Taken back before the final dot, so that the receiver has nothing; the session is over. */
export interface Withdrawn {
  readonly outcome: "withdrawn";
}

/** Taken back before anything of it was said; the session goes on. */
export interface NotStarted {
  readonly outcome: "unbegun";
}
