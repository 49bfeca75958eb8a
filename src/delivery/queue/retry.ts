/** When a message that was put off is tried again. */

/**
 * The waits after the first, second, … attempt, in minutes; the last one repeats. Greylists let go after five to
 * fifteen minutes, and full mailboxes after days.
 */
const WAITS_MINUTES = [5, 10, 20, 40, 80, 120, 240, 360, 480, 720, 720, 1_440];
const JITTER = 0.15;
const SHORTEST_MS = 60_000;
const HOUR_MS = 3_600_000;
const LONGEST_MS = 24 * HOUR_MS;

/** When a message is given up. */
export function expiryOf(acceptedAt: Date, retryHours: number): Date {
  return new Date(acceptedAt.getTime() + retryHours * HOUR_MS);
}

export interface RetryQuestion {
  /** Made so far, the one that has just failed included. */
  readonly attempts: number;
  readonly now: Date;
  /** When we give up. */
  readonly expiresAt: Date;
  /** The wait that the refusal itself named ("try again in 5 minutes"), which is obeyed. */
  readonly waitSeconds?: number | undefined;
  /** From 0 to below 1. */
  readonly random: number;
}

/**
 * The schedule with 15 % of jitter to either side, so that what was put off together does not come back together; a
 * wait the receiver asked for (up to a day) is only ever stretched. A wait that would outlast the message is cut short
 * for one last attempt.
 */
export function nextAttemptAt(question: RetryQuestion): Date | "expired" {
  const { attempts, now, expiresAt, waitSeconds, random } = question;
  const left = expiresAt.getTime() - now.getTime();
  if (left < SHORTEST_MS) return "expired";
  const wait = waitSeconds === undefined ? scheduledWait(attempts, random) : askedWait(waitSeconds, random);
  const lastChance = left * (1 - JITTER * random);
  return new Date(now.getTime() + Math.round(wait <= left ? wait : lastChance));
}

function scheduledWait(attempts: number, random: number): number {
  const minutes = WAITS_MINUTES[Math.max(attempts, 1) - 1] ?? WAITS_MINUTES.at(-1) ?? 0;
  return minutes * 60_000 * (1 + JITTER * (2 * random - 1));
}

function askedWait(seconds: number, random: number): number {
  return Math.min(Math.max(seconds * 1_000, SHORTEST_MS), LONGEST_MS) * (1 + JITTER * random);
}
