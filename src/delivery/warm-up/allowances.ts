/**
 * How much of today's warm-up ceilings this worker may use. It takes small blocks from the count that all machines
 * share, gives the messages one each, and tells in bulk what became of them. What it held when it was killed is lost
 * to that day.
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
import { addWarmUpNews, lockWarmUp, updateWarmUp, type WarmUpKey, type WarmUpNews } from "./store.ts";
import { bulkCeilingOf, ceilingOf, dayOf, onDay } from "./warm-up.ts";

/** A block is the fiftieth part of a ceiling, and no more than this. */
const BLOCKS = 50;
const LARGEST_BLOCK = 500;
const FLUSH_MS = 2_000;
/** Somebody may have given back what was all taken. */
const ASK_AGAIN_MS = 30_000;
const MOST_REMEMBERED = 10_000;

/** One warm-up on one day. */
interface Plan extends WarmUpKey {
  readonly workspaceId: WorkspaceId;
  readonly startedAt: Date;
  readonly day: string;
}

interface Block {
  readonly plan: Plan;
  left: number;
  asking: Promise<void> | null;
}

/** A place of today's, for one message. */
export interface Allowance {
  /** An attempt was made; one that reached nobody costs nothing. */
  settle(result: AttemptResult): void;
  giveBack(): void;
}

export class WarmUpAllowances {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #flushMs: number;
  readonly #blocks = new Map<string, Block>();
  /** Where everything was taken when we last asked. */
  readonly #usedUp = new ExpiringMap<true>(MOST_REMEMBERED);
  #news: WarmUpNews[] = [];
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

  /** A place for one message, or null when today has none left. */
  async take(
    place: WarmUpKey & { readonly workspaceId: WorkspaceId; readonly startedAt: Date },
    priority: Priority,
  ): Promise<Allowance | null> {
    const plan = { ...place, day: dayOf(this.#clock.now()) };
    const key = `${plan.day} ${plan.sendingIpId} ${plan.startedAt.getTime()} ${plan.lane} ${priority}`;
    const block = this.#blockOf(key, plan);
    while (block.left === 0) {
      if (this.#usedUp.get(key)) return null;
      block.asking ??= this.#refill(key, block, priority).finally(() => {
        block.asking = null;
      });
      await block.asking;
    }
    block.left -= 1;
    const giveBack = () => {
      if (this.#closing.signal.aborted) this.#note({ ...plan, sent: 0, deferred: 0, returned: 1 });
      else block.left += 1;
    };
    return {
      giveBack,
      settle: (result) => {
        if (!hasReached(result)) return giveBack();
        this.#note({ ...plan, sent: 1, deferred: isAboutReputation(result) ? 1 : 0, returned: 0 });
      },
    };
  }

  /** Tells what is left, and hands back what nobody has used. */
  async close(): Promise<void> {
    this.#closing.abort();
    for (const { plan, left } of this.#blocks.values()) {
      if (left > 0) this.#news.push({ ...plan, sent: 0, deferred: 0, returned: left });
    }
    this.#blocks.clear();
    await this.#flushing;
    await this.#flush();
  }

  #blockOf(key: string, plan: Plan): Block {
    const known = this.#blocks.get(key);
    if (known) return known;
    for (const [old, { plan: other }] of this.#blocks) if (other.day < plan.day) this.#blocks.delete(old);
    const block: Block = { plan, left: 0, asking: null };
    this.#blocks.set(key, block);
    return block;
  }

  async #refill(key: string, block: Block, priority: Priority): Promise<void> {
    const { plan } = block;
    const granted = await this.#db.transaction(async (tx) => {
      const fresh = onDay(undefined, plan.startedAt, plan.day);
      const before = await lockWarmUp(tx, plan.workspaceId, plan, fresh);
      const now = onDay(before, plan.startedAt, plan.day);
      const ceiling = priority === 0 ? ceilingOf(now.step) : bulkCeilingOf(now.step);
      const most = Math.min(Math.ceil(ceilingOf(now.step) / BLOCKS), LARGEST_BLOCK);
      const grant = Math.max(0, Math.min(most, ceiling - now.reserved));
      if (grant > 0 || now !== before) {
        await updateWarmUp(tx, plan.workspaceId, plan, { ...now, reserved: now.reserved + grant });
      }
      return grant;
    });
    block.left += granted;
    if (granted === 0) this.#usedUp.set(key, true, ASK_AGAIN_MS);
  }

  #note(news: WarmUpNews): void {
    this.#news.push(news);
    this.#flushing ??= this.#flushSoon();
  }

  async #flushSoon(): Promise<void> {
    const { signal } = this.#closing;
    let isStored: boolean;
    do {
      await delay(this.#flushMs, undefined, { ref: false, signal }).catch(() => {});
      isStored = await this.#flush();
    } while (this.#news.length > 0 && (isStored || !signal.aborted));
    this.#flushing = null;
  }

  /** False when it did not work: what there is to tell is kept for the next time. */
  async #flush(): Promise<boolean> {
    const news = added(this.#news.splice(0));
    if (news.length === 0) return true;
    try {
      await addWarmUpNews(this.#db, news);
      return true;
    } catch (err) {
      this.#news.push(...news);
      this.#log.error({ err }, "warm-up counts were not stored");
      return false;
    }
  }
}

/** One row for each plan. */
function added(news: readonly WarmUpNews[]): WarmUpNews[] {
  const groups = Map.groupBy(
    news,
    ({ sendingIpId, lane, day, startedAt }) => `${day} ${sendingIpId} ${startedAt.getTime()} ${lane}`,
  );
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
  return [...groups.values()].flatMap((group) =>
    group.slice(0, 1).map((plan) => ({
      ...plan,
      sent: sum(group.map(({ sent }) => sent)),
      deferred: sum(group.map(({ deferred }) => deferred)),
      returned: sum(group.map(({ returned }) => returned)),
    })),
  );
}

/** Whether the receiver has seen anything of us. */
function hasReached(result: AttemptResult): boolean {
  if (result.outcome === "unroutable") return false;
  return result.outcome !== "broken" || result.stage !== "connect";
}

function isAboutReputation(result: AttemptResult): boolean {
  if (result.outcome !== "refused") return false;
  const { retry, category } = classifyReply(result);
  return retry && category === "Reputation";
}
