/**
 * The automatic brake (decisions, section 8 row 14): a campaign that too many receivers refuse, or too many people complain
 * about, harms everybody who sends from here, and stops before it is through. The limits are those at which Amazon SES
 * pauses an account. Somebody who resumes it has looked; then it is judged by what follows.
 */
import type { PauseReason } from "./transitions-store.ts";

/** Attempts from which on a share says something. */
const LEAST_SENT = 500;
const MOST_HARD_BOUNCES = 0.1;
const MOST_COMPLAINTS = 0.005;
/** Without anything going well in between, the fault is ours. */
const MOST_FAILURES_IN_A_ROW = 50;

/** Counted since the last resume, or from the beginning. */
export interface Tally {
  readonly sent: number;
  readonly hard_bounced: number;
  readonly complained: number;
  readonly failures_in_a_row: number;
}

/** Why a campaign has to stop, or null. */
export function brakeOn(tally: Tally): PauseReason | null {
  if (tally.failures_in_a_row >= MOST_FAILURES_IN_A_ROW) return "delivery_failures";
  if (tally.sent < LEAST_SENT) return null;
  if (tally.hard_bounced > tally.sent * MOST_HARD_BOUNCES) return "bounce_rate";
  return tally.complained > tally.sent * MOST_COMPLAINTS ? "complaint_rate" : null;
}
