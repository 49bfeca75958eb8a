/**
 * What an attempt comes to: how its lease is settled and what the log is told. Pure: reply in, decision out.
 */

import type { LeasedMessage } from "#delivery/message.ts";
import { classifyReply } from "#mail/refusals/smtp-reply.ts";
import { type Classification, type Outcome, unclassified } from "#messages/message/outcome.ts";
import type { Unroutable } from "#smtp-client/mx.ts";
import type { TransactionResult } from "#smtp-client/outcome.ts";
import { quoteAnswer } from "#smtp-client/reply-reader.ts";
import type { TlsNote } from "#smtp-client/tls.ts";
import type { Settlement } from "./queue-result-store.ts";
import { nextAttemptAt } from "./retry.ts";

/** A settled lease with its news; without an outcome the message only waits (its lane was full or cooling down). */
export interface Conclusion {
  readonly settlement: Settlement;
  readonly outcome: Outcome | null;
  /** Of an SMS whose gateway will tell its end: the id it gave. */
  readonly submission?: { readonly gateway: string; readonly gatewayId: string };
}

export type AttemptResult = TransactionResult | Unroutable;

/** What an attempt means for others that want the same way. */
export interface Attempt {
  readonly message: LeasedMessage;
  readonly result: AttemptResult;
  /** Host that answered, or was tried last. */
  readonly mxHost: string | null;
  /** The address of ours it was made from, where that is known. */
  readonly sourceIp?: string | null;
  /** Set where that address was chosen: the next attempt is made from it, too. */
  readonly isSourceChosen?: boolean;
  /** What protected it; null or missing when nobody was spoken to. */
  readonly tls?: TlsNote | null;
}

/** Settles an attempt. `random` is from 0 to 1, for the jitter of the retry. */
export function conclude(attempt: Attempt, now: Date, random: number): Conclusion {
  const { message, result, mxHost, sourceIp = null, isSourceChosen = false, tls = null } = attempt;
  const { status, isAddressFault, classification, ...wait } = judge(result, message, now);
  const { code, enhanced: enhancedCode, text: detail } = replyOf(result);
  const about = { mxHost, code, enhancedCode, isAddressFault, classification, sourceIp, tls };
  const news = { ...unclassified, ...about, detail };
  const nextSourceIp = isSourceChosen ? sourceIp : null;
  if (status === "deferred") return putOff(message, now, news, { ...wait, random, nextSourceIp });
  return finish(message, now, { ...news, status });
}

/** What an attempt has brought. */
type AttemptNews = Omit<
  Outcome,
  keyof ReturnType<typeof identify> | "status" | "time" | "attempts" | "nextAttemptAt"
>;

/** No other attempt is made. A deferred message that is over for us is one whose end somebody else will tell (sms). */
export function finish(
  message: LeasedMessage,
  now: Date,
  news: AttemptNews & { readonly status: "delivered" | "bounced" | "failed" | "deferred" },
  attempts: number = message.attempts + 1,
): Conclusion {
  const isDelivered = news.status === "delivered" || news.status === "deferred";
  return {
    settlement: settlementOf(message, now, attempts, null, isDelivered),
    outcome: { ...identify(message), ...news, attempts, time: now, nextAttemptAt: null },
  };
}

/** It is tried again, or fails when that would be too late. */
export function putOff(
  message: LeasedMessage,
  now: Date,
  news: AttemptNews,
  {
    waitSeconds,
    random,
    nextSourceIp = null,
    isAttempt = true,
  }: {
    readonly waitSeconds: number | null;
    readonly random: number;
    readonly nextSourceIp?: string | null;
    readonly isAttempt?: boolean;
  },
): Conclusion {
  const attempts = message.attempts + (isAttempt ? 1 : 0);
  const next = nextAttemptAt({
    attempts,
    now,
    expiresAt: message.expires_at,
    random,
    ...(waitSeconds !== null && { waitSeconds }),
  });
  if (next === "expired") {
    const detail = `Gave up after ${attempts} attempts: ${news.detail}`;
    return finish(message, now, { ...news, status: "failed", detail }, attempts);
  }
  const outcome = { ...identify(message), ...news, attempts, time: now, nextAttemptAt: next };
  return {
    settlement: {
      ...settlementOf(message, now, attempts, next),
      sourceIp: nextSourceIp,
      firstAttemptAt: message.first_attempt_at,
    },
    outcome: { ...outcome, status: "deferred" },
  };
}

/** Ends a message without an attempt: its recipient was suppressed after it had been accepted, or nobody wants it sent. */
export function drop(
  message: LeasedMessage,
  now: Date,
  { status, detail }: { readonly status: "suppressed" | "cancelled"; readonly detail: string },
): Conclusion {
  const outcome = { ...unattempted(message, now), status, detail, enhancedCode: null };
  return { settlement: settlementOf(message, now, message.attempts, null), outcome };
}

/**
 * Puts a message back without an attempt and without news, because it cannot be sent for some time. One that was tried
 * before and is past its time fails; nobody was asked yet to take another one, however long it waited: it has its try.
 *
 * @param sourceIp where it should leave from
 */
