/**
 * A delivery worker: leases due messages, gives them to a transport, and writes how each one ends.
 *
 * 1. At the start and with every heartbeat it replays the journals of dead workers on this machine and releases their leases
 *    (recovery.ts).
 * 2. It leases a batch, transactional mail first, while there is room (lease-pacing.ts), and checks it (dispatcher.ts): messages
 *    to suppressed recipients and of cancelled campaigns end here, and content that is not stored is made.
 * 3. The transport finds the route of each message and sends it (smtp-transport.ts, lanes/lane-scheduler.ts, sms/), and reports
 *    how it ended (message/attempt.ts).
 * 4. The result (queue/result-of-ending.ts) is journaled and written to the database in batches (result-writer.ts).
 *
 * No transaction is open while SMTP is spoken: a lease is a deadline in the queue, which the heartbeat extends.
 */
import { setTimeout as delay } from "node:timers/promises";
import sql from "sql-template-tag";
import type { Ending } from "#delivery/message/attempt.ts";
import { reported } from "#delivery/message/lane-wait.ts";
import type { LeasedMessage } from "#delivery/message/message.ts";
import type { PresendCheck } from "#delivery/message/presend-decision.ts";
import type { Transport, TransportEvents } from "#delivery/message/transport.ts";
import type { DeliveryResult } from "#delivery/queue/decide-result.ts";
import { HeldMessages } from "#delivery/queue/held-messages.ts";
import { LEASE_SECONDS, Leasing, QUEUE_POLL_MS } from "#delivery/queue/lease-pacing.ts";
import { DELIVERY_CHANNEL } from "#delivery/queue/notify-workers.ts";
import { resultOf } from "#delivery/queue/result-of-ending.ts";
import { releaseLeasesOf } from "#delivery/queue/settle-leases-store.ts";
import { holdWorkerLock } from "#delivery/queue/worker-lock.ts";
import type { SmsTransport } from "#delivery/sms/sms-transport.ts";
import type { OnMoved } from "#messages/message/outcome.ts";
import type { Clock } from "#platform/clock.ts";
import { type Database, listen } from "#platform/database/pool.ts";
import type { ProcessLock } from "#platform/database/process-lock.ts";
import { newId } from "#platform/ids.ts";
import type { Log } from "#platform/log/log.ts";
import type { ProcessReport } from "#platform/process/running-processes-store.ts";
import { Dispatcher } from "./dispatcher.ts";
import { Heartbeat } from "./heartbeat.ts";
import { Journal } from "./journal.ts";
import { logFault, logOutcome } from "./log-ending.ts";
import { Recovery } from "./recovery.ts";
import { ResultWriter } from "./result-writer.ts";

/** A message whose lease ends sooner is not started: the lease could lapse before the server answers MAIL. */
const LEASE_MARGIN_MS = 10_000;
/**
 * After a database outage leases of living workers may have lapsed. Each worker waits this long before it leases again, so that
 * all of them have written their results.
 */
const AFTER_OUTAGE_MS = 3_000;
const STOP_MS = 25_000;
/** With more unwritten results than this nothing is leased. */
const MOST_UNWRITTEN = 5_000;

/** What must not be started now. */
export interface Halted {
  /** Whether sending is held for the whole installation (hold/store.ts). */
  readonly isSendingHeld: boolean;
  /** Campaigns whose messages are not leased. */
  readonly paused: readonly string[];
  /** Campaigns whose messages are leased, so that the pre-send check ends them. */
  readonly cancelled: readonly string[];
}

export interface DeliveryWorkerOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Folder of this machine's journals. */
  readonly journalFolder: string;
  readonly createTransport: (events: TransportEvents) => Transport;
  /** Null without an SMS gateway. */
  readonly createSmsTransport?: ((events: TransportEvents) => SmsTransport) | null;
  readonly random?: () => number;
  /** Called for messages whose suppression check is too old, and for those without stored content. */
  readonly check: PresendCheck;
  readonly findHalted: () => Promise<Halted>;
  /** Reacts to changes of a message's status, in the same transaction (messages/record-outcomes.ts). */
  readonly onMoved: OnMoved;
  /** Called with every result, for the metrics; with the name of its lane if an attempt was made in one. */
  readonly onResult?: (result: DeliveryResult, lane: string | undefined) => void;
  /** Called after every look at the queue, whether or not something was due, and also while sending is held. */
  readonly onLook?: () => void;
}

