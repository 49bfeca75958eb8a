/**
 * Asks the servers of the links and images of a mail, some at a time and within the time that the check has left. Answers are
 * kept for some minutes, because an editor checks the same mail again and again.
 */

import { AsyncCache, ExpiringMap } from "#platform/cache.ts";
import { createKeyedLimiter, createLimiter } from "#platform/concurrency.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { AddressSearch } from "#platform/network/find-public-addresses.ts";
import { MINUTE_MS } from "#platform/time-units.ts";
import { type AskedKind, type AskFailure, type AskResult, askServer } from "./ask-server.ts";

/** What is asked, without the fragment of its address. */
export interface AskedTarget {
  readonly kind: AskedKind;
  readonly url: string;
}

const KEPT_MS = 5 * MINUTE_MS;
const MOST_KEPT = 5_000;
/** A server that left so many addresses without an answer is not asked for others for a while: each takes seconds. */
const MOST_LATE = 3;
const LATE_MS = 20_000;
const MOST_AT_ONCE = 64;
const MOST_OF_WORKSPACE = 8;
const noTime: AskFailure = { outcome: "unasked", reason: "there was no time left" };
const isLate: AskFailure = { outcome: "unasked", reason: "its server did not answer for other addresses" };

export class TargetServers {
  readonly #search: AddressSearch;
  readonly #kept = new AsyncCache<AskResult>({
    ms: KEPT_MS,
    most: MOST_KEPT,
    // A broken link is asked again, because its author may have mended it.
    isKept: (result) => result.outcome === "answered" && result.status < 400,
  });
  /** How many addresses of an origin were late in the last seconds. */
  readonly #late = new ExpiringMap<number>(MOST_KEPT);
  readonly #takeTurn = createLimiter(MOST_AT_ONCE);
  readonly #takeTurnOf = createKeyedLimiter<WorkspaceId>(MOST_OF_WORKSPACE);

  constructor(search: AddressSearch) {
    this.#search = search;
  }

  /** How many of them would be asked, because their answers are not known. */
  unknown(targets: readonly AskedTarget[]): number {
    return targets.filter((target) => !this.#kept.has(keyOf(target))).length;
  }

  /** One result for each target, when all have one or when `deadline` (performance.now()) has passed. Never rejects. */
  async ask(
    workspaceId: WorkspaceId,
    targets: readonly AskedTarget[],
    deadline: number,
  ): Promise<readonly AskResult[]> {
    if (targets.length === 0) return [];
    const over = Promise.withResolvers<AskFailure>();
    const timer = setTimeout(() => over.resolve(noTime), Math.max(0, deadline - performance.now()));
    const results = targets.map((target) =>
      Promise.race([
        this.#kept.get(keyOf(target), () => this.#ask(workspaceId, target, deadline)),
        over.promise,
      ]),
    );
    return Promise.all(results).finally(() => clearTimeout(timer));
  }

  #ask(workspaceId: WorkspaceId, { kind, url }: AskedTarget, deadline: number): Promise<AskResult> {
    const { origin } = new URL(url);
    return this.#takeTurnOf(workspaceId, () =>
      this.#takeTurn(async () => {
        if (performance.now() > deadline) return noTime;
        if ((this.#late.get(origin) ?? 0) >= MOST_LATE) return isLate;
        const result = await askServer(kind, new URL(url), this.#search);
        if (result.outcome === "timeout") this.#late.set(origin, (this.#late.get(origin) ?? 0) + 1, LATE_MS);
        return result;
      }),
    );
  }
}

const keyOf = ({ kind, url }: AskedTarget) => `${kind} ${url}`;
