/**
 * The heart of a delivery worker: lease what is due, hand it to the transport, settle what comes back. In this order:
 *
 * 1. replay the journals of workers that died on this machine, and release what they held (recovery.ts);
 * 2. lease a batch, transactional mail first, as long as there is room;
 * 3. the transport finds each message's way and carries it (smtp-transport.ts, lane-traffic.ts);
 * 4. results are judged (conclusion.ts), journaled and settled in bulk (settler.ts).
 *
 * No transaction is open while SMTP is spoken: a lease is a deadline in the queue, moved by a heartbeat.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../platform/clock.ts";
import { type Database, listen } from "../platform/database/pool.ts";
import { newId } from "../platform/ids.ts";
import type { Log } from "../platform/log.ts";
import { DELIVERY_CHANNEL } from "./channel.ts";
import { type Attempt, type Conclusion, conclude, postpone } from "./conclusion.ts";
import { openJournal } from "./journal.ts";
import { markAlive, recoverDead } from "./recovery.ts";
import { Settler } from "./settler.ts";
import { extendLeases, type LeasedMessage, leaseMessages, priorities, releaseLeasesOf } from "./store.ts";
import type { Transport, TransportEvents } from "./transport.ts";

const LEASE_SECONDS = 60;
const HEARTBEAT_MS = 20_000;
/** A message is not started when its lease might lapse before the server has answered MAIL. */
const LEASE_MARGIN_MS = 10_000;
/** Messages held at once: enough to keep every session busy, little enough to give back. */
const MOST_HELD = 2_000;
const LEASE_BATCH = 250;
/** How often the queue is looked at without a notice: retries fall due silently. */
const POLL_MS = 500;
const STOP_MS = 25_000;
/** Results that the database does not have yet; beyond this nothing new is started. */
const MOST_UNSETTLED = 5_000;

export interface DispatcherOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Folder of this machine's journals. */
  readonly journalFolder: string;
  readonly createTransport: (events: TransportEvents) => Transport;
  readonly random?: () => number;
  /** Told of every conclusion, for the metrics. */
  readonly onConclusion?: (conclusion: Conclusion) => void;
}

export interface Dispatcher {
  readonly workerId: string;
  /** Stops leasing, lets conversations end (25 s at most), settles, gives the rest back. */
  stop(): Promise<void>;
}

export async function startDispatcher(options: DispatcherOptions): Promise<Dispatcher> {
  const { db, clock, log, journalFolder, random = Math.random } = options;
  const workerId = newId();
  const markDead = await markAlive(db, workerId);
  const journal = openJournal(journalFolder, workerId);
  const settler = new Settler(db, journal, log);
  const stopping = new AbortController();
  const held = new Map<LeasedMessage, { until: number }>();
  let bell = Promise.withResolvers<void>();
  const ring = () => bell.resolve();

  const conclusion = (message: LeasedMessage, concluded: Conclusion) => {
    held.delete(message);
    settler.add(concluded);
    options.onConclusion?.(concluded);
    if (held.size <= MOST_HELD - LEASE_BATCH) ring();
  };

  const transport = options.createTransport({
    mayStart: (message) =>
      !stopping.signal.aborted && (held.get(message)?.until ?? 0) - LEASE_MARGIN_MS > performance.now(),
    onAttempt: (attempt: Attempt) => conclusion(attempt.message, conclude(attempt, clock.now(), random())),
    onPostponed(message, seconds) {
      // Spread over half as long again: what waited together must not come back together.
      const dueAt = new Date(clock.now().getTime() + seconds * (1 + random() / 2) * 1000);
      conclusion(message, postpone(message, dueAt));
    },
    onDropped: (message) => held.delete(message),
    onFault(message, error) {
      log.error({ err: error, message_id: message.message_id }, "a message could not be attempted");
      const result = {
        outcome: "unroutable",
        status: "failed",
        enhanced: "5.3.0",
        reason: "internal error",
      } as const;
      conclusion(message, conclude({ message, result, mxHost: null }, clock.now(), random()));
    },
  });

  const lease = async (): Promise<number> => {
    let room = Math.min(LEASE_BATCH, MOST_HELD - held.size);
    let leased = 0;
    for (const priority of priorities) {
      if (room <= 0) break;
      const until = performance.now() + LEASE_SECONDS * 1000;
      const saturated = transport.saturatedDomains();
      const messages = await leaseMessages(db, {
        workerId,
        priority,
        limit: room,
        seconds: LEASE_SECONDS,
        saturated,
      });
      for (const message of messages) {
        held.set(message, { until });
        transport.send(message);
      }
      leased += messages.length;
      room -= messages.length;
    }
    return leased;
  };

  const work = async () => {
    while (!stopping.signal.aborted) {
      bell = Promise.withResolvers<void>();
      try {
        const isFull = held.size > MOST_HELD - LEASE_BATCH || settler.backlog > MOST_UNSETTLED;
        if (!isFull && (await lease()) === LEASE_BATCH) continue;
      } catch (error) {
        log.error({ err: error }, "leasing failed, trying again");
      }
      await Promise.race([bell.promise, delay(POLL_MS, undefined, { ref: false })]);
    }
  };

  const heartbeat = setInterval(async () => {
    if (held.size === 0) return;
    const until = performance.now() + LEASE_SECONDS * 1000;
    try {
      await extendLeases(db, workerId, LEASE_SECONDS);
      for (const lease of held.values()) lease.until = until;
    } catch (error) {
      log.error({ err: error }, "leases were not extended");
    }
  }, HEARTBEAT_MS);

  await recoverDead(db, journalFolder, log);
  void listen(db, DELIVERY_CHANNEL, stopping.signal, ring);
  const working = work();

  return {
    workerId,
    async stop() {
      stopping.abort();
      ring();
      clearInterval(heartbeat);
      await working;
      transport.close();
      const deadline = performance.now() + STOP_MS;
      while (held.size > 0 && performance.now() < deadline) await delay(20);
      await settler.flushed();
      await releaseLeasesOf(db, workerId);
      journal.remove();
      await markDead();
    },
  };
}