export class DeliveryWorker {
  readonly workerId: string;
  readonly #options: DeliveryWorkerOptions;
  readonly #held = new HeldMessages();
  readonly #journal: Journal;
  readonly #writer: ResultWriter;
  readonly #transport: Transport;
  readonly #smsTransport: SmsTransport | null;
  readonly #leasing: Leasing;
  readonly #stopping = new AbortController();
  readonly #lock: ProcessLock;
  /** Resolved when there may be something to lease. */
  #wake = Promise.withResolvers<void>();
  /** What was halted at the last look. */
  #halted: Halted = { isSendingHeld: false, paused: [], cancelled: [] };
  #haltedIds: ReadonlySet<string> = new Set();
  #working: Promise<void> = Promise.resolve();
  #beating: Promise<void> = Promise.resolve();

  private constructor(options: DeliveryWorkerOptions, workerId: string, lock: ProcessLock) {
    const { db, journalFolder, log, onMoved } = options;
    this.#options = options;
    this.workerId = workerId;
    this.#lock = lock;
    this.#journal = new Journal(journalFolder, { workerId, pid: process.pid });
    this.#writer = new ResultWriter(db, this.#journal, log, onMoved);
    const events: TransportEvents = {
      mayStart: (message) => this.#mayStart(message),
      onEnd: (message, ending) => this.#onEnd(message, ending),
    };
    this.#transport = options.createTransport(events);
    this.#smsTransport = options.createSmsTransport?.(events) ?? null;
    const dispatcher = new Dispatcher({
      clock: options.clock,
      log,
      held: this.#held,
      check: options.check,
      transport: this.#transport,
      smsTransport: this.#smsTransport,
      onEnd: (message, ending) => this.#onEnd(message, ending),
    });
    this.#leasing = new Leasing({
      db,
      workerId,
      held: this.#held,
      log,
      unwritten: () => this.#writer.unwritten,
      saturatedDomains: (priority) => this.#transport.saturatedDomains(priority),
      haltedCampaigns: () => this.#unleasedCampaigns(),
      receive: (messages, until) => dispatcher.dispatch(messages, until),
    });
  }

  /** Resolves when the worker holds its lock and the journals of dead workers are replayed. */
  static async start(options: DeliveryWorkerOptions): Promise<DeliveryWorker> {
    const workerId = newId();
    let worker: DeliveryWorker | undefined;
    // The lock is taken before the journal is opened, because a journal without a lock counts as that of a dead worker.
    const lock = await holdWorkerLock(options.db, workerId, () => {
      if (worker !== undefined) worker.#doubtLeases();
    });
    worker = new DeliveryWorker(options, workerId, lock);
    await worker.#start();
    return worker;
  }

  /** What the process says about its lanes. */
  get report(): ProcessReport {
    return {
      waits: reported(this.#transport.waitingLanes?.() ?? []),
      paused_lanes: this.#transport.pausedLanes?.() ?? {},
    };
  }

  /**
   * Starts no more messages, waits at most 25 s for those being sent, writes the results and releases all other leases.
   * Messages still being sent then keep their lease and the journal, for the next worker to recover.
   */
  async stop(): Promise<void> {
    const { log } = this.#options;
    this.#stopping.abort();
    this.#wake.resolve();
    await this.#working;
    this.#transport.close();
    this.#smsTransport?.close();
    const deadline = performance.now() + STOP_MS;
    const timeLeft = () => Math.max(0, deadline - performance.now());
    while (this.#held.size > 0 && timeLeft() > 0) await delay(20);
    const isWritten = await this.#writer.flushed(timeLeft());
    const isClean = isWritten && this.#held.size === 0;
    if (isClean) await this.#releaseLeases();
    else {
      const counts = { unwritten: this.#writer.unwrittenCount, sending: this.#held.size };
      log.error(counts, "delivery worker stopped before all results were written");
    }
    await this.#beating;
    await this.#lock.end();
    // The journal is removed only after the lock is released: a lock that is held again would recreate a removed
    // journal.
    if (isClean) this.#journal.remove();
  }

  /** Never rejects: leases that cannot be released lapse. */
  async #releaseLeases(): Promise<void> {
    const { db, log } = this.#options;
    await releaseLeasesOf(db, this.workerId).catch((err: unknown) => {
      log.warn({ err }, "the leases could not be released at the stop: they lapse within a minute");
    });
  }

  async #start(): Promise<void> {
    const { db, log, journalFolder, onMoved } = this.#options;
    const { workerId } = this;
    const recovery = new Recovery({ db, journalFolder, workerId, log, onMoved });
    const heartbeat = new Heartbeat({
      db,
      workerId,
      held: this.#held,
      writer: this.#writer,
      lock: this.#lock,
      recovery,
      log,
    });
    this.#beating = heartbeat.run(this.#stopping.signal);
    await recovery.run();
    void listen(db, DELIVERY_CHANNEL, this.#stopping.signal, () => {
      this.#leasing.expectArrivals();
      this.#wake.resolve();
    });
    this.#working = this.#leaseUntilStopped();
  }

  /** Called when the lock was lost for a time: other workers may have recovered this one. */
  #doubtLeases(): void {
    this.#writer.doubtJournal();
    this.#held.doubt(performance.now() + LEASE_SECONDS * 1000);
  }

  get #isSafe(): boolean {
    return this.#lock.isHeld && this.#writer.isSafe;
  }

  #mayStart(message: LeasedMessage): boolean {
    return (
      !this.#stopping.signal.aborted &&
      this.#isSafe &&
      !this.#halted.isSendingHeld &&
      this.#held.timeLeft(message) > LEASE_MARGIN_MS &&
      (message.origin_id === null || !this.#haltedIds.has(message.origin_id))
    );
  }

  #onEnd(message: LeasedMessage, ending: Ending): void {
    const { clock, log, random = Math.random } = this.#options;
    logFault(log, message, ending);
    const result = resultOf(message, ending, clock.now(), random());
    logOutcome(log, message, ending, result);
    this.#held.remove(message);
    this.#writer.add(result);
    const attempt = ending.kind === "attempted" && "lane" in ending.attempt ? ending.attempt : undefined;
    this.#options.onResult?.(result, attempt?.lane);
    if (this.#leasing.isDue) this.#wake.resolve();
  }

  async #leaseUntilStopped(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      this.#wake = Promise.withResolvers();
      const hasLeased = await this.#leaseBatch();
      // `leasing.isDue` stays true while leasing is blocked; without `hasLeased` this would spin.
      if (hasLeased && this.#leasing.isDue) continue;
      await Promise.race([this.#wake.promise, delay(this.#leasing.pauseMs, undefined, { ref: false })]);
    }
  }

  /** False when leasing is held, blocked or failed. */
  async #leaseBatch(): Promise<boolean> {
    const { db, log, findHalted, onLook } = this.#options;
    try {
      this.#halted = await findHalted();
      this.#haltedIds = new Set([...this.#halted.paused, ...this.#halted.cancelled]);
      if (this.#halted.isSendingHeld) {
        onLook?.();
        return false;
      }
      if (!this.#isSafe || this.#writer.unwrittenCount > MOST_UNWRITTEN) return false;
      await this.#leasing.lease();
      onLook?.();
      return true;
    } catch (error) {
      log.error({ err: error }, "leasing failed, trying again");
      await databaseIsBack(db, this.#stopping.signal);
      return false;
    }
  }

  /** Campaigns whose messages are not leased now. Cancelled ones are leased, so that the pre-send check ends them. */
  #unleasedCampaigns(): string[] {
    const sms = this.#smsTransport?.saturatedCampaigns ?? [];
    return [
      ...this.#halted.paused,
      ...sms.filter((id) => !this.#halted.cancelled.includes(id)),
      ...(this.#transport.foreignCampaigns?.() ?? []),
    ];
  }
}

/** Waits until the database answers again, plus AFTER_OUTAGE_MS. */
async function databaseIsBack(db: Database, signal: AbortSignal): Promise<void> {
  const pause = (ms: number) => delay(ms, undefined, { signal }).catch(() => {});
  const answers = () =>
    db.run(sql`select`).then(
      () => true,
      () => false,
    );
  while (!signal.aborted && !(await answers())) await pause(QUEUE_POLL_MS);
  await pause(AFTER_OUTAGE_MS);
}
