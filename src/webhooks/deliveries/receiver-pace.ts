/**
 * How fast the receivers of webhooks have answered this process lately, and the attempts in progress to those that take
 * long. Receivers that do not answer, and receivers that answer slowly, have a limited part of the process's places each:
 * without the limits they would take all places, because their attempts last longest.
 */
import { ExpiringMap } from "#platform/cache.ts";
import { MINUTE_MS } from "#platform/time-units.ts";
import type { PostResult } from "#webhooks/post-to-receiver.ts";
import type { LeaseLimits } from "./lease-store.ts";

/** An answer that took longer is slow. */
export const SLOW_MS = 2_000;
/**
 * For how long a receiver counts as silent or slow after such an attempt, unless it answers quickly. Several times as long as
 * all that are known take for one attempt each: one that is forgotten before its next attempt takes places of quick ones.
 */
const KEPT_MS = 15 * MINUTE_MS;
/** Receivers of each kind that are known; with a further one, the one noted longest ago is forgotten. */
const MOST_KNOWN = 2_000;
/** Attempts at a time in this process, of all receivers of a kind. */
const MOST_OF = { silent: 100, slow: 150 } as const;

type Pace = keyof typeof MOST_OF;

export class ReceiverPace {
  readonly #known: Readonly<Record<Pace, ExpiringMap<true>>>;
  readonly #inProgress = { silent: 0, slow: 0 };

  /** @param now in milliseconds */
  constructor(now?: () => number) {
    this.#known = { silent: new ExpiringMap(MOST_KNOWN, now), slow: new ExpiringMap(MOST_KNOWN, now) };
  }

  /** What the next lease may take of silent and slow webhooks. */
  get limits(): Pick<LeaseLimits, "silent" | "mostOfSilent" | "slow" | "mostOfSlow"> {
    return {
      silent: this.#known.silent.keys(),
      mostOfSilent: MOST_OF.silent - this.#inProgress.silent,
      slow: this.#known.slow.keys(),
      mostOfSlow: MOST_OF.slow - this.#inProgress.slow,
    };
  }

  /** Makes an attempt, which counts as one of its receiver's pace at the start. Notes how fast the receiver answers. */
  async during(webhookId: string, attempt: () => Promise<PostResult>): Promise<PostResult> {
    const before = this.#paceOf(webhookId);
    if (before !== null) this.#inProgress[before] += 1;
    try {
      const result = await attempt();
      this.#note(webhookId, result);
      return result;
    } finally {
      if (before !== null) this.#inProgress[before] -= 1;
    }
  }

  #paceOf(webhookId: string): Pace | null {
    if (this.#known.silent.get(webhookId)) return "silent";
    return this.#known.slow.get(webhookId) ? "slow" : null;
  }

  #note(webhookId: string, { statusCode, durationMs }: PostResult): void {
    this.#known.silent.delete(webhookId);
    this.#known.slow.delete(webhookId);
    if (statusCode === null) this.#known.silent.set(webhookId, true, KEPT_MS);
    else if (durationMs > SLOW_MS) this.#known.slow.set(webhookId, true, KEPT_MS);
  }
}
