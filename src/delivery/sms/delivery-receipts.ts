/**
 * Stores delivery receipts of SMS, and applies them to their messages. A receipt is stored before it is acknowledged. It is
 * applied once its message is known, whichever of the two arrives first and on whatever machine. A receipt that names our
 * message (HTTP gateways) also ends a message that waits for another attempt.
 */

import { removeQueueEntries } from "#delivery/queue/queue-store.ts";
import { type OnMoved, type Outcome, unclassified } from "#messages/message/outcome.ts";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import type { Clock } from "#platform/clock.ts";
import { batchOrOneByOne } from "#platform/database/data-fault.ts";
import type { Database } from "#platform/database/pool.ts";
import type { Log } from "#platform/log/log.ts";
import {
  insertReceipts,
  removeUnknownReceipts,
  type SmsSubmission,
  takeExpired,
  takeReceived,
} from "./delivery-receipts-store.ts";
import type { SmsReceipt } from "./gateway.ts";

const BATCH = 500;
/** How often receipts are applied that other processes have stored. */
const LOOK_MS = 2_000;
const EXPIRE_EVERY = 30;

export interface ReceiptDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly onMoved: OnMoved;
}

/** Records the outcomes of messages whose receipts are stored. @returns how many */
export async function applyReceipts({ db, onMoved }: Pick<ReceiptDeps, "db" | "onMoved">): Promise<number> {
  for (let applied = 0; ; ) {
    const taken = await db.transaction(
      async (tx) => {
        const ends = await takeReceived(tx, BATCH);
        // The gateway has these messages: they must not be sent again.
        await removeQueueEntries(
          tx,
          ends.filter(({ isQueued }) => isQueued),
        );
        const outcomes = ends.map((end) => ({
          ...outcomeOf(end, end.status, end.time, `Receipt: ${end.detail}`),
          attempts: end.attempts,
        }));
        await recordOutcomes(tx, outcomes, onMoved);
        return ends.length;
      },
      { mayRepeat: true },
    );
    applied += taken;
    if (taken === 0) return applied;
  }
}

/** Fails messages whose receipt did not arrive in time, and deletes receipts of unknown messages. */
export async function expireReceipts({ db, clock, onMoved }: Omit<ReceiptDeps, "log">): Promise<void> {
  const now = clock.now();
  await removeUnknownReceipts(db, now);
  const expire = () =>
    db.transaction(
      async (tx) => {
        const late = await takeExpired(tx, now, BATCH);
        const detail = "The SMS gateway accepted it, but sent no delivery receipt in time";
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
  { workspaceId, messageId }: SmsSubmission,
  status: "delivered" | "failed",
  time: Date,
  detail: string,
): Outcome {
  const nothing = { attempts: null, nextAttemptAt: null, mxHost: null, code: null, enhancedCode: null };
  return { workspaceId, messageId, status, time, detail, isAddressFault: false, ...unclassified, ...nothing };
}

interface WaitingReceipt {
  readonly receipt: SmsReceipt;
  readonly stored: PromiseWithResolvers<void>;
}

/** Stores receipts in batches, and applies those that this or another process has stored. */
export class DeliveryReceipts {
  readonly #deps: ReceiptDeps;
  readonly #waiting: WaitingReceipt[] = [];
  readonly #timer: NodeJS.Timeout;
  #working: Promise<void> | null = null;
  #looks = 0;

  constructor(deps: ReceiptDeps) {
    this.#deps = deps;
    this.#timer = setInterval(() => this.#work(() => this.#look()), LOOK_MS).unref();
  }

  /** Resolves when the receipt is stored. */
  take(receipt: SmsReceipt): Promise<void> {
    const stored = Promise.withResolvers<void>();
    this.#waiting.push({ receipt, stored });
    this.#work(() => this.#storeAll());
    return stored.promise;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    while (this.#working !== null) await this.#working;
  }

  /** One task at a time; receipts that arrive meanwhile are stored by the next one. */
  #work(task: () => Promise<void>): void {
    this.#working ??= task()
      .catch((err: unknown) =>
        this.#deps.log.error({ err }, "delivery receipts could not be stored or applied, trying again"),
      )
      .finally(() => {
        this.#working = null;
        if (this.#waiting.length > 0) this.#work(() => this.#storeAll());
      });
  }

  async #look(): Promise<void> {
    try {
      await this.#storeAll();
    } finally {
      // Expired receipts are deleted after a failure, too: they would keep others from being applied.
      if (this.#looks++ % EXPIRE_EVERY === 0) await expireReceipts(this.#deps);
    }
  }

  async #storeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, BATCH);
      try {
        await batchOrOneByOne(
          batch,
          (some) => this.#store(some),
          ({ stored }, fault) => stored.reject(fault),
        );
      } catch (error) {
        // Rejecting a promise that is settled already changes nothing.
        for (const { stored } of batch) stored.reject(error);
      }
    }
    await applyReceipts(this.#deps);
  }

  async #store(some: readonly WaitingReceipt[]): Promise<void> {
    const { db, clock } = this.#deps;
    await insertReceipts(
      db,
      some.map(({ receipt }) => receipt),
      clock.now(),
    );
    for (const { stored } of some) stored.resolve();
  }
}
