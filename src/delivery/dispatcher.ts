/**
 * The heart of a delivery worker: lease what is due, hand it to the transport, settle what comes back. In this order:
 *
 * 1. replay the journals of workers that died on this machine, and release what they held (recovery.ts), at the start
 *    and then with every heartbeat;
 * 2. lease a batch, transactional mail first, as long as there is room and no campaign of theirs is paused (leasing.ts),
 *    and leave out recipients who were suppressed while their message waited;
 * 3. the transport finds each message's way and carries it (smtp-transport.ts, lanes/traffic.ts);
 * 4. results are judged (delivery-result.ts), journaled and settled in bulk (result-writer.ts).
 *
 * No transaction is open while SMTP is spoken: a lease is a deadline in the queue, moved by a heartbeat.
 */

import { setTimeout as delay } from "node:timers/promises";
import sql from "sql-template-tag";
import { type OnMoved, OUR_FAULT } from "#messages/message/outcome.ts";
import type { Clock } from "#platform/clock.ts";
import { type Database, listen } from "#platform/database/pool.ts";
import { newId } from "#platform/ids.ts";
import type { Log } from "#platform/log/log.ts";
import { DELIVERY_CHANNEL } from "./channel.ts";
import type { LeasedMessage } from "./message.ts";
import { type Examine, type Finding, UnfitValues } from "./presend-check.ts";
import {
  type Attempt,
  type Conclusion,
  conclude,
  drop,
  handBack,
  postpone,
  turnAway,
} from "./queue/delivery-result.ts";
import { createHeartbeat } from "./queue/heartbeat.ts";
import { Holdings } from "./queue/held-messages.ts";
import { openJournal } from "./queue/journal.ts";
import { LEASE_SECONDS, Leasing, POLL_MS } from "./queue/leasing.ts";
import { releaseLeasesOf } from "./queue/queue-result-store.ts";
import { createRecovery } from "./queue/recovery.ts";
import { Settler } from "./queue/result-writer.ts";
import { markAlive } from "./queue/worker-lock.ts";
import { concludeSms, concludeUncarried } from "./sms/sms-result.ts";
import type { SmsEvents, SmsTransport } from "./sms/sms-transport.ts";
import type { Transport, TransportEvents } from "./transport.ts";

const HEARTBEAT_MS = 20_000;
/** A message is not started when its lease might lapse before the server has answered MAIL. */
const LEASE_MARGIN_MS = 10_000;
/**
 * After the database was away leases may have lapsed although their holders live: every process settles what it has
 * learned before any of them leases again.
 */
const AFTER_OUTAGE_MS = 3_000;
const STOP_MS = 25_000;
/** When messages come back that could not be examined. */
const EXAMINE_AGAIN_SECONDS = 5;
/** Results that the database does not have yet; beyond this nothing new is leased. */
const MOST_UNSETTLED = 5_000;

/** Campaigns of which nothing is begun. */
export interface Halted {
  /** Nor leased: they may go on. */
  readonly paused: readonly string[];
  /** What waits is leased, so that examination ends it. */
  readonly cancelled: readonly string[];
}

export interface DispatcherOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Folder of this machine's journals. */
  readonly journalFolder: string;
  readonly createTransport: (events: TransportEvents) => Transport;
  /** What carries SMS; null where there is no gateway. */
  readonly createSmsTransport?: ((events: SmsEvents) => SmsTransport) | null;
  readonly random?: () => number;
  /**
   * Asked about what has waited (what was accepted a moment ago was judged then), and about what has no content of its
   * own.
   */
  readonly examine: Examine;
  readonly findHalted: () => Promise<Halted>;
  /** What the rest of the house does about every move of a message (messages/record-outcomes.ts). */
  readonly onMoved: OnMoved;
  /** Told of every conclusion, for the metrics. */
  readonly onConclusion?: (conclusion: Conclusion) => void;
  /** Told of every look at the queue that came to its end, whether or not something was due. */
  readonly onLook?: () => void;
}

