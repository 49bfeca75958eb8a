/** The retry schedule of deferred messages. */
import { HOUR_MS } from "#platform/time-units.ts";

/**
 * The waits after the first, second, … attempt, in minutes; the last one repeats. Greylists accept a retry after five to
 * fifteen minutes; a full mailbox may take days.
 */
const WAITS_MINUTES = [5, 10, 20, 40, 80, 120, 240, 360, 480, 720, 720, 1_440];
const JITTER = 0.15;
const SHORTEST_MS = 60_000;
const LONGEST_MS = 24 * HOUR_MS;

/** When a message expires. */
export function expiryOf(acceptedAt: Date, retryHours: number): Date {
  return new Date(acceptedAt.getTime() + retryHours * HOUR_MS);
}

export interface RetryQuestion {
  /** Including the one that has just failed. */
  readonly attempts: number;
  readonly now: Date;
  readonly expiresAt: Date;
  /** The wait that the reply asked for ("try again in 5 minutes"). */
  readonly waitSeconds?: number | undefined;
  /** From 0 to below 1. */
  readonly random: number;
}

/**
 * The scheduled wait with 15 % jitter in both directions, so that messages deferred together do not come back together. A wait
 * that the receiver asked for (up to a day) is only lengthened. A wait beyond the expiry is shortened, for one last attempt.
 */
export function nextAttemptAt(question: RetryQuestion): Date | "expired" {
  const { attempts, now, expiresAt, waitSeconds, random } = question;
  const left = expiresAt.getTime() - now.getTime();
  if (left < SHORTEST_MS) return "expired";
  const wait = waitSeconds === undefined ? scheduledWait(attempts, random) : askedWait(waitSeconds, random);
  const lastAttempt = left * (1 - JITTER * random);
  return new Date(now.getTime() + Math.round(wait <= left ? wait : lastAttempt));
}

function scheduledWait(attempts: number, random: number): number {
  const minutes = WAITS_MINUTES[Math.max(attempts, 1) - 1] ?? WAITS_MINUTES.at(-1) ?? 0;
  return minutes * 60_000 * (1 + JITTER * (2 * random - 1));
}

function askedWait(seconds: number, random: number): number {
  return Math.min(Math.max(seconds * 1_000, SHORTEST_MS), LONGEST_MS) * (1 + JITTER * random);
}
