/**
 * Acceptance: a message becomes ours when log row, content and queue row are committed, in one statement and one
 * transaction with the answer to an Idempotency-Key; only then is a caller (the API, submission) answered. A message
 * whose recipient is suppressed is accepted too: it has a log row and no queue row. A row that the database refuses
 * fails alone, or with those that it was to be accepted together with.
 */
import { maySendAsEach } from "#identity/may-send-as.ts";
import { createLimiter, createWorkspaceLimiter } from "#platform/concurrency.ts";
import { ApiError } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { contentOctets, type Draft } from "./accept-messages-statement.ts";
import { type CommitDeps, sendersOf, unverifiedAddress } from "./commit-batch.ts";
import { commitEach, type InSameTransaction, type Refusals } from "./commit-each.ts";
import { AcceptLine } from "./micro-batch-drafts.ts";
import { requireAcceptable } from "./take-allowance.ts";

/**
 * Two concurrent commits keep the disk busy, but two half batches cost PostgreSQL a millisecond more than one whole
 * batch. So a second commit starts only when enough messages wait.
 */
const SMALL_LINE = { atOnce: 2, worthAnother: 64 };

/**
 * PostgreSQL takes most of a second for 20 MB of attachments. Such messages have a separate queue with one commit at a
 * time, so that small messages do not wait for them. The queue contains at most one message of each workspace.
 */
const LARGE_BYTES = 1024 * 1024;
const LARGE_LINE = { atOnce: 1, worthAnother: 1 };
const LARGE_TURNS = { concurrency: 1, maxWaiting: 200 };

/** Calls with many mails: one of a workspace at a time, and few of all, so that the connections stay free for others. */
const BULK_TURNS = { concurrency: 1, maxWaiting: 20 };
const BULK_AT_ONCE = 2;

/**
 * Above these limits a call is refused at once, so that callers neither wait for their time-out nor fill the memory. No
 * commit begins later than `waitMs` after the call: by then the caller has received 503 and may send the message again.
 */
const LIMITS = { messages: 20_000, bytes: 256 * 1024 * 1024, waitMs: 4_000 };

/** Share of the bytes that one workspace may hold, so that its batches take no room from the mail of all others. */
const SHARE_OF_WORKSPACE = 1 / 4;

export interface Acceptor {
  /**
   * Resolves once the message is on disk.
   * @throws ApiError VALIDATION_ERROR when the workspace may not send as the sender or bounce address,
   * PLAN_LIMIT_REACHED or INSUFFICIENT_BALANCE when neither plan nor balance covers the message, CONFLICT when another
   * request took the Idempotency-Key over, RATE_LIMIT_EXCEEDED at the hourly cap, and RATE_LIMIT_EXCEEDED or 503 when
   * too many messages wait to be accepted
   */
  accept(draft: Draft): Promise<void>;
  /**
   * Accepts all drafts, which belong to one workspace, or none if one of them is refused.
   * @throws ApiError as `accept` does
   */
  acceptTogether(drafts: readonly Draft[]): Promise<void>;
  /**
   * Accepts mails of one workspace, each for itself; the drafts of one mail together or not at all. All is one transaction,
   * in which `alsoDo` stores the answer.
   * @returns why each mail is refused: null, or an error of `accept`
   * @throws ApiError when too much waits to be accepted
   */
  acceptEach(mails: readonly (readonly Draft[])[], alsoDo: InSameTransaction): Promise<Refusals>;
  /** Checks whether the draft would be accepted, without storing it. @throws ApiError as `accept` does */
  check(draft: Draft): Promise<void>;
}

export function createAcceptor(deps: CommitDeps, limits: Readonly<typeof LIMITS> = LIMITS): Acceptor {
  return new AcceptorOfLines(deps, limits);
}

class AcceptorOfLines implements Acceptor {
  readonly #deps: CommitDeps;
  readonly #limits: Readonly<typeof LIMITS>;
  readonly #small: AcceptLine;
  readonly #large: AcceptLine;
  readonly #largeTurn: ReturnType<typeof createWorkspaceLimiter>;
  readonly #bulkTurn: ReturnType<typeof createWorkspaceLimiter>;
  readonly #bulkLine = createLimiter(BULK_AT_ONCE);
  /** Content that waits or is being stored. */
  #heldBytes = 0;
  readonly #heldBytesOf = new Map<WorkspaceId, number>();

