/**
 * Acceptance: the moment a message becomes ours. Whoever sends (the API, submission) hands in drafts; log row, content and
 * queue row are one statement, one transaction with the answer to an Idempotency-Key, and only after its commit does
 * anybody get a 201. A message whose recipient is suppressed is accepted too, and is over: it stands in the log and never
 * in the queue.
 *
 * Drafts that arrive while a commit is under way go into the next one: micro-batches without a timer, so that a lone
 * message waits for nothing and a flood shares its commits. A row that the database refuses fails alone, or with those
 * that it was to be accepted together with.
 */
import { setTimeout as delay } from "node:timers/promises";
import { maySendAsEach } from "../identity/may-send-as.ts";
import { ApiError, overloaded } from "../platform/errors.ts";
import { requireAcceptable } from "./allowance.ts";
import { type CommitDeps, commit, foreignAddress, questionsOf, type Waiting } from "./commit-batch.ts";
import { type Draft, sizeOf } from "./insert-drafts.ts";

/**
 * Two commits under way keep the disk busy, but two halves cost PostgreSQL a millisecond more than a whole: the second
 * waits until it is worth it.
 */
const BATCHES_IN_FLIGHT = 2;
const WORTH_A_SECOND = 64;
const BATCH_MESSAGES = 200;
const BATCH_BYTES = 4 * 1024 * 1024;

/** Before an account is asked for again that somebody else held. */
const BUSY_MS = 20;

/** Beyond these we say so, instead of letting callers wait for their time-out or running out of memory. */
const LIMITS = { messages: 20_000, bytes: 256 * 1024 * 1024, waitMs: 4_000 };

export interface Acceptor {
  /**
   * Resolves once the message is on disk.
   * @throws ApiError VALIDATION_ERROR when the workspace may not send as the sender or bounce address, PLAN_LIMIT_REACHED or
   * INSUFFICIENT_BALANCE when nothing covers it, CONFLICT when another request took the Idempotency-Key over,
   * RATE_LIMIT_EXCEEDED at the hourly cap, and that or 503 when there is more to accept than we can
   */
  accept(draft: Draft): Promise<void>;
  /** All of them or, when one is refused, none. @throws ApiError as `accept` does */
  acceptTogether(drafts: readonly Draft[]): Promise<void>;
  /** Would it be accepted? @throws ApiError as `accept` does */
  check(draft: Draft): Promise<void>;
}

export function createAcceptor(deps: CommitDeps, limits: Readonly<typeof LIMITS> = LIMITS): Acceptor {
  const { db, clock, plans } = deps;
  const waiting: Waiting[] = [];
  /** Those whose account somebody else held. With them in its batch everybody would have to go the long way. */
  const again: Waiting[] = [];
  let isRetrying = false;
  let inFlight = 0;
  /** Content that waits or is being stored. */
  let heldBytes = 0;
  let isWatched = false;

  /** @param returning callers who are about to be answered, many of whom come back at once */
  const start = (returning = 0) => {
    while (waiting.length >= (inFlight === 0 ? 1 : WORTH_A_SECOND) && inFlight < BATCHES_IN_FLIGHT) {
      inFlight += 1;
      const batch = takeBatch(waiting, fairShare(waiting.length, returning));
      void commit({ ...deps, retry }, batch).then((answeredNext) => {
        inFlight -= 1;
        start(answeredNext);
      });
    }
    const [first] = waiting;
    if (first === undefined || isWatched) return;
    isWatched = true;
    setTimeout(() => {
      isWatched = false;
      refuseLate(waiting);
      start();
    }, first.deadline - performance.now()).unref();
  };

  const retry = (busy: readonly Waiting[]) => {
    again.push(...busy);
    if (!isRetrying) void retryAll();
  };

  const retryAll = async () => {
    isRetrying = true;
    while (again.length > 0) {
      await delay(BUSY_MS);
      refuseLate(again);
      if (again.length > 0) await commit({ ...deps, retry }, takeBatch(again, again.length));
    }
    isRetrying = false;
  };

  const acceptor: Acceptor = {
    async check(draft) {
      const { message } = draft;
      const refusal = foreignAddress(draft, await maySendAsEach(db, questionsOf(draft)));
      if (refusal !== null) throw refusal;
      await requireAcceptable(db, { plans, clock }, message);
    },
    accept: (draft) => acceptor.acceptTogether([draft]),
    async acceptTogether(drafts) {
      const bytes = memoryOf(drafts);
      if (waiting.length + again.length >= limits.messages || heldBytes + bytes > limits.bytes) {
        throw new ApiError(
          "RATE_LIMIT_EXCEEDED",
          "Too many messages are being accepted at this moment: retry shortly",
          { headers: { "Retry-After": "1" } },
        );
      }
      heldBytes += bytes;
      try {
        await new Promise<void>((resolve, reject) => {
          waiting.push({ drafts, bytes, deadline: performance.now() + limits.waitMs, resolve, reject });
          start();
        });
      } finally {
        heldBytes -= bytes;
      }
    },
  };
  return acceptor;
}

/** Takes those out who have waited too long. */
function refuseLate(waiting: Waiting[]): void {
  const now = performance.now();
  for (const one of waiting.splice(0)) {
    if (one.deadline > now) waiting.push(one);
    else one.reject(overloaded("The message could not be stored in time: retry shortly"));
  }
}

/**
 * How many of those who wait go into the next batch: half of all, so that process and database are busy side by side, the
 * one answering and reading requests while the other stores. Left alone, batches of nearly everybody alternate with
 * batches of a few.
 */
function fairShare(waiting: number, returning: number): number {
  return returning === 0 ? waiting : Math.ceil((waiting + returning) / 2);
}

function takeBatch(waiting: Waiting[], most: number): Waiting[] {
  let bytes = 0;
  let count = 0;
  let messages = 0;
  for (const { bytes: size, drafts } of waiting) {
    messages += drafts.length;
    if (count === most) break;
    if (count > 0 && (messages > BATCH_MESSAGES || bytes + size > BATCH_BYTES)) break;
    bytes += size;
    count += 1;
  }
  return waiting.splice(0, count);
}

/** What drafts accepted together hold: of a submission they share one. */
function memoryOf(drafts: readonly Draft[]): number {
  const different = new Map(drafts.map(({ message }) => [message.submission?.id ?? message.id, message]));
  return [...different.values()].reduce((sum, message) => sum + sizeOf(message), 0);
}
