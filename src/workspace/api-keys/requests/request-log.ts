/**
 * Records the requests of API keys outside of them: a request adds a row in memory, and once a second the rows are written
 * together. A killed process loses the rows of the last second.
 *
 * What a key and a workspace can have recorded is bounded, so that a flood of requests does not fill the database. Successes
 * and failures have budgets of their own, which refill evenly, so that no number of successes leaves out a failure. The next
 * row of a key and its kind says how many were left out.
 */
import type { RateLimit } from "#platform/config/setting-readers.ts";
import { type LocalBuckets, localBuckets } from "#platform/http/auth/token-buckets.ts";
import type { KeyAnswer } from "#platform/http/server.ts";
import { newId } from "#platform/ids.ts";
import type { Log } from "#platform/log/log.ts";
import type { RecordedRequest } from "./store.ts";

/** Of a key, for successes and for failures: 200 at once, 600 an hour. */
const OF_KEY: RateLimit = { perSecond: 1 / 6, burst: 200 };
/** Of a workspace, for successes and for failures: 1,000 at once, 1,800 an hour. */
const OF_WORKSPACE: RateLimit = { perSecond: 1 / 2, burst: 1_000 };
const GATHER_MS = 1_000;
const MOST_WAITING = 10_000;
/** Keys with requests that were left out. */
const MOST_COUNTS = 10_000;

interface RequestLogOptions {
  readonly write: (requests: readonly RecordedRequest[]) => Promise<unknown>;
  readonly monotonicMs: () => number;
  readonly log: Pick<Log, "warn">;
}

export class RequestLog {
  readonly #options: RequestLogOptions;
  readonly #ofKeys: LocalBuckets;
  readonly #ofWorkspaces: LocalBuckets;
  /** By key and kind. */
  readonly #leftOut = new Map<string, number>();
  #waiting: RecordedRequest[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RequestLogOptions) {
    this.#options = options;
    this.#ofKeys = localBuckets(OF_KEY, options.monotonicMs);
    this.#ofWorkspaces = localBuckets(OF_WORKSPACE, options.monotonicMs);
  }

  /** Queues a request and returns at once. */
  note(request: KeyAnswer): void {
    const kind = request.status < 400 ? "success" : "failure";
    const ofKey = `${request.keyId} ${kind}`;
    const before = this.#leftOut.get(ofKey) ?? 0;
    if (!this.#mayRecord(ofKey, `${request.workspaceId} ${kind}`)) {
      if (before > 0 || this.#leftOut.size < MOST_COUNTS) this.#leftOut.set(ofKey, before + 1);
      return;
    }
    this.#leftOut.delete(ofKey);
    this.#waiting.push({ ...request, id: newId(), leftOut: before });
    this.#timer ??= setTimeout(() => void this.flush(), GATHER_MS).unref();
  }

  /** Writes the queued requests. Never rejects: a failure is logged, and their rows are lost. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const requests = this.#waiting;
    this.#waiting = [];
    if (requests.length === 0) return;
    const { write, log } = this.#options;
    try {
      await write(requests);
    } catch (err) {
      log.warn({ err, requests: requests.length }, "the requests of API keys could not be written");
    }
  }

  #mayRecord(ofKey: string, ofWorkspace: string): boolean {
    if (this.#waiting.length >= MOST_WAITING) return false;
    return this.#ofKeys.take(ofKey) >= 0 && this.#ofWorkspaces.take(ofWorkspace) >= 0;
  }
}