export function postpone(
  message: LeasedMessage,
  now: Date,
  seconds: number,
  sourceIp: string | null = message.source_ip,
): Conclusion {
  const { attempts, expires_at } = message;
  if (attempts === 0) return handBack(message, now, seconds, sourceIp);
  const left = (expires_at.getTime() - now.getTime()) / 1_000;
  if (left > 0) return handBack(message, now, Math.min(seconds, left), sourceIp);
  const detail = `Gave up after ${attempts} attempts: the receiver's lane stayed closed`;
  return {
    settlement: settlementOf(message, now, attempts, null),
    outcome: { ...unattempted(message, now), status: "failed", detail, enhancedCode: "4.4.7" },
  };
}

/**
 * Nobody was asked, because somebody else was in vain. That is no attempt, but a message that was never put off yet has
 * to say why it waits; it says nothing where that would be its end, for it is to have its try.
 *
 * @param why what the other one's failure would come to for this message
 * @param seconds until somebody is asked again
 */
export function turnAway(message: LeasedMessage, now: Date, why: Conclusion, seconds: number): Conclusion {
  const isSaid = message.attempts === 0 && why.settlement.dueAt !== null;
  return isSaid ? why : postpone(message, now, seconds);
}

/** Puts a message back as it was taken: whoever takes it next decides about it. */
export function handBack(
  message: LeasedMessage,
  now: Date,
  seconds = 0,
  sourceIp: string | null = message.source_ip,
): Conclusion {
  const { attempts } = message;
  const dueAt = new Date(now.getTime() + seconds * 1_000);
  const routingVersion = sourceIp === null || attempts > 0 ? null : message.routing_version;
  return {
    settlement: { ...settlementOf(message, now, attempts, dueAt), sourceIp, routingVersion },
    outcome: null,
  };
}

/** What is said of a message without anybody having been asked. */
function unattempted(message: LeasedMessage, now: Date) {
  const { attempts } = message;
  const nothing = { nextAttemptAt: null, mxHost: null, code: null, isAddressFault: false };
  return { ...identify(message), ...unclassified, time: now, attempts, ...nothing };
}

interface Verdict {
  readonly status: "delivered" | "bounced" | "failed" | "deferred";
  readonly waitSeconds: number | null;
  readonly isAddressFault: boolean;
  readonly classification: Classification | null;
  /** False where the fault lies between us and our own DNS servers. */
  readonly isAttempt?: boolean;
}

/** While our DNS servers do not answer, a message waits a quarter of its age, within these bounds. */
const UNANSWERED_SECONDS = { least: 300, most: 3_600 };

/** A domain that does not exist or takes no mail (mx.ts). */
const NO_SUCH_DOMAIN: Classification = { type: "hard", category: "NoEmail" };

function judge(result: AttemptResult, { created_at }: LeasedMessage, now: Date): Verdict {
  const plain = { waitSeconds: null, isAddressFault: false, classification: null };
  switch (result.outcome) {
    case "accepted":
      return { ...plain, status: "delivered" };
    case "broken":
      return { ...plain, status: "deferred" };
    case "unroutable": {
      const { status, isUnanswered, othersAnswered } = result;
      if (isUnanswered && !othersAnswered) {
        const age = (now.getTime() - created_at.getTime()) / 1_000;
        const { least, most } = UNANSWERED_SECONDS;
        const waitSeconds = Math.max(least, Math.min(most, age / 4));
        return { ...plain, status, waitSeconds, isAttempt: false };
      }
      if (status !== "bounced") return { ...plain, status };
      return { ...plain, status, isAddressFault: true, classification: NO_SUCH_DOMAIN };
    }
    case "refused": {
      const {
        retry,
        bounceClass: type,
        category,
        waitSeconds,
        suppress: isAddressFault,
      } = classifyReply(result);
      const classification = type === "ours" ? null : { type, category };
      if (retry) return { status: "deferred", waitSeconds, isAddressFault: false, classification };
      return { ...plain, status: classification ? "bounced" : "failed", isAddressFault, classification };
    }
  }
}

/** RFC 3463: "cryptographic failure". */
const TLS_FAULT = "4.7.5";

function replyOf(result: AttemptResult): { code: number | null; enhanced: string | null; text: string } {
  switch (result.outcome) {
    case "accepted":
    case "refused":
      return { code: result.code, enhanced: result.enhanced, text: quoteAnswer(result) };
    case "unroutable":
      return { code: null, enhanced: result.enhanced, text: result.reason };
    case "broken":
      return {
        code: null,
        enhanced: result.fault === "tls" ? TLS_FAULT : null,
        text: `${result.reason} (at ${result.stage})`,
      };
  }
}

function identify(message: LeasedMessage) {
  return { workspaceId: message.workspace_id, messageId: message.message_id };
}

function settlementOf(
  message: LeasedMessage,
  now: Date,
  attempts: number,
  dueAt: Date | null,
  isDelivered = false,
): Settlement {
  return {
    ...identify(message),
    leaseNumber: message.lease_number,
    attempts,
    dueAt,
    decidedAt: now,
    isDelivered,
  };
}
