/**
 * Delivery receipts, from whoever hears of them to the message door. A receipt is kept first and answered then; it takes
 * effect when what it is of is known too, whichever of the two came first and on whatever machine. One that names a
 * message of ours, as HTTP gateways' do, is known at once: it also ends what waits to be sent again.
 */

import { removeQueueEntries } from "#delivery/queue/queue-store.ts";
import { type OnMoved, type Outcome, unclassified } from "#messages/message/outcome.ts";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import type { Clock } from "#platform/clock.ts";
import { batchOrOneByOne } from "#platform/database/data-fault.ts";
import type { Database } from "#platform/database/pool.ts";
import type { Log } from "#platform/log/log.ts";
import type { SmsReceipt } from "./gateway.ts";
import {
  insertReceipts,
  removeUnknownReceipts,
  type Submission,
  takeExpired,
  takeReceived,
} from "./store.ts";

const BATCH = 500;
/** How often it is looked for receipts that others kept. */
const LOOK_MS = 2_000;
const EXPIRE_EVERY = 30;

export interface ReceiptDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly onMoved: OnMoved;
}

/** Moves the messages that receipts have come for; says how many. */
export async function applyReceipts({ db, onMoved }: Pick<ReceiptDeps, "db" | "onMoved">): Promise<number> {
  for (let applied = 0; ; ) {
    const taken = await db.transaction(
      async (tx) => {
        const ends = await takeReceived(tx, BATCH);
        // The gateway has them: they must not be sent once more.
        await removeQueueEntries(
          tx,
          ends.filter(({ isQueued }) => isQueued),
        );
        const news = ends.map((end) => ({
          ...outcomeOf(end, end.status, end.time, `Receipt: ${end.detail}`),
          attempts: end.attempts,
        }));
        await recordOutcomes(tx, news, onMoved);
        return ends.length;
      },
      { mayRepeat: true },
    );
    applied += taken;
    if (taken === 0) return applied;
  }
}

/** Fails the messages that no receipt came for in time, and forgets receipts that are of nothing. */
export async function expireReceipts({ db, clock, onMoved }: Omit<ReceiptDeps, "log">): Promise<void> {
  const now = clock.now();
  await removeUnknownReceipts(db, now);
  const expire = () =>
    db.transaction(
      async (tx) => {
        const late = await takeExpired(tx, now, BATCH);
        const detail = "The SMS gateway took it, and sent no delivery receipt in time";
        await recordOutcomes(
          tx,
          late.map((one) => outcomeOf(one, "failed", now, detail)),
          onMoved,
        );
        return late.length;
      },
      { mayRepeat: true },
    );
  while ((await expire()) === BATCH);
}

function outcomeOf(
  { workspaceId, messageId }: Submission,
  status: "delivered" | "failed",
  time: Date,
  detail: string,
): Outcome {
  const nothing = { attempts: null, nextAttemptAt: null, mxHost: null, code: null, enhancedCode: null };
  return { workspaceId, messageId, status, time, detail, isAddressFault: false, ...unclassified, ...nothing };
}

export interface ReceiptDesk {
  /** Resolves when the receipt is kept. */
  take(receipt: SmsReceipt): Promise<void>;
  stop(): Promise<void>;
}

interface Waiting {
  readonly receipt: SmsReceipt;
  readonly kept: PromiseWithResolvers<void>;
}

/** Keeps what comes in bulk, and looks after what has come. */
export function openReceiptDesk(deps: ReceiptDeps): ReceiptDesk {
  const { db, clock, log } = deps;
  const waiting: Waiting[] = [];
  let working: Promise<void> | null = null;
  let looks = 0;

  const keepAll = async () => {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, BATCH);
      const keep = async (some: readonly Waiting[]) => {
        await insertReceipts(
          db,
          some.map(({ receipt }) => receipt),
          clock.now(),
        );
        for (const { kept } of some) kept.resolve();
      };
      try {
        await batchOrOneByOne(batch, keep, ({ kept }, fault) => kept.reject(fault));
      } catch (error) {
        // Who has an answer already keeps that.
        for (const { kept } of batch) kept.reject(error);
      }
    }
    await applyReceipts(deps);
  };
  const look = async () => {
    try {
      await keepAll();
    } finally {
      // Whatever became of those: what is too old is in the way of others.
      if (looks++ % EXPIRE_EVERY === 0) await expireReceipts(deps);
    }
  };
  /** One after the other; what arrives meanwhile is in the next. */
  const work = (task: () => Promise<void>) => {
    working ??= task()
      .catch((error: unknown) =>
        log.error({ err: error }, "delivery receipts wait: something of ours was away"),
      )
      .finally(() => {
        working = null;
        if (waiting.length > 0) work(keepAll);
      });
  };
  const timer = setInterval(() => work(look), LOOK_MS).unref();

  return {
    take(receipt) {
      const kept = Promise.withResolvers<void>();
      waiting.push({ receipt, kept });
      work(keepAll);
      return kept.promise;
    },
    async stop() {
      clearInterval(timer);
      while (working !== null) await working;
    },
  };
}