  constructor(deps: CommitDeps, limits: Readonly<typeof LIMITS>) {
    this.#deps = deps;
    this.#limits = limits;
    this.#small = new AcceptLine(deps, SMALL_LINE);
    this.#large = new AcceptLine(deps, LARGE_LINE);
    this.#largeTurn = createWorkspaceLimiter(
      { ...LARGE_TURNS, maxWaitMs: limits.waitMs },
      "Too many large messages of this workspace are being accepted: retry shortly",
    );
    this.#bulkTurn = createWorkspaceLimiter(
      { ...BULK_TURNS, maxWaitMs: limits.waitMs },
      "Too many batches of this workspace are being accepted: retry shortly",
    );
  }

  async acceptEach(mails: readonly (readonly Draft[])[], alsoDo: InSameTransaction): Promise<Refusals> {
    const drafts = mails.flat();
    const [first] = drafts;
    if (first === undefined) return [];
    const { workspaceId } = first.message;
    const deadline = performance.now() + this.#limits.waitMs;
    return this.#holding(workspaceId, memoryOf(drafts), () =>
      this.#bulkTurn(workspaceId, () =>
        this.#bulkLine(() => commitEach(this.#deps, mails, { deadline, alsoDo })),
      ),
    );
  }

  accept(draft: Draft): Promise<void> {
    return this.acceptTogether([draft]);
  }

  async acceptTogether(drafts: readonly Draft[]): Promise<void> {
    const [first] = drafts;
    if (first === undefined) return;
    const bytes = memoryOf(drafts);
    const deadline = performance.now() + this.#limits.waitMs;
    await this.#holding(first.message.workspaceId, bytes, async () => {
      const wait = (line: AcceptLine) =>
        new Promise<void>((resolve, reject) => line.add({ drafts, bytes, deadline, resolve, reject }));
      if (bytes <= LARGE_BYTES) await wait(this.#small);
      else await this.#largeTurn(first.message.workspaceId, () => wait(this.#large));
    });
  }

  /** Runs `work` while so many bytes are in memory. @throws ApiError RATE_LIMIT_EXCEEDED if that is too much */
  async #holding<Result>(
    workspaceId: WorkspaceId,
    bytes: number,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const { messages, bytes: most } = this.#limits;
    if (this.#small.length + this.#large.length >= messages || this.#heldBytes + bytes > most) {
      throw tooMuchWaits("Too many messages are waiting to be accepted: retry shortly");
    }
    const own = this.#heldBytesOf.get(workspaceId) ?? 0;
    // A single call is admitted whatever its size: the limits of request bodies are far below the share.
    if (own > 0 && own + bytes > most * SHARE_OF_WORKSPACE) {
      throw tooMuchWaits("Too many messages of this workspace are waiting to be accepted: retry shortly");
    }
    this.#hold(workspaceId, bytes);
    try {
      return await work();
    } finally {
      this.#hold(workspaceId, -bytes);
    }
  }

  #hold(workspaceId: WorkspaceId, bytes: number): void {
    this.#heldBytes += bytes;
    const own = (this.#heldBytesOf.get(workspaceId) ?? 0) + bytes;
    if (own === 0) this.#heldBytesOf.delete(workspaceId);
    else this.#heldBytesOf.set(workspaceId, own);
  }

  async check(draft: Draft): Promise<void> {
    const { db, clock, plans } = this.#deps;
    const refusal = unverifiedAddress(draft, await maySendAsEach(db, sendersOf(draft)));
    if (refusal !== null) throw refusal;
    await requireAcceptable(db, { plans, clock }, draft.message);
  }
}

function tooMuchWaits(message: string): ApiError {
  return new ApiError("RATE_LIMIT_EXCEEDED", message, { headers: { "Retry-After": "1" } });
}

/** Content of drafts accepted together, in octets: those of one submission share it. */
function memoryOf(drafts: readonly Draft[]): number {
  const different = new Map(drafts.map(({ message }) => [message.submission?.id ?? message.id, message]));
  return [...different.values()].reduce((sum, message) => sum + contentOctets(message), 0);
}
