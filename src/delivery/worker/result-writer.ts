/**
 * Writes delivery results: each is journaled at once, and written to the database in micro-batches. A database outage
 * stops nothing: results wait, in memory and in the journal.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { DeliveryResult } from "#delivery/queue/decide-result.ts";
import { type Lease, leaseKey, settleLeases } from "#delivery/queue/settle-leases-store.ts";
import { insertSubmissions } from "#delivery/sms/delivery-receipts-store.ts";
import type { OnMoved } from "#messages/message/outcome.ts";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import { batchOrOneByOne, isDataFault } from "#platform/database/data-fault.ts";
import type { Database } from "#platform/database/pool.ts";
import type { Log } from "#platform/log/log.ts";
import { MicroBatch } from "#platform/micro-batch.ts";
import type { Journal } from "./journal.ts";

const BATCH = 500;
const RETRY_MS = 1_000;
/** A journal that grows beyond this is rewritten with the unwritten results only. */
const JOURNAL_BYTES = 8 * 1024 * 1024;

/** Settles leases and records the outcomes of those that were still valid, in one transaction. */
export async function writeResultBatch(
  db: Database,
  results: readonly DeliveryResult[],
  onMoved: OnMoved,
): Promise<void> {
  await db.transaction(
    async (tx) => {
      const settled = await settleLeases(
        tx,
        results.map(({ settlement }) => settlement),
      );
      const valid = results.filter(({ settlement }) => settled.has(leaseKey(settlement)));
      await recordOutcomes(
        tx,
        valid.flatMap(({ outcome }) => outcome ?? []),
        onMoved,
      );
      await insertSubmissions(
        tx,
        valid.flatMap(({ submission, settlement }) => (submission ? { ...settlement, ...submission } : [])),
      );
    },
    { mayRepeat: true },
  );
}

/**
 * Like `writeResultBatch`, but a result that PostgreSQL rejects (bad data) is retried alone with less detail, so that it does not
 * block the batch.
 */
export async function writeResults(
  db: Database,
  results: readonly DeliveryResult[],
  onMoved: OnMoved,
  log: Log,
): Promise<void> {
  await batchOrOneByOne(
    results,
    (some) => writeResultBatch(db, some, onMoved),
    (result, fault) => writeRejected(db, result, onMoved, log, fault),
  );
}

/** Tries with less and less detail, and finally without an outcome. If even the lease cannot be settled, it lapses. */
async function writeRejected(
  db: Database,
  result: DeliveryResult,
  onMoved: OnMoved,
  log: Log,
  fault: unknown,
): Promise<void> {
  const { settlement } = result;
  log.error(
    { err: fault, settlement },
    "delivery result rejected by the database, retrying with less detail",
  );
  const plain = withoutRemoteText(result);
  const noReaction: OnMoved = async () => {};
  for (const [rest, reaction] of [
    [plain, onMoved],
    // Counters, suppressions and webhooks do not follow; `doctor --counters` finds what was not counted.
    [plain, noReaction],
    [{ settlement: plain.settlement, outcome: null }, noReaction],
  ] as const) {
    try {
      return await writeResultBatch(db, [rest], reaction);
    } catch (err) {
      if (!isDataFault(err)) throw err;
      const next = rest.outcome === null ? "giving up" : "retrying with less detail";
      log.error({ err, settlement }, `delivery result rejected by the database again, ${next}`);
    }
  }
}

/** The result without any text from the remote side. */
function withoutRemoteText({ settlement, outcome, submission }: DeliveryResult): DeliveryResult {
  const empty = {
    detail: "",
    mxHost: null,
    code: null,
    enhancedCode: null,
    sourceIp: null,
    tls: null,
    conversation: null,
  };
  return {
    settlement: { ...settlement, sourceIp: null, routingVersion: null },
    outcome: outcome && { ...outcome, ...empty },
    // No receipt has this id: the SMS ends as one without a receipt.
    ...(submission && { submission: { ...submission, gatewayId: settlement.messageId } }),
  };
}

