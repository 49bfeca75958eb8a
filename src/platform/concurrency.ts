/**
 * Concurrency limits (p-limit), for example on the connections of the database: a fixed number of tasks run at a time, the
 * others wait in the order they came. One limit may be shared by all, or each key (a workspace) has its own.
 */
import pLimit, { type LimitFunction } from "p-limit";
import { ApiError } from "./errors.ts";

/** Runs `work` as soon as the limit allows, and gives its result. */
export type Limiter = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Like Limiter, with a limit for each key. */
export type KeyedLimiter<Key> = <Result>(key: Key, work: () => Promise<Result>) => Promise<Result>;

/** One limit for all work. */
export function createLimiter(concurrency: number): Limiter {
  return pLimit(concurrency);
}

/** A limit for each key, so that a key with much work delays only itself. */
export function createKeyedLimiter<Key>(concurrency: number): KeyedLimiter<Key> {
  const queues = new KeyedQueues<Key>(concurrency);
  return (key, work) => queues.run(key, work);
}

interface QueueBounds {
  /** Tasks of a workspace that run at a time. */
  readonly concurrency: number;
  readonly maxWaiting: number;
  readonly maxWaitMs: number;
}

/** Bounds for queries of the database: a burst of 200 requests of one workspace is queued, not refused. */
export const QUERY_BOUNDS: QueueBounds = { concurrency: 2, maxWaiting: 200, maxWaitMs: 10_000 };

/** Retry-After of a task that is refused. */
const RETRY_AFTER_S = 5;

/**
 * A limit for each workspace, with a bounded queue.
 * @param message of the ApiError RATE_LIMIT_EXCEEDED with which a task is rejected when the queue of its workspace is full,
 *   or when it has waited for `maxWaitMs`
 */
export function createWorkspaceLimiter(
  { concurrency, maxWaiting, maxWaitMs }: QueueBounds,
  message: string,
): KeyedLimiter<string> {
  const queues = new KeyedQueues<string>(concurrency);
  const headers = { "Retry-After": String(RETRY_AFTER_S) };
  const refusal = () => new ApiError("RATE_LIMIT_EXCEEDED", message, { headers });
  return async (workspaceId, work) => {
    if (!queues.mustWait(workspaceId)) return queues.run(workspaceId, work);
    if (queues.waiting(workspaceId) >= maxWaiting) throw refusal();
    return queues.runWithin(workspaceId, work, { ms: maxWaitMs, refusal });
  };
}

interface Queue {
  readonly limit: LimitFunction;
  /** Tasks that wait. Refused ones stay in p-limit's queue until their turn, and do not count. */
  waiting: number;
}

/** A queue for each key that has tasks. */
class KeyedQueues<Key> {
  readonly #queues = new Map<Key, Queue>();
  readonly #concurrency: number;

  constructor(concurrency: number) {
    this.#concurrency = concurrency;
  }

  mustWait(key: Key): boolean {
    return (this.#queues.get(key)?.limit.activeCount ?? 0) >= this.#concurrency;
  }

  waiting(key: Key): number {
    return this.#queues.get(key)?.waiting ?? 0;
  }

  async run<Result>(key: Key, work: () => Promise<Result>): Promise<Result> {
    const { limit } = this.#queueOf(key);
    try {
      return await limit(work);
    } finally {
      if (limit.activeCount === 0 && limit.pendingCount === 0) this.#queues.delete(key);
    }
  }

  /** Like `run`, but rejects with `refusal()` if `work` has not begun after `ms`; it is not run then. */
  runWithin<Result>(
    key: Key,
    work: () => Promise<Result>,
    { ms, refusal }: { readonly ms: number; readonly refusal: () => Error },
  ): Promise<Result> {
    const queue = this.#queueOf(key);
    const late = Promise.withResolvers<never>();
    let isRefused = false;
    queue.waiting++;
    const timer = setTimeout(() => {
      isRefused = true;
      queue.waiting--;
      late.reject(refusal());
    }, ms);
    const result = this.run(key, async () => {
      if (isRefused) throw refusal();
      clearTimeout(timer);
      queue.waiting--;
      return work();
    });
    return Promise.race([late.promise, result]);
  }

  #queueOf(key: Key): Queue {
    const queue = this.#queues.get(key) ?? { limit: pLimit(this.#concurrency), waiting: 0 };
    this.#queues.set(key, queue);
    return queue;
  }
}
