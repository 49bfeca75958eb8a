/**
 * The result of a message, with or without an attempt: how its lease is settled, and the outcome that its log shows. Pure
 * functions of the message, the reply and the time.
 */

import type { AttemptResult, SmtpAttempt } from "#delivery/message/attempt.ts";
import type { LeasedMessage } from "#delivery/message/message.ts";
import { replyOf } from "#delivery/message/reply-of-result.ts";
import { classifyReply } from "#mail/refusals/classify-reply.ts";
import { type Classification, type Outcome, unclassified } from "#messages/message/outcome.ts";
import { nextAttemptAt } from "./retry-schedule.ts";
import type { Settlement } from "./settle-leases-store.ts";

/** How a lease is settled, and the outcome for the log. Without an outcome the message only waits. */
export interface DeliveryResult {
  readonly settlement: Settlement;
  readonly outcome: Outcome | null;
  /** Set for an SMS with a delivery receipt to follow: the id that its gateway gave. */
  readonly submission?: { readonly gateway: string; readonly gatewayId: string };
  /** Set for a message that failed because the time for its retries has ended. */
  readonly hasExpired?: true;
}

/** @param random from 0 to 1, for the jitter of the retry */
export function resultOfSmtp(
  message: LeasedMessage,
  attempt: SmtpAttempt,
  now: Date,
  random: number,
): DeliveryResult {
  const {
    result,
    mxHost,
    sourceIp = null,
    isSourceChosen = false,
    tls = null,
    conversation = null,
  } = attempt;
  const { status, isAddressFault, classification, ...wait } = statusOf(result, message, now);
  const { code, enhanced: enhancedCode, text: detail } = replyOf(result);
  const about = { mxHost, code, enhancedCode, isAddressFault, classification, sourceIp, tls, conversation };
  const details = { ...unclassified, ...about, detail };
  const nextSourceIp = isSourceChosen ? sourceIp : null;
  if (status === "deferred") return deferOrFail(message, now, details, { ...wait, random, nextSourceIp });
  return finish(message, now, { ...details, status });
}

/** The parts of an outcome that an attempt determines. */
type AttemptDetails = Omit<
  Outcome,
  keyof ReturnType<typeof identify> | "status" | "time" | "attempts" | "nextAttemptAt"
>;

/** No further attempt is made. `deferred` is for an SMS that its gateway accepted: a delivery receipt ends it. */
export function finish(
  message: LeasedMessage,
  now: Date,
  details: AttemptDetails & { readonly status: "delivered" | "bounced" | "failed" | "deferred" },
  attempts: number = message.attempts + 1,
): DeliveryResult {
  const isDelivered = details.status === "delivered" || details.status === "deferred";
  return {
    settlement: settlementOf(message, now, attempts, null, isDelivered),
    outcome: { ...identify(message), ...details, attempts, time: now, nextAttemptAt: null },
  };
}

/** The message is attempted again, or fails where it expires before that. */
export function deferOrFail(
  message: LeasedMessage,
  now: Date,
  details: AttemptDetails,
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
): DeliveryResult {
  const attempts = message.attempts + (isAttempt ? 1 : 0);
  const next = nextAttemptAt({
    attempts,
    now,
    expiresAt: message.expires_at,
    random,
    ...(waitSeconds !== null && { waitSeconds }),
  });
  if (next === "expired") {
    const detail = `Gave up after ${attempts} attempts: ${details.detail}`;
    return { ...finish(message, now, { ...details, status: "failed", detail }, attempts), hasExpired: true };
  }
  const outcome = { ...identify(message), ...details, attempts, time: now, nextAttemptAt: next };
  return {
    settlement: {
      ...settlementOf(message, now, attempts, next),
      sourceIp: nextSourceIp,
      firstAttemptAt: message.first_attempt_at,
    },
    outcome: { ...outcome, status: "deferred" },
  };
}

/** Ends a message without an attempt: its recipient is suppressed by now, or its campaign was cancelled. */
export function endUnsent(
  message: LeasedMessage,
  now: Date,
  { status, detail }: { readonly status: "suppressed" | "cancelled"; readonly detail: string },
): DeliveryResult {
  const outcome = { ...unattempted(message, now), status, detail, enhancedCode: null };
  return { settlement: settlementOf(message, now, message.attempts, null), outcome };
}

/**
 * Back to the queue without an attempt. A message that has been attempted and has expired fails; one that was never
 * attempted is kept, however old: every message gets at least one attempt.
 *
 * @param sourceIp the source address it should leave from
 */
export function requeue(
  message: LeasedMessage,
  now: Date,
  seconds: number,
  sourceIp: string | null = message.source_ip,
): DeliveryResult {
  const { attempts, expires_at } = message;
  if (attempts === 0) return releaseLease(message, now, seconds, sourceIp);
  const left = (expires_at.getTime() - now.getTime()) / 1_000;
  if (left > 0) return releaseLease(message, now, Math.min(seconds, left), sourceIp);
  const detail = `Gave up after ${attempts} attempts: the receiver's lane stayed paused`;
  return {
    settlement: settlementOf(message, now, attempts, null),
    outcome: { ...unattempted(message, now), status: "failed", detail, enhancedCode: "4.4.7" },
    hasExpired: true,
  };
}

/**
 * Back to the queue without an attempt, because the host failed for another message. No event is recorded if it was
 * deferred before or has expired; an expired message still gets one attempt.
 *
 * @param why the result that the other message's failure would give this message
 * @param seconds until the host is asked again
 */
export function backOff(
  message: LeasedMessage,
  now: Date,
  why: DeliveryResult,
  seconds: number,
): DeliveryResult {
  const hasEvent = message.attempts === 0 && why.settlement.dueAt !== null;
  return hasEvent ? why : requeue(message, now, seconds);
}

/** Back to the queue as it was leased. */
export function releaseLease(
  message: LeasedMessage,
  now: Date,
  seconds = 0,
  sourceIp: string | null = message.source_ip,
): DeliveryResult {
  const { attempts } = message;
  const dueAt = new Date(now.getTime() + seconds * 1_000);
  const routingVersion = sourceIp === null || attempts > 0 ? null : message.routing_version;
  return {
    settlement: { ...settlementOf(message, now, attempts, dueAt), sourceIp, routingVersion },
    outcome: null,
  };
}

/** The outcome of a message that was not attempted. */
function unattempted(message: LeasedMessage, now: Date) {
  const { attempts } = message;
  const nothing = { nextAttemptAt: null, mxHost: null, code: null, isAddressFault: false };
  return { ...identify(message), ...unclassified, time: now, attempts, ...nothing };
}

interface AttemptStatus {
  readonly status: "delivered" | "bounced" | "failed" | "deferred";
  readonly waitSeconds: number | null;
  readonly isAddressFault: boolean;
  readonly classification: Classification | null;
  /** False when our own DNS servers did not answer. */
  readonly isAttempt?: boolean;
}

/** When our DNS servers do not answer, a message waits a quarter of its age, within these bounds. */
const UNANSWERED_SECONDS = { least: 300, most: 3_600 };

/** A domain that does not exist or takes no mail (mx.ts). */
const NO_SUCH_DOMAIN: Classification = { type: "hard", category: "NoEmail" };

function statusOf(result: AttemptResult, { created_at }: LeasedMessage, now: Date): AttemptStatus {
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
