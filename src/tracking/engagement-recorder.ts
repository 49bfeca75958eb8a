/**
 * Records opens and clicks in micro-batches. The answer to the reader waits for the database only briefly (tracking-deps.ts): an
 * image that does not load, or a link that does not open, is worse than an open that is not counted. So a crash loses the
 * events of the last commits, and a long database outage loses the events beyond MOST_WAITING.
 *
 * A click soon after delivery is held for two seconds: link scanners follow all links of a mail at once, and only the
 * number of different links in that time tells a scanner from a fast reader.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Engagement } from "#messages/record-engagement.ts";
import type { Log } from "#platform/log/log.ts";
import { MicroBatch } from "#platform/micro-batch.ts";

const BATCH = 500;
const MOST_WAITING = 20_000;
const RETRY_MS = 1_000;
/** After this many failures in a row a batch is dropped: its content may be the cause. */
const MOST_TRIES = 30;
/** Three different links of one mail within two seconds are a scanner. */
const SWEEP_MS = 2_000;
const SWEEP_LINKS = 3;
/** Held clicks of one mail; clicks beyond are dropped. */
const MOST_HELD = 100;

export interface RecorderDeps {
  /** Writes one batch in one transaction; throws when it did not commit. */
  readonly commit: (engagements: readonly Engagement[]) => Promise<void>;
  readonly log: Log;
  readonly sweepMs?: number;
  readonly retryMs?: number;
}

interface Waiting {
  readonly engagement: Engagement;
  readonly done: () => void;
}

/** The first clicks on one mail. */
interface HeldClicks {
  readonly clicks: Engagement[];
  readonly timer: NodeJS.Timeout;
}

export class EngagementRecorder {
  readonly #deps: RecorderDeps;
  readonly #batch: MicroBatch<Waiting>;
  /** By message id. */
  readonly #held = new Map<string, HeldClicks>();

  constructor(deps: RecorderDeps) {
    this.#deps = deps;
    this.#batch = new MicroBatch({
      flush: (batch) => this.#flush(batch),
      size: BATCH,
      maxWaiting: MOST_WAITING,
    });
  }

  /** Resolves when the event is recorded or dropped; never rejects. */
  record(engagement: Engagement): Promise<void> {
    return new Promise((done) => {
      if (!this.#batch.add({ engagement, done })) done();
    });
  }

  /** Records a click after two seconds, because a scanner may have made it. */
  hold(click: Engagement): void {
    const held = this.#held.get(click.messageId);
    if (held) {
      if (held.clicks.length < MOST_HELD) held.clicks.push(click);
      return;
    }
    if (this.#held.size >= MOST_WAITING) return;
    const timer = setTimeout(() => void this.#release(click.messageId), this.#deps.sweepMs ?? SWEEP_MS);
    this.#held.set(click.messageId, { clicks: [click], timer: timer.unref() });
  }

  /** Records everything, held clicks included. */
  async flush(): Promise<void> {
    await Promise.all([...this.#held.keys()].map((messageId) => this.#release(messageId)));
    await this.#batch.flushed();
  }

  async #flush(batch: readonly Waiting[]): Promise<void> {
    await this.#commit(merged(batch.map(({ engagement }) => engagement)));
    // Readers are answered while the next batch is under way.
    setImmediate(() => {
      for (const { done } of batch) done();
    });
  }

  async #commit(engagements: readonly Engagement[]): Promise<void> {
    const { commit, log, retryMs = RETRY_MS } = this.#deps;
    const count = engagements.length;
    for (let tries = 1; tries <= MOST_TRIES; tries++) {
      try {
        return await commit(engagements);
      } catch (err) {
        log.warn({ err, engagements: count, tries }, "opens and clicks could not be recorded, trying again");
      }
      await delay(retryMs, undefined, { ref: false });
    }
    log.error({ engagements: count }, "opens and clicks dropped: they could not be recorded");
  }

  async #release(messageId: string): Promise<void> {
    const held = this.#held.get(messageId);
    if (held === undefined) return;
    this.#held.delete(messageId);
    clearTimeout(held.timer);
    const isSweep = new Set(held.clicks.map(linkOf)).size >= SWEEP_LINKS;
    await Promise.all(
      held.clicks.map((click) =>
        this.record(isSweep ? { ...click, machineSign: click.machineSign ?? "sweep" } : click),
      ),
    );
  }
}

/** Events that differ only in time become one, with the sum of their `times`: a flood adds few rows. */
function merged(engagements: readonly Engagement[]): Engagement[] {
  const different = new Map<string, Engagement>();
  for (const one of engagements) {
    const key = JSON.stringify([one.messageId, one.kind, linkOf(one), one.machineSign, one.userAgent]);
    const same = different.get(key);
    different.set(key, same ? { ...same, times: same.times + one.times } : one);
  }
  return [...different.values()];
}

/** A link inside a loop of a template has one index and a different target in each iteration. */
function linkOf({ linkIndex, target }: Engagement): string {
  return `${linkIndex} ${target}`;
}
