/**
 * A delivery worker: leases what is due, hands it to a transport, and writes down how each message ends.
 *
 * 1. At the start and with every heartbeat it replays the journals of workers that died on this machine and releases
 *    their leases (recovery.ts).
 * 2. It leases a batch, transactional mail first, while there is room (leasing.ts), and checks it: suppressed recipients
 *    and cancelled campaigns end here, content that is not stored with the message is looked up (presend-check.ts).
 * 3. The transport finds each message's route and carries it (smtp-transport.ts, lanes/lane-scheduler.ts, sms/), and
 *    says how it ended (message/attempt.ts).
 * 4. The result (queue/result-of.ts) is journaled and written to the database in bulk (result-writer.ts).
 *
 * No transaction is open while SMTP is spoken: a lease is a deadline in the queue, moved by a heartbeat.
 */
import { setTimeout as delay } from "node:timers/promises";
import sql from "sql-template-tag";
import type { Ending } from "#delivery/message/attempt.ts";
import type { LeasedMessage } from "#delivery/message/message.ts";
import { type Decision, type PresendCheck, UnfitValues } from "#delivery/message/presend-check.ts";
import type { Transport, TransportEvents } from "#delivery/message/transport.ts";
import { DELIVERY_CHANNEL } from "#delivery/queue/channel.ts";
import type { DeliveryResult } from "#delivery/queue/delivery-result.ts";
import { HeldMessages } from "#delivery/queue/held-messages.ts";
import { LEASE_SECONDS, Leasing, POLL_MS } from "#delivery/queue/leasing.ts";
import { releaseLeasesOf } from "#delivery/queue/queue-result-store.ts";
import { resultOf } from "#delivery/queue/result-of.ts";
import { holdWorkerLock } from "#delivery/queue/worker-lock.ts";
import { declined } from "#delivery/sms/gateway.ts";
import type { SmsTransport } from "#delivery/sms/sms-transport.ts";
import type { OnMoved } from "#messages/message/outcome.ts";
import type { Clock } from "#platform/clock.ts";
import { type Database, listen } from "#platform/database/pool.ts";
import type { ProcessLock } from "#platform/database/process-lock.ts";
import { newId } from "#platform/ids.ts";
import type { Log } from "#platform/log/log.ts";
import { Heartbeat } from "./heartbeat.ts";
import { Journal } from "./journal.ts";
import { Recovery } from "./recovery.ts";
import { ResultWriter } from "./result-writer.ts";

/** A message is not started when its lease might lapse before the server has answered MAIL. */
const LEASE_MARGIN_MS = 10_000;
/**
 * After a database outage leases may have lapsed although their workers live: every worker writes its results before any
 * of them leases again.
 */
const AFTER_OUTAGE_MS = 3_000;
const STOP_MS = 25_000;
/** When messages come back whose pre-send check failed. */
const CHECK_AGAIN_SECONDS = 5;
/** Results that the database does not have yet; beyond this nothing new is leased. */
const MOST_UNWRITTEN = 5_000;

/** Campaigns of which no message is started. */
export interface Halted {
  /** Not leased either: they may be resumed. */
  readonly paused: readonly string[];
  /** Their messages are leased, so that the pre-send check ends them. */
  readonly cancelled: readonly string[];
}

