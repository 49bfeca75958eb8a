/** Drafts that wait to be committed, in micro-batches: drafts that arrive during a commit share the next one. */
import { setTimeout as delay } from "node:timers/promises";
import { overloaded } from "#platform/errors.ts";
import { MicroBatch } from "#platform/micro-batch.ts";
import { BUSY_MS, type CommitDeps, commit, type Waiting } from "./commit-batch.ts";

const BATCH_MESSAGES = 200;
const BATCH_BYTES = 4 * 1024 * 1024;

export interface LineOptions {
  /** Commits of this queue at the same time. */
  readonly atOnce: number;
  /** How many drafts must wait before another commit starts beside a running one. */
  readonly worthAnother: number;
}

export class AcceptLine {
  readonly #deps: CommitDeps;
  /** A commit resolves to the number of callers who are about to be answered, many of whom call again at once. */
  readonly #batch: MicroBatch<Waiting, number>;
  /** Drafts whose account was locked by another transaction: a batch that contains one takes the slower path. */
  readonly #again: Waiting[] = [];
  #isRetrying = false;
  #isWatched = false;

  constructor(deps: CommitDeps, { atOnce, worthAnother }: LineOptions) {
    this.#deps = deps;
    this.#batch = new MicroBatch({
      flush: (batch) => this.#commit(batch),
      size: (waiting, returning = 0) => batchSize(waiting, fairShare(waiting.length, returning)),
      maxInFlight: atOnce,
      minBeside: worthAnother,
    });
  }

  get length(): number {
    return this.#batch.waiting.length + this.#again.length;
  }

  add(one: Waiting): void {
    this.#batch.add(one);
    this.#watch();
  }

  /** Refuses drafts at their deadline; the first that waits has the earliest. */
  #watch(): void {
    const [first] = this.#batch.waiting;
    if (first === undefined || this.#isWatched) return;
    this.#isWatched = true;
    setTimeout(() => {
      this.#isWatched = false;
      refuse(this.#batch.remove(isLate()));
      this.#watch();
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
      const late = isLate();
      const waiting = this.#again.splice(0);
      refuse(waiting.filter(late));
      this.#again.push(...waiting.filter((one) => !late(one)));
      const batch = this.#again.splice(0, batchSize(this.#again, this.#again.length));
      if (batch.length > 0) await this.#commit(batch);
    }
    this.#isRetrying = false;
  }
}

/** Whether the deadline of a draft has passed, as of now. */
function isLate(): (one: Waiting) => boolean {
  const now = performance.now();
  return ({ deadline }) => deadline <= now;
}

function refuse(late: readonly Waiting[]): void {
  for (const { reject } of late) {
    reject(overloaded("The message could not be stored in time: retry shortly"));
  }
}

/**
 * How many of the waiting drafts go into the next batch: half of all callers, so that the process answers and reads
 * requests while the database stores. Otherwise batches of nearly all callers alternate with batches of a few.
 */
function fairShare(waiting: number, returning: number): number {
  return returning === 0 ? waiting : Math.ceil((waiting + returning) / 2);
}

/** How many of the first `most` drafts one statement takes. */
function batchSize(waiting: readonly Waiting[], most: number): number {
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
  return count;
}
