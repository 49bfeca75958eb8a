/**
 * One line in the log for the outcome of each message, at LOG_LEVEL=debug. It names the message, its workspace and the
 * recipient's domain. The address and the words of the reply, which often quote it, are only in the message's timeline.
 */
import type { Ending } from "#delivery/message/attempt.ts";
import type { LeasedMessage } from "#delivery/message/message.ts";
import type { DeliveryResult } from "#delivery/queue/decide-result.ts";
import type { Log } from "#platform/log/log.ts";

/** Logs nothing for a message that only waits. */
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