export interface DeliveryWorkerOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Folder of this machine's journals. */
  readonly journalFolder: string;
  readonly createTransport: (events: TransportEvents) => Transport;
  /** What carries SMS; null where there is no gateway. */
  readonly createSmsTransport?: ((events: TransportEvents) => SmsTransport) | null;
  readonly random?: () => number;
  /** Asked about messages that have waited since acceptance, and about those without stored content. */
  readonly check: PresendCheck;
  readonly findHalted: () => Promise<Halted>;
  /** What follows from each change of a message's status (messages/record-outcomes.ts). */
  readonly onMoved: OnMoved;
  /** Told of every result, for the metrics. */
  readonly onResult?: (result: DeliveryResult) => void;
  /** Told of every completed look at the queue, whether or not something was due. */
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
  /** As of the last look at the queue. */
  #halted: Halted = { paused: [], cancelled: [] };
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
    this.#leasing = new Leasing({
      db,
      workerId,
      held: this.#held,
      saturatedDomains: (priority) => this.#transport.saturatedDomains(priority),
      haltedCampaigns: () => this.#unleasedCampaigns(),
      receive: (messages, until) => this.#receive(messages, until),
    });
  }

  /** Resolves when the worker holds its lock and the journals of dead workers are replayed. */
  static async start(options: DeliveryWorkerOptions): Promise<DeliveryWorker> {
    const workerId = newId();
    let worker: DeliveryWorker | undefined;
    // Before the journal is opened: a journal whose worker holds no lock is that of a dead one.
    const lock = await holdWorkerLock(options.db, workerId, () => {
      if (worker !== undefined) worker.#doubtLeases();
    });
    worker = new DeliveryWorker(options, workerId, lock);
    await worker.#start();
    return worker;
  }

  /**
   * Starts nothing more, waits at most 25 s for answers, writes the results and releases the rest. Messages that are
   * still being sent then keep their lease and their journal, for the next worker to recover.
   */
  async stop(): Promise<void> {
    const { db, log } = this.#options;
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
    if (isClean) await releaseLeasesOf(db, this.workerId);
    else {
      const counts = { unwritten: this.#writer.unwrittenCount, sending: this.#held.size };
      log.error(counts, "the delivery worker stops before all results are written");
    }
    await this.#beating;
    await this.#lock.end();
    // Not before: a lock that is taken again begins a removed journal anew.
    if (isClean) this.#journal.remove();
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
    void listen(db, DELIVERY_CHANNEL, this.#stopping.signal, () => this.#wake.resolve());
    this.#working = this.#leaseUntilStopped();
  }

  /** The lock was lost for a time: other workers may have taken this one for dead. */
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
      this.#held.timeLeft(message) > LEASE_MARGIN_MS &&
      (message.origin_id === null || !this.#haltedIds.has(message.origin_id))
    );
  }

  #onEnd(message: LeasedMessage, ending: Ending): void {
    const { clock, random = Math.random } = this.#options;
    this.#logEnding(message, ending);
    const result = resultOf(message, ending, clock.now(), random());
    this.#held.remove(message);
    this.#writer.add(result);
    this.#options.onResult?.(result);
    if (this.#leasing.isDue) this.#wake.resolve();
  }

  #logEnding({ message_id }: LeasedMessage, ending: Ending): void {
    const { log } = this.#options;
    if (ending.kind === "requeue" && ending.cause !== undefined) {
      log.warn({ err: ending.cause, message_id }, "message requeued: a dependency is unavailable");
    } else if (ending.kind === "unsendable" && ending.error instanceof UnfitValues) {
      log.info({ message_id, reason: ending.error.message }, "message failed: its template cannot be filled");
    } else if (ending.kind === "unsendable") {
      log.error({ err: ending.error, message_id }, "message failed: it could not be composed or sent");
    }
  }

  async #leaseUntilStopped(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      this.#wake = Promise.withResolvers();
      const hasLooked = await this.#look();
      // `leasing.isDue` stays true while leasing is blocked; without `hasLooked` this would spin.
      if (hasLooked && this.#leasing.isDue) continue;
      await Promise.race([this.#wake.promise, delay(this.#leasing.pauseMs, undefined, { ref: false })]);
    }
  }

  /** False where leasing is blocked or failed. */
  async #look(): Promise<boolean> {
    const { db, log, findHalted, onLook } = this.#options;
    try {
      this.#halted = await findHalted();
      this.#haltedIds = new Set([...this.#halted.paused, ...this.#halted.cancelled]);
      if (!this.#isSafe || this.#writer.unwrittenCount > MOST_UNWRITTEN) return false;
      await this.#leasing.look();
      onLook?.();
      return true;
    } catch (error) {
      log.error({ err: error }, "leasing failed, trying again");
      await databaseIsBack(db, this.#stopping.signal);
      return false;
    }
  }

  /** Campaigns of which no message is leased now. Those that are cancelled are leased: there is nothing to send. */
  #unleasedCampaigns(): string[] {
    const sms = this.#smsTransport?.saturatedCampaigns ?? [];
    return [
      ...this.#halted.paused,
      ...sms.filter((id) => !this.#halted.cancelled.includes(id)),
      ...(this.#transport.foreignCampaigns?.() ?? []),
    ];
  }

  async #receive(messages: readonly LeasedMessage[], until: number): Promise<void> {
    const decisions = await this.#check(
      messages.filter(({ is_stale, has_content }) => is_stale || !has_content),
    );
    for (const leased of messages) {
      const message = withOurExpiry(leased, this.#options.clock.now());
      this.#begin(message, decisions.get(message.message_id), until);
    }
  }

  /** Messages whose check fails are requeued, so that their leases need not lapse. */
  async #check(messages: readonly LeasedMessage[]): Promise<ReadonlyMap<string, Decision>> {
    if (messages.length === 0) return new Map();
    try {
      return await this.#options.check(messages);
    } catch (error) {
      this.#options.log.error({ err: error }, "the pre-send check failed, its messages are requeued");
      return new Map(
        messages.map(({ message_id }) => [message_id, { kind: "requeue", seconds: CHECK_AGAIN_SECONDS }]),
      );
    }
  }

  #begin(message: LeasedMessage, decision: Decision | undefined, until: number): void {
    if (decision?.kind === "sms") {
      const sms = { ...message, sms: decision.sms };
      this.#held.add(sms, until);
      if (this.#smsTransport !== null) this.#smsTransport.send(sms);
      else {
        // It waits for a gateway as long as for one that cannot be reached.
        const attempt = { result: declined("No SMS gateway is configured", true), gateway: null };
        this.#onEnd(sms, { kind: "attempted", attempt });
      }
      return;
    }
    const mail = { ...message, content: decision?.kind === "email" ? decision.content : null };
    this.#held.add(mail, until);
    if (decision?.kind === "end") this.#onEnd(mail, decision);
    else if (decision?.kind === "requeue") {
      this.#onEnd(mail, { kind: "release", seconds: decision.seconds });
    } else this.#transport.send(mail);
  }
}

/** Its expiry by this process's clock, however far that is from the database's, which decides. */
function withOurExpiry(message: LeasedMessage, now: Date): LeasedMessage {
  return { ...message, expires_at: new Date(now.getTime() + message.lives_ms) };
}

/** Waits until the database answers again, and then until all workers may have written their results. */
async function databaseIsBack(db: Database, signal: AbortSignal): Promise<void> {
  const pause = (ms: number) => delay(ms, undefined, { signal }).catch(() => {});
  const answers = () =>
    db.run(sql`select`).then(
      () => true,
      () => false,
    );
  while (!signal.aborted && !(await answers())) await pause(POLL_MS);
  await pause(AFTER_OUTAGE_MS);
}
