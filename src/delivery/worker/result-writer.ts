/**
 * The way back: conclusions are journaled as they come and settled in bulk, what arrived during the last commit in
 * the next one. A database that is away stops nothing: conclusions wait, in memory and in the journal.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { DeliveryResult } from "#delivery/queue/delivery-result.ts";
import { type Lease, leaseKey, settleLeases } from "#delivery/queue/queue-result-store.ts";
import { insertSubmissions } from "#delivery/sms/store.ts";
import type { OnMoved } from "#messages/message/outcome.ts";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import { batchOrOneByOne, isDataFault } from "#platform/database/data-fault.ts";
import type { Database } from "#platform/database/pool.ts";
import type { Log } from "#platform/log/log.ts";
import type { Journal } from "./journal.ts";

const BATCH = 500;
const RETRY_MS = 1_000;
/** A journal that never runs empty is rewritten with what still waits. */
const JOURNAL_BYTES = 8 * 1024 * 1024;

/** Settles leases and records the outcomes of those that were still valid, in one transaction. */
export async function settle(
  db: Database,
  conclusions: readonly DeliveryResult[],
  onMoved: OnMoved,
): Promise<void> {
  await db.transaction(
    async (tx) => {
      const settled = await settleLeases(
        tx,
        conclusions.map((conclusion) => conclusion.settlement),
      );
      const news = conclusions.flatMap(({ outcome, settlement }) =>
        outcome && settled.has(leaseKey(settlement)) ? outcome : [],
      );
      await recordOutcomes(tx, news, onMoved);
      await insertSubmissions(
        tx,
        conclusions.flatMap(({ submission, settlement }) =>
          submission && settled.has(leaseKey(settlement)) ? { ...settlement, ...submission } : [],
        ),
      );
    },
    { mayRepeat: true },
  );
}

/** The same, whatever the news say: a conclusion that PostgreSQL refuses holds up nobody else, and is cut short. */
export async function writeResults(
  db: Database,
  conclusions: readonly DeliveryResult[],
  onMoved: OnMoved,
  log: Log,
): Promise<void> {
  await batchOrOneByOne(
    conclusions,
    (some) => settle(db, some, onMoved),
    (conclusion, fault) => settleRefused(db, conclusion, onMoved, log, fault),
  );
}

/** With ever less of its news, at last with none; where even its lease cannot be settled, that lapses. */
async function settleRefused(
  db: Database,
  conclusion: DeliveryResult,
  onMoved: OnMoved,
  log: Log,
  fault: unknown,
): Promise<void> {
  const { settlement } = conclusion;
  log.error({ err: fault, settlement }, "the news of a message could not be stored");
  const bare = bareOf(conclusion);
  const nobody: OnMoved = async () => {};
  for (const [rest, told] of [
    [bare, onMoved],
    // Nothing follows from it in the rest of the house; `doctor --counters` finds what is not counted.
    [bare, nobody],
    [{ settlement: bare.settlement, outcome: null }, nobody],
  ] as const) {
    try {
      return await settle(db, [rest], told);
    } catch (err) {
      if (!isDataFault(err)) throw err;
      log.error({ err, settlement }, "what was left of the news of a message could not be stored either");
    }
  }
}

/** What became of a message, without a word of anybody else. */
function bareOf({ settlement, outcome, submission }: DeliveryResult): DeliveryResult {
  const wordless = { detail: "", mxHost: null, code: null, enhancedCode: null, sourceIp: null, tls: null };
  return {
    settlement: { ...settlement, sourceIp: null, routingVersion: null },
    outcome: outcome && { ...outcome, ...wordless },
    // No receipt names this one: it ends as one that none comes for.
    ...(submission && { submission: { ...submission, gatewayId: settlement.messageId } }),
  };
}

export class ResultWriter {
  readonly #db: Database;
  readonly #journal: Journal;
  readonly #log: Log;
  readonly #onMoved: OnMoved;
  #waiting: DeliveryResult[] = [];
  #flushing: Promise<void> | null = null;
  #isJournaling = true;
  #isFailing = false;
  /** The journal could not be shortened when it should have been. */
  #isLong = false;

  constructor(db: Database, journal: Journal, log: Log, onMoved: OnMoved) {
    this.#db = db;
    this.#journal = journal;
    this.#log = log;
    this.#onMoved = onMoved;
  }

  /** Leases whose end the database does not know yet; they must not lapse meanwhile. */
  get unwritten(): readonly Lease[] {
    return this.#waiting.map(({ settlement }) => settlement);
  }

  /** How many leases' end the database does not know yet. */
  get unwrittenCount(): number {
    return this.#waiting.length;
  }

  /** Is what is learned safe? If not, nothing new may be begun: it would be learned in vain. */
  get isSafe(): boolean {
    if (!this.#isJournaling) this.#journalAgain();
    return this.#isJournaling && !this.#isFailing;
  }

  /** Another worker may have taken this one for dead, and have removed its journal. */
  doubtJournal(): void {
    this.#isJournaling = false;
    this.#journalAgain();
  }

  add(conclusion: DeliveryResult): void {
    if (!this.#journal.append(conclusion)) {
      if (this.#isJournaling) {
        this.#log.error("the journal of this worker cannot be written: is the disk of DATA_DIR full?");
      }
      this.#isJournaling = false;
    }
    this.#waiting.push(conclusion);
    this.#flushing ??= this.#flush();
  }

  /** Waits until everything added so far is in the database; false when that takes longer than `ms`. */
  async flushed(ms: number): Promise<boolean> {
    await Promise.race([this.#flushing, delay(ms, undefined, { ref: false })]);
    return this.#waiting.length === 0;
  }

  async #flush(): Promise<void> {
    // What else this turn of the event loop brings shares the first commit.
    await new Promise(setImmediate);
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, BATCH);
      try {
        await writeResults(this.#db, batch, this.#onMoved, this.#log);
        this.#isFailing = false;
        this.#waiting.splice(0, batch.length);
        const isDue = this.#waiting.length === 0 || this.#journal.size > JOURNAL_BYTES;
        if (isDue && !this.#isLong) this.#shortenJournal();
      } catch (error) {
        this.#isFailing = true;
        this.#log.error({ err: error, waiting: this.#waiting.length }, "settling failed, trying again");
        await delay(RETRY_MS);
      }
    }
    this.#flushing = null;
  }

  /** What was not written down has only been in memory; the journal has it before anything new is begun. */
  #journalAgain(): void {
    if (this.#isLong || !this.#journal.probe()) return;
    this.#shortenJournal();
    this.#isJournaling = !this.#isLong;
  }

  /**
   * Where the disk does not let it, again a little later, and nobody waits for that: what the database has already
   * says nothing new when it is replayed, and what is learned meanwhile is appended to the rest.
   */
  #shortenJournal(): void {
    try {
      this.#journal.keepOnly(this.#waiting);
      this.#isLong = false;
    } catch (error) {
      if (!this.#isLong) {
        this.#log.error({ err: error }, "the journal of this worker cannot be shortened, trying again");
      }
      this.#isLong = true;
      setTimeout(() => this.#shortenJournal(), RETRY_MS).unref();
    }
  }
}
