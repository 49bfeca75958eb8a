/** What the log says about the endings of messages: faults at every level, and each outcome at LOG_LEVEL=debug. */
import type { Ending } from "#delivery/message/attempt.ts";
import type { LeasedMessage } from "#delivery/message/message.ts";
import { UnfitValues } from "#delivery/message/presend-decision.ts";
import type { DeliveryResult } from "#delivery/queue/decide-result.ts";
import type { Log } from "#platform/log/log.ts";

/** Logs an ending that a fault of the service or of a template has caused. */
export function logFault(log: Log, { message_id }: LeasedMessage, ending: Ending): void {
  if (ending.kind === "requeue" && ending.cause !== undefined) {
    log.warn({ err: ending.cause, message_id }, "message requeued: a dependency is unavailable");
  } else if (ending.kind === "unsendable" && ending.error instanceof UnfitValues) {
    log.info({ message_id, reason: ending.error.message }, "message failed: its template cannot be filled");
  } else if (ending.kind === "unsendable") {
    log.error({ err: ending.error, message_id }, "message failed: it could not be composed or sent");
  }
}

/**
 * Logs one line for the outcome of a message, and nothing for one that only waits. It names the message, its workspace and the
 * recipient's domain. The address and the words of the reply, which often quote it, are only in the message's timeline.
 */
export function logOutcome(
  log: Log,
  { message_id, workspace_id, domain, source }: LeasedMessage,
  ending: Ending,
  { outcome, hasExpired }: DeliveryResult,
): void {
  if (outcome === null || !log.isLevelEnabled("debug")) return;
  const { status, attempts, mxHost, code, enhancedCode, classification, nextAttemptAt, sourceIp } = outcome;
  const attempt = ending.kind === "attempted" && "mxHost" in ending.attempt ? ending.attempt : null;
  const fields = {
    message_id,
    workspace_id,
    domain,
    source,
    attempt: attempts,
    lane: attempt?.lane,
    host: mxHost,
    source_ip: sourceIp,
    code,
    enhanced_code: enhancedCode,
    category: classification?.category,
    next_attempt_at: nextAttemptAt,
    ms: attempt?.ms === undefined ? null : Math.round(attempt.ms),
  };
  const known = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
  log.debug(Object.fromEntries(known), `message ${hasExpired ? "expired" : status}`);
}
