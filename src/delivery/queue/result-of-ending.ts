/** Maps the ending of a message to its delivery result. */
import type { Ending, SmsAttempt, SmtpAttempt } from "#delivery/message/attempt.ts";
import type { LeasedMessage } from "#delivery/message/message.ts";
import { UnfitValues } from "#delivery/message/presend-decision.ts";
import { OUR_FAULT, unclassified } from "#messages/message/outcome.ts";
import {
  backOff,
  type DeliveryResult,
  deferOrFail,
  endUnsent,
  finish,
  releaseLease,
  requeue,
  resultOfSmtp,
} from "./decide-result.ts";

/** @param random from 0 to 1, for the jitter of waits */
export function resultOf(message: LeasedMessage, ending: Ending, now: Date, random: number): DeliveryResult {
  /** Lengthens a wait by up to a half. */
  const spread = (seconds: number) => seconds * (1 + random / 2);
  switch (ending.kind) {
    case "attempted":
      return resultOfAttempt(message, ending.attempt, now, random);
    case "backoff": {
      const why = resultOfAttempt(message, ending.attempt, now, random);
      return backOff(message, now, why, spread(ending.seconds));
    }
    case "requeue":
      return requeue(message, now, spread(ending.seconds));
    case "hold":
      return requeue(message, now, ending.seconds, ending.sourceIp);
    case "release":
      return releaseLease(message, now, ending.seconds);
    case "end":
      return endUnsent(message, now, ending);
    case "unsendable":
      return resultOfSmtp(message, { result: internalError(ending.error), mxHost: null }, now, random);
  }
}

function resultOfAttempt(
  message: LeasedMessage,
  attempt: SmtpAttempt | SmsAttempt,
  now: Date,
  random: number,
): DeliveryResult {
  return "gateway" in attempt
    ? resultOfSms(message, attempt, now, random)
    : resultOfSmtp(message, attempt, now, random);
}

/**
 * The result for an error of the service, as the message's log shows it. Details of internal errors appear only in the
 * service's log.
 */
function internalError(error: unknown) {
  const reason = error instanceof UnfitValues ? error.message : "internal error";
  return { outcome: "unroutable", status: "failed", enhanced: OUR_FAULT, reason } as const;
}

const unanswered = { ...unclassified, code: null, enhancedCode: null, isAddressFault: false };

/**
 * An SMS that the gateway accepted leaves the queue. Until its delivery receipt arrives it shows as deferred, without a next
 * attempt.
 *
 * @param random from 0 to 1, for the jitter of the retry
 */
export function resultOfSms(
  message: LeasedMessage,
  { result, gateway }: SmsAttempt,
  now: Date,
  random: number,
): DeliveryResult {
  const details = { ...unanswered, mxHost: gateway?.host ?? null, detail: result.reason };
  if (result.outcome === "declined") {
    if (!result.mayRetry) return finish(message, now, { ...details, status: "failed" });
    return deferOrFail(message, now, details, { waitSeconds: result.waitSeconds, random });
  }
  const { receiptId } = result;
  if (receiptId === null || gateway === null)
    return finish(message, now, { ...details, status: "delivered" });
  const taken = finish(message, now, { ...details, status: "deferred" });
  return { ...taken, submission: { gateway: gateway.name, gatewayId: receiptId } };
}