type WritableJournal = Pick<Journal, "append" | "probe" | "size" | "keepOnly">;

export class ResultWriter {
  readonly #db: Database;
  readonly #journal: WritableJournal;
  readonly #log: Log;
  readonly #onMoved: OnMoved;
  readonly #batch: MicroBatch<DeliveryResult>;
  /** Results that wait and those being written, in order. */
  readonly #unwritten: DeliveryResult[] = [];
  #isJournaling = true;
  #isFailing = false;
  /** The journal could not be shortened when it was due. */
  #isLong = false;

  constructor(db: Database, journal: WritableJournal, log: Log, onMoved: OnMoved) {
    this.#db = db;
    this.#journal = journal;
    this.#log = log;
    this.#onMoved = onMoved;
    this.#batch = new MicroBatch({
      flush: (batch) => this.#flush(batch),
      size: BATCH,
      startsNextTurn: true,
    });
  }

  /** Leases whose end the database does not know yet; they must not lapse meanwhile. */
  get unwritten(): readonly Lease[] {
    return this.#unwritten.map(({ settlement }) => settlement);
  }

  get unwrittenCount(): number {
    return this.#unwritten.length;
  }

  /** Whether results are safe from a crash. If not, no message may be started: its result could be lost. */
  get isSafe(): boolean {
    if (!this.#isJournaling) this.#journalAgain();
    return this.#isJournaling && !this.#isFailing;
  }

  /** To be called when another worker may have recovered this one, and removed its journal. */
  doubtJournal(): void {
    this.#isJournaling = false;
    this.#journalAgain();
  }

  add(result: DeliveryResult): void {
    if (!this.#journal.append(result)) {
      if (this.#isJournaling) {
        this.#log.error("journal cannot be written: is the disk of DATA_DIR full?");
      }
      this.#isJournaling = false;
    }
    this.#unwritten.push(result);
    this.#batch.add(result);
  }

  /** Waits until everything added so far is in the database; false when that takes longer than `ms`. */
  async flushed(ms: number): Promise<boolean> {
    await Promise.race([this.#batch.flushed(), delay(ms, undefined, { ref: false })]);
    return this.#unwritten.length === 0;
  }

  async #flush(batch: readonly DeliveryResult[]): Promise<void> {
    while (!(await this.#write(batch))) await delay(RETRY_MS);
    this.#unwritten.splice(0, batch.length);
    const isDue = this.#unwritten.length === 0 || this.#journal.size > JOURNAL_BYTES;
    if (isDue && !this.#isLong) this.#shortenJournal();
  }

  async #write(batch: readonly DeliveryResult[]): Promise<boolean> {
    try {
      await writeResults(this.#db, batch, this.#onMoved, this.#log);
      this.#isFailing = false;
      return true;
    } catch (error) {
      this.#isFailing = true;
      const unwritten = this.#unwritten.length;
      this.#log.error({ err: error, unwritten }, "delivery results could not be written, trying again");
      return false;
    }
  }

  /** Results that were not journaled are only in memory; the journal has them before any message is started. */
  #journalAgain(): void {
    if (this.#isLong || !this.#journal.probe()) return;
    this.#shortenJournal();
    this.#isJournaling = !this.#isLong;
  }

  /**
   * Rewrites the journal with the unwritten results; a failure is tried again later. A long journal is harmless: replaying
   * results that the database has changes nothing, and new results are appended.
   */
  #shortenJournal(): void {
    try {
      this.#journal.keepOnly(this.#unwritten);
      this.#isLong = false;
    } catch (error) {
      if (!this.#isLong) {
        this.#log.error({ err: error }, "journal cannot be shortened, trying again");
      }
      this.#isLong = true;
      setTimeout(() => this.#shortenJournal(), RETRY_MS).unref();
    }
  }
}
