/**
 * A queue of drafts that wait for a commit. Drafts that arrive during a commit go into the next one: micro-batches without
 * a timer, so that a single message does not wait and many messages share a commit.
 */
import { setTimeout as delay } from "node:timers/promises";
import { overloaded } from "#platform/errors.ts";
import { type CommitDeps, commit, type Waiting } from "./batch.ts";

const BATCH_MESSAGES = 200;
const BATCH_BYTES = 4 * 1024 * 1024;

/** Delay before drafts of a locked account are retried. */
const BUSY_MS = 20;

export interface LineOptions {
  /** Commits of this queue at the same time. */
  readonly atOnce: number;
  /** How many drafts must wait before another commit starts beside a running one. */
  readonly worthAnother: number;
}

export class AcceptLine {
  readonly #deps: CommitDeps;
  readonly #options: LineOptions;
  readonly #waiting: Waiting[] = [];
  /** Drafts whose account was locked by another transaction. In a batch, they would put all others on the slower path. */
  readonly #again: Waiting[] = [];
  #isRetrying = false;
  #inFlight = 0;
  #isWatched = false;

  constructor(deps: CommitDeps, options: LineOptions) {
    this.#deps = deps;
    this.#options = options;
  }

  get length(): number {
    return this.#waiting.length + this.#again.length;
  }

  add(one: Waiting): void {
    this.#waiting.push(one);
    this.#start();
  }

  /** @param returning callers that are about to be answered; many of them send the next message at once */
  #start(returning = 0): void {
    const { atOnce, worthAnother } = this.#options;
    while (this.#inFlight < atOnce && this.#waiting.length >= (this.#inFlight === 0 ? 1 : worthAnother)) {
      this.#inFlight += 1;
      const batch = takeBatch(this.#waiting, fairShare(this.#waiting.length, returning));
      void this.#commit(batch).then((answeredNext) => {
        this.#inFlight -= 1;
        this.#start(answeredNext);
      });
    }
    this.#watch();
  }

  /** Sets a timer for the deadline of the oldest draft. */
  #watch(): void {
    const [first] = this.#waiting;
    if (first === undefined || this.#isWatched) return;
    this.#isWatched = true;
    setTimeout(() => {
      this.#isWatched = false;
      refuseLate(this.#waiting);
      this.#start();
    }, first.deadline - performance.now()).unref();
  }

  #commit(batch: readonly Waiting[]): Promise<number> {
    return commit({ ...this.#deps, retry: (busy) => this.#retry(busy) }, batch);
  }

  #retry(busy: readonly Waiting[]): void {
    this.#again.push(...busy);
    if (!this.#isRetrying) void this.#retryAll();
  }

  async #retryAll(): Promise<void> {
    this.#isRetrying = true;
    while (this.#again.length > 0) {
      await delay(BUSY_MS);
      refuseLate(this.#again);
      if (this.#again.length > 0) await this.#commit(takeBatch(this.#again, this.#again.length));
    }
    this.#isRetrying = false;
  }
}

/** Rejects the drafts that have reached their deadline. */
function refuseLate(waiting: Waiting[]): void {
  const now = performance.now();
  for (const one of waiting.splice(0)) {
    if (one.deadline > now) waiting.push(one);
    else one.reject(overloaded("The message could not be stored in time: retry shortly"));
  }
}

/**
 * How many of the waiting drafts go into the next batch: half of all callers, so that the process answers and reads
 * requests while the database stores. Otherwise batches of nearly all callers alternate with batches of a few.
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
