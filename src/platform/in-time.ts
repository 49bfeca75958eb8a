/** Promises with a deadline, for requests that wait for the database. */
import { ApiError } from "./errors.ts";

/**
 * How long a request or an SMTP command waits for the database in total. Statements end a little earlier
 * (request-database.ts).
 */
export const PATIENCE_MS = 4_500;

/** Deadlines are rounded up to multiples of this: Node.js keeps one list for all timers of the same duration. */
const STEP_MS = 100;

/**
 * The result of `asked`; rejects with `late()` after `ms` milliseconds, rounded up to STEP_MS. The work itself continues, but
 * its result is ignored.
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

/**
 * 503 without an answer from the database. Whether the work was done is unknown; a retry with the same Idempotency-Key
 * shows it.
 */
export function noAnswer(): ApiError {
  return new ApiError(
    "INTERNAL_ERROR",
    "The database does not answer: retry shortly, and send the same Idempotency-Key so that nothing is done twice",
    { status: 503, headers: { "Retry-After": "5" } },
  );
}
