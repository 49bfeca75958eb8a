/**
 * The automatic brake (decisions, section 8 row 14): a campaign that too many receivers refuse, or too many people complain
 * about, harms everybody who sends from here, and stops before it is through. The standard limits are those at
 * which Amazon SES pauses an account. Somebody who resumes it has looked; then it is judged by what follows.
 */
import type { Config } from "#platform/config/config.ts";
import type { PauseReason } from "#sending/campaigns/transitions-store.ts";

/** Beyond which a campaign is stopped. */
export interface AutoPauseLimits {
  /** Attempts from which on a share says something. */
  readonly attempts: number;
  /** Hard bounces in a hundred attempts. */
  readonly bouncePercent: number;
  /** Complaints in a hundred attempts. */
  readonly complaintPercent: number;
  /** Without anything going well in between, the fault is ours. */
  readonly failures: number;
}

export const standardLimits: AutoPauseLimits = {
  attempts: 500,
  bouncePercent: 10,
  complaintPercent: 0.5,
  failures: 50,
};

/** As the operator has set them. */
export const autoPauseLimitsOf = (config: Config): AutoPauseLimits => ({
  attempts: config.BRAKE_ATTEMPTS,
  bouncePercent: config.BRAKE_BOUNCE_PERCENT,
  complaintPercent: config.BRAKE_COMPLAINT_PERCENT,
  failures: config.BRAKE_FAILURES,
});

/** Counted since the last resume, or from the beginning. */
export interface AutoPauseCounts {
  readonly sent: number;
  readonly hard_bounced: number;
  readonly complained: number;
  readonly failures_in_a_row: number;
}

/** Why a campaign has to stop, or null. */
export function autoPauseReason(
  tally: AutoPauseCounts,
  limits: AutoPauseLimits = standardLimits,
): PauseReason | null {
  if (tally.failures_in_a_row >= limits.failures) return "delivery_failures";
  if (tally.sent < limits.attempts) return null;
  if (tally.hard_bounced * 100 > tally.sent * limits.bouncePercent) return "bounce_rate";
  return tally.complained * 100 > tally.sent * limits.complaintPercent ? "complaint_rate" : null;
}
