/** Answers with a deadline. */
import { ApiError } from "./errors.ts";

/**
 * How long a request, or a command of an SMTP session, waits for the database altogether. Statements end on their own a
 * little earlier (database/request-database.ts).
 */
export const PATIENCE_MS = 4_500;

/** Deadlines are rounded up to it: Node.js keeps one list for all timers of the same duration. */
const STEP_MS = 100;

/**
 * The answer to `asked`, or what `late` makes when there is none after `ms` milliseconds, which are rounded up to
 * STEP_MS. The work itself goes on: its statements end in time, and its result is not read.
 */
export function inTime<Result>(
  ms: number,
  asked: Promise<Result>,
  late: () => Error = noAnswer,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), Math.ceil(Math.max(0, ms) / STEP_MS) * STEP_MS);
    asked.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** 503. Nothing is known of what was asked: the same Idempotency-Key settles it. */
export function noAnswer(): ApiError {
  return new ApiError(
    "INTERNAL_ERROR",
    "The database gives no answer: retry shortly, and send the same Idempotency-Key so that nothing is done twice",
    { status: 503, headers: { "Retry-After": "5" } },
  );
}
