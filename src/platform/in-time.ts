/** Answers with a deadline. */
import { ApiError } from "./errors.ts";

/**
 * How long a request, or a command of an SMTP session, waits for the database altogether. Statements end on their own a
 * little earlier (database/request-database.ts).
 */
export const PATIENCE_MS = 4_500;

/**
 * The answer to `asked`, or what `late` throws when there is none after `ms`. The work itself goes on: its statements
 * end in time, and what it does after that is its own concern.
 */
export async function inTime<Result>(
  ms: number,
  asked: Promise<Result>,
  late: () => Error = noAnswer,
): Promise<Result> {
  const { promise: isLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(late()), Math.max(0, ms));
  try {
    return await Promise.race([asked, isLate]);
  } finally {
    clearTimeout(timer);
  }
}

/** 503. Nothing is known of what was asked: the same Idempotency-Key settles it. */
export function noAnswer(): ApiError {
  return new ApiError(
    "INTERNAL_ERROR",
    "The database gives no answer: retry shortly, and send the same Idempotency-Key so that nothing is done twice",
    { status: 503, headers: { "Retry-After": "5" } },
  );
}