export interface Dispatcher {
  readonly workerId: string;
  /**
   * Begins nothing more, waits for the last answers (25 s at most), settles, gives the rest back. What is still being
   * talked about then keeps its lease and its journal, for the next worker to find.
   */
  stop(): Promise<void>;
}

export async function startDispatcher(options: DispatcherOptions): Promise<Dispatcher> {
  const { db, clock, log, journalFolder, random = Math.random } = options;
  const workerId = newId();
  const mark = await markAlive(db, workerId, () => {
    settler.doubtJournal();
    held.doubt(performance.now() + LEASE_SECONDS * 1000);
  });
  const journal = openJournal(journalFolder, { workerId, pid: process.pid });
  const settler = new Settler(db, journal, log, options.onMoved);
  const stopping = new AbortController();
  const held = new Holdings();
  /** Rung when there may be something to lease. */
  let bell = Promise.withResolvers<void>();
  /** As of the last look. */
  let halted: Halted = { paused: [], cancelled: [] };
  let stopped: ReadonlySet<string> = new Set();

  const settle = (message: LeasedMessage, conclusion: Conclusion) => {
    held.remove(message);
    settler.add(conclusion);
    options.onConclusion?.(conclusion);
    if (leasing.isDue) bell.resolve();
  };

  /** Up to half as long again: what waited together must not come back together. */
  const spread = (seconds: number) => seconds * (1 + random() / 2);
  const turnedAway = (message: LeasedMessage, why: Conclusion, seconds: number) =>
    settle(message, turnAway(message, clock.now(), why, spread(seconds)));

  const events: TransportEvents & SmsEvents = {
    mayStart: (message) =>
      !stopping.signal.aborted &&
      mark.isThere &&
      settler.isSafe &&
      held.timeLeft(message) > LEASE_MARGIN_MS &&
      (message.origin_id === null || !stopped.has(message.origin_id)),
    onAttempt: (attempt: Attempt) => settle(attempt.message, conclude(attempt, clock.now(), random())),
    onSmsAttempt: (message, result, gateway) =>
      settle(message, concludeSms(message, result, gateway, clock.now(), random())),
    onTurnedAway: (why, seconds) => turnedAway(why.message, conclude(why, clock.now(), random()), seconds),
    onSmsTurnedAway: (message, why, gateway, seconds) =>
      turnedAway(message, concludeSms(message, why, gateway, clock.now(), random()), seconds),
    onPostponed(message, seconds, cause) {
      if (cause !== undefined) {
        log.warn(
          { err: cause, message_id: message.message_id },
          "a message waits: something of ours was away",
        );
      }
      settle(message, postpone(message, clock.now(), spread(seconds)));
    },
    onHeldBack: (message, seconds, sourceIp) =>
      settle(message, postpone(message, clock.now(), seconds, sourceIp)),
    onDropped: (message) => settle(message, handBack(message, clock.now())),
    onFault(message, error) {
      const { message_id } = message;
      const isUnfit = error instanceof UnfitValues;
      if (isUnfit) log.info({ message_id, reason: error.message }, "a message could not be written");
      else log.error({ err: error, message_id }, "a message could not be attempted");
      const result = isUnfit ? { ...internalError, reason: error.message } : internalError;
      settle(message, conclude({ message, result, mxHost: null }, clock.now(), random()));
    },
  };
  const transport = options.createTransport(events);
  const smsTransport = options.createSmsTransport?.(events) ?? null;

  const isExamined = ({ is_stale, has_content }: LeasedMessage) => is_stale || !has_content;

  /** Of those that are cancelled there is nothing to send. */
  const saturatedCampaigns = () =>
    (smsTransport?.saturatedCampaigns() ?? []).filter((id) => !halted.cancelled.includes(id));

  /** What cannot be examined now goes back, so that its lease need not lapse. */
  const examineAll = async (messages: readonly LeasedMessage[]): Promise<ReadonlyMap<string, Finding>> => {
    if (messages.length === 0) return new Map();
    try {
      return await options.examine(messages);
    } catch (error) {
      log.error({ err: error }, "leased messages could not be examined and go back");
      return new Map(
        messages.map(({ message_id }) => [message_id, { kind: "wait", seconds: EXAMINE_AGAIN_SECONDS }]),
      );
    }
  };

  const begin = (leased: LeasedMessage, finding: Finding | undefined, until: number) => {
    const message = withContent(byOurClock(leased, clock.now()), finding);
    held.add(message, until);
    if (finding?.kind === "over") settle(message, drop(message, clock.now(), finding));
    else if (finding?.kind === "wait") settle(message, handBack(message, clock.now(), finding.seconds));
    else if (message.sms === undefined) transport.send(message);
    else if (smsTransport !== null) smsTransport.send(message);
    else settle(message, concludeUncarried(message, clock.now(), random()));
  };

  const leasing = new Leasing({
    db,
    workerId,
    held,
    saturatedDomains: (priority) => transport.saturatedDomains(priority),
    haltedCampaigns: () => [
      ...halted.paused,
      ...saturatedCampaigns(),
      ...(transport.foreignCampaigns?.() ?? []),
    ],
    async receive(messages, until) {
      const findings = await examineAll(messages.filter(isExamined));
      for (const message of messages) begin(message, findings.get(message.message_id), until);
    },
  });

  const work = async () => {
    while (!stopping.signal.aborted) {
      bell = Promise.withResolvers();
      let hasLooked = false;
      try {
        halted = await options.findHalted();
        stopped = new Set([...halted.paused, ...halted.cancelled]);
        if (mark.isThere && settler.isSafe && settler.unsettledCount <= MOST_UNSETTLED) {
          await leasing.look();
          hasLooked = true;
          options.onLook?.();
        }
      } catch (error) {
        log.error({ err: error }, "leasing failed, trying again");
        await databaseIsBack(db, stopping.signal);
      }
      // Who may not look finds what was left for as long as that lasts.
      if (hasLooked && leasing.isDue) continue;
      await Promise.race([bell.promise, delay(leasing.pauseMs, undefined, { ref: false })]);
    }
  };

  const recover = createRecovery(db, { journalFolder, workerId }, log, options.onMoved);
  const beat = createHeartbeat({ db, workerId, held, settler, mark, recover, log });
  const beating = (async () => {
    while (!stopping.signal.aborted) {
      await delay(HEARTBEAT_MS, undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted) return;
      await beat().catch((error: unknown) => log.error({ err: error }, "leases were not extended"));
    }
  })();

  await recover();
  void listen(db, DELIVERY_CHANNEL, stopping.signal, () => bell.resolve());
  const working = work();

  return {
    workerId,
    async stop() {
      stopping.abort();
      bell.resolve();
      await working;
      transport.close();
      smsTransport?.close();
      const deadline = performance.now() + STOP_MS;
      const timeLeft = () => Math.max(0, deadline - performance.now());
      while (held.size > 0 && timeLeft() > 0) await delay(20);
      const isSettled = await settler.flushed(timeLeft());
      const isOver = isSettled && held.size === 0;
      if (isOver) await releaseLeasesOf(db, workerId);
      else log.error({ unsettled: settler.unsettledCount, talking: held.size }, "stopping before the end");
      await beating;
      await mark.end();
      // Not before: a mark that is renewed begins a journal anew that is gone.
      if (isOver) journal.remove();
    },
  };
}

/** Our own fault, as the log of the message has it. */
const internalError = {
  outcome: "unroutable",
  status: "failed",
  enhanced: OUR_FAULT,
  reason: "internal error",
} as const;

/** Its expiry as this process's clock shows it, however far that is from the database's, which decides. */
function byOurClock(message: LeasedMessage, now: Date): LeasedMessage {
  return { ...message, expires_at: new Date(now.getTime() + message.lives_ms) };
}

function withContent(message: LeasedMessage, finding: Finding | undefined): LeasedMessage {
  if (finding?.kind === "write") return { ...message, content: finding.content };
  return finding?.kind === "text" ? { ...message, sms: finding.sms } : message;
}

/** Waits until the database answers again, and then until everybody may have settled. */
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
