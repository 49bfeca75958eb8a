/**
 * Auto-pause: a campaign with too many hard bounces or complaints harms the reputation of all senders of this installation,
 * so it is paused before it is complete. The default limits are those at which Amazon SES pauses an account. After a resume
 * only the counts since then matter.
 */
import type { Config } from "#platform/config/config.ts";
import type { PauseReason } from "#sending/campaigns/transitions-store.ts";

/** A campaign beyond one of these is paused. */
export interface AutoPauseLimits {
  /** The percentages apply from this many attempts on. */
  readonly attempts: number;
  /** Hard bounces per hundred attempts. */
  readonly bouncePercent: number;
  /** Complaints per hundred attempts. */
  readonly complaintPercent: number;
  /** Failures in a row; they mean that the fault is on our side. */
  readonly failures: number;
}

export const standardLimits: AutoPauseLimits = {
  attempts: 500,
  bouncePercent: 10,
  complaintPercent: 0.5,
  failures: 50,
};

/** The limits from the operator's configuration. */
export const autoPauseLimitsOf = (config: Config): AutoPauseLimits => ({
  attempts: config.BRAKE_ATTEMPTS,
  bouncePercent: config.BRAKE_BOUNCE_PERCENT,
  complaintPercent: config.BRAKE_COMPLAINT_PERCENT,
  failures: config.BRAKE_FAILURES,
});

/** Counts since the last resume, or since the start. */
export interface AutoPauseCounts {
  readonly sent: number;
  readonly hard_bounced: number;
  readonly complained: number;
  readonly failures_in_a_row: number;
}

/** The reason to pause a campaign, or null. */
export function autoPauseReason(
  counts: AutoPauseCounts,
  limits: AutoPauseLimits = standardLimits,
): PauseReason | null {
  if (counts.failures_in_a_row >= limits.failures) return "delivery_failures";
  if (counts.sent < limits.attempts) return null;
  if (counts.hard_bounced * 100 > counts.sent * limits.bouncePercent) return "bounce_rate";
  return counts.complained * 100 > counts.sent * limits.complaintPercent ? "complaint_rate" : null;
}
