/**
 * The part of today's warm-up quotas that this worker may use. It reserves small blocks of the count that all machines share,
 * gives one slot to each message, and reports usage in bulk. Slots reserved by a killed worker are lost for the day.
 */

import { setTimeout as delay } from "node:timers/promises";
import type { AttemptResult } from "#delivery/message/attempt.ts";
import type { Priority } from "#delivery/message/message.ts";
import { classifyReply } from "#mail/refusals/classify-reply.ts";
import { ExpiringMap } from "#platform/cache.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Log } from "#platform/log/log.ts";
import { bulkCeilingOf, ceilingOf, dayOf, onDay } from "./schedule.ts";
import { addWarmUpUsage, lockWarmUp, updateWarmUp, type WarmUpKey, type WarmUpUsage } from "./store.ts";

/** A block is a fiftieth of the quota, at most LARGEST_BLOCK. */
const BLOCKS = 50;
const LARGEST_BLOCK = 500;
const FLUSH_MS = 2_000;
/** A used-up quota is asked for again after this time: another worker may have returned slots. */
const ASK_AGAIN_MS = 30_000;
const MOST_REMEMBERED = 10_000;

/** The quota of one warm-up on one day. */
interface DayQuota extends WarmUpKey {
  readonly workspaceId: WorkspaceId;
  readonly startedAt: Date;
  readonly day: string;
}

interface Block {
  readonly quota: DayQuota;
  left: number;
  asking: Promise<void> | null;
}

/** The part of the quota that one message takes. */
export interface QuotaSlot {
  /** To be called after an attempt; one that did not reach the receiver does not count. */
  settle(result: AttemptResult): void;
  /** To be called when the message was not attempted. */
  giveBack(): void;
}

export class WarmUpQuotas {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #flushMs: number;
  readonly #blocks = new Map<string, Block>();
  /** Quotas that were used up when we last asked. */
  readonly #usedUp = new ExpiringMap<true>(MOST_REMEMBERED);
  #usage: WarmUpUsage[] = [];
  #flushing: Promise<void> | null = null;
  readonly #closing = new AbortController();

  constructor(options: {
    readonly db: Database;
    readonly clock: Clock;
    readonly log: Log;
    readonly flushMs?: number;
  }) {
    this.#db = options.db;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#flushMs = options.flushMs ?? FLUSH_MS;
  }

  /** Takes a slot for one message; null when today's quota is used up. */
  async take(
    warmUp: WarmUpKey & { readonly workspaceId: WorkspaceId; readonly startedAt: Date },
    priority: Priority,
  ): Promise<QuotaSlot | null> {
    const quota = { ...warmUp, day: dayOf(this.#clock.now()) };
    const key = `${quota.day} ${quota.sendingIpId} ${quota.startedAt.getTime()} ${quota.lane} ${priority}`;
    const block = this.#blockOf(key, quota);
    while (block.left === 0) {
      if (this.#usedUp.get(key)) return null;
      block.asking ??= this.#refill(key, block, priority).finally(() => {
        block.asking = null;
      });
      await block.asking;
    }
    block.left -= 1;
    const giveBack = () => {
      if (this.#closing.signal.aborted) this.#note({ ...quota, sent: 0, deferred: 0, returned: 1 });
      else block.left += 1;
    };
    return {
      giveBack,
      settle: (result) => {
        if (!hasReached(result)) return giveBack();
        this.#note({ ...quota, sent: 1, deferred: isAboutReputation(result) ? 1 : 0, returned: 0 });
      },
    };
  }

  /** Reports usage, and returns unused slots. */
  async close(): Promise<void> {
    this.#closing.abort();
    for (const { quota, left } of this.#blocks.values()) {
      if (left > 0) this.#usage.push({ ...quota, sent: 0, deferred: 0, returned: left });
    }
    this.#blocks.clear();
    await this.#flushing;
    await this.#flush();
  }

  #blockOf(key: string, quota: DayQuota): Block {
    const known = this.#blocks.get(key);
    if (known) return known;
    for (const [old, { quota: other }] of this.#blocks) if (other.day < quota.day) this.#blocks.delete(old);
    const block: Block = { quota, left: 0, asking: null };
    this.#blocks.set(key, block);
    return block;
  }

  async #refill(key: string, block: Block, priority: Priority): Promise<void> {
    const { quota } = block;
    const granted = await this.#db.transaction(async (tx) => {
      const fresh = onDay(undefined, quota.startedAt, quota.day);
      const before = await lockWarmUp(tx, quota.workspaceId, quota, fresh);
      const now = onDay(before, quota.startedAt, quota.day);
      const ceiling = priority === 0 ? ceilingOf(now.step) : bulkCeilingOf(now.step);
      const most = Math.min(Math.ceil(ceilingOf(now.step) / BLOCKS), LARGEST_BLOCK);
      const grant = Math.max(0, Math.min(most, ceiling - now.reserved));
      if (grant > 0 || now !== before) {
        await updateWarmUp(tx, quota.workspaceId, quota, { ...now, reserved: now.reserved + grant });
      }
      return grant;
    });
    block.left += granted;
    if (granted === 0) this.#usedUp.set(key, true, ASK_AGAIN_MS);
  }

  #note(usage: WarmUpUsage): void {
    this.#usage.push(usage);
    this.#flushing ??= this.#flushSoon();
  }

  async #flushSoon(): Promise<void> {
    const { signal } = this.#closing;
    let isStored: boolean;
    do {
      await delay(this.#flushMs, undefined, { ref: false, signal }).catch(() => {});
      isStored = await this.#flush();
    } while (this.#usage.length > 0 && (isStored || !signal.aborted));
    this.#flushing = null;
  }

  /** False when it failed; the usage is kept for the next flush. */
  async #flush(): Promise<boolean> {
    const usage = summed(this.#usage.splice(0));
    if (usage.length === 0) return true;
    try {
      await addWarmUpUsage(this.#db, usage);
      return true;
    } catch (err) {
      this.#usage.push(...usage);
      this.#log.error({ err }, "warm-up usage could not be stored, trying again");
      return false;
    }
  }
}

/** Sums the usage of each quota. */
function summed(usage: readonly WarmUpUsage[]): WarmUpUsage[] {
  const groups = Map.groupBy(
    usage,
    ({ sendingIpId, lane, day, startedAt }) => `${day} ${sendingIpId} ${startedAt.getTime()} ${lane}`,
  );
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
  return [...groups.values()].flatMap((group) =>
    group.slice(0, 1).map((quota) => ({
      ...quota,
      sent: sum(group.map(({ sent }) => sent)),
      deferred: sum(group.map(({ deferred }) => deferred)),
      returned: sum(group.map(({ returned }) => returned)),
    })),
  );
}

/** Whether a connection to the receiver was made. */
function hasReached(result: AttemptResult): boolean {
  if (result.outcome === "unroutable") return false;
  return result.outcome !== "broken" || result.stage !== "connect";
}

function isAboutReputation(result: AttemptResult): boolean {
  if (result.outcome !== "refused") return false;
  const { retry, category } = classifyReply(result);
  return retry && category === "Reputation";
}
