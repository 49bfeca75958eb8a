/**
 * Records opens and clicks. What comes while a commit is under way goes into the next one: micro-batches without a timer.
 * Answers need not wait for it, and never wait long: a picture that does not come, or a link that does not open, is worse
 * than an open that is not counted. So a crash loses what came during the last commits, and a database that is away
 * for long costs what no longer finds room here.
 *
 * Clicks soon after delivery are held for two seconds: scanners follow all links of a mail at once, and only what comes
 * together tells them from an eager reader.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Engagement } from "#messages/record-engagement.ts";
import type { Log } from "#platform/log/log.ts";

/** How many a batch has at most, and how many may wait. */
const BATCH = 500;
const MOST_WAITING = 20_000;
const RETRY_MS = 1_000;
/** After so many failures in a row a batch is given up: it may be the cause. */
const MOST_TRIES = 30;
/** Different links of one mail within so long: nobody clicks like that. */
const SWEEP_MS = 2_000;
const SWEEP_LINKS = 3;
/** Clicks on one mail that are held; a flood of them is a flood either way. */
const MOST_HELD = 100;

export interface Recorder {
  /** Resolves when it is recorded, given up or held; never rejects. */
  record(engagement: Engagement): Promise<void>;
  /** The same of a click so soon after delivery that a scanner may have followed it. */
  hold(click: Engagement): void;
  /** Records all that is there, held clicks included. */
  flush(): Promise<void>;
}

interface Waiting {
  readonly engagement: Engagement;
  readonly done: () => void;
}

export function createRecorder(deps: {
  /** One transaction; throws when it did not commit. */
  readonly commit: (engagements: readonly Engagement[]) => Promise<void>;
  readonly log: Log;
  readonly sweepMs?: number;
  readonly retryMs?: number;
}): Recorder {
  const { commit, log, sweepMs = SWEEP_MS, retryMs = RETRY_MS } = deps;
  let waiting: Waiting[] = [];
  let running: Promise<void> | undefined;
  const held = new Map<string, { readonly clicks: Engagement[]; readonly timer: NodeJS.Timeout }>();

  const run = async () => {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH);
      waiting = waiting.slice(BATCH);
      await commitPatiently(folded(batch.map(({ engagement }) => engagement)));
      for (const { done } of batch) done();
    }
    running = undefined;
  };

  const commitPatiently = async (engagements: readonly Engagement[]) => {
    for (let tries = 1; tries <= MOST_TRIES; tries++) {
      try {
        return await commit(engagements);
      } catch (err) {
        log.warn({ err, engagements: engagements.length, tries }, "opens and clicks could not be recorded");
      }
      await delay(retryMs, undefined, { ref: false });
    }
    log.error({ engagements: engagements.length }, "opens and clicks are lost");
  };

  const record = (engagement: Engagement) =>
    new Promise<void>((done) => {
      if (waiting.length >= MOST_WAITING) return done();
      waiting.push({ engagement, done });
      running ??= run();
    });

  const release = (messageId: string): Promise<unknown> => {
    const visit = held.get(messageId);
    if (visit === undefined) return Promise.resolve();
    held.delete(messageId);
    clearTimeout(visit.timer);
    const isSweep = new Set(visit.clicks.map(linkOf)).size >= SWEEP_LINKS;
    return Promise.all(
      visit.clicks.map((click) =>
        record(isSweep ? { ...click, machineSign: click.machineSign ?? "sweep" } : click),
      ),
    );
  };

  return {
    record,
    hold(click) {
      const visit = held.get(click.messageId);
      if (visit) {
        if (visit.clicks.length < MOST_HELD) visit.clicks.push(click);
        return;
      }
      if (held.size >= MOST_WAITING) return;
      const timer = setTimeout(() => void release(click.messageId), sweepMs);
      held.set(click.messageId, { clicks: [click], timer: timer.unref() });
    },
    async flush() {
      await Promise.all([...held.keys()].map(release));
      await running;
    },
  };
}

/** Those that differ in nothing but the moment become one, that happened as often: a flood is not a flood of rows. */
function folded(engagements: readonly Engagement[]): Engagement[] {
  const different = new Map<string, Engagement>();
  for (const one of engagements) {
    const key = JSON.stringify([one.messageId, one.kind, linkOf(one), one.machineSign, one.userAgent]);
    const same = different.get(key);
    different.set(key, same ? { ...same, times: same.times + one.times } : one);
  }
  return [...different.values()];
}

/** A link in a loop leads to a place of its own in each turn. */
function linkOf({ linkIndex, target }: Engagement): string {
  return `${linkIndex} ${target}`;
}
