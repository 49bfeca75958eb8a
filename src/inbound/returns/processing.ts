/**
 * Processes stored mail: leased, so that any number of machines may; fenced, so that what one mail does to messages
 * and reports is committed together with its end or not at all. Only unsubscribing is committed before: to do it twice
 * changes nothing. A mail that cannot be processed again and again is put aside.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/database/pool.ts";
import type { Log } from "../../platform/log.ts";
import { type ReadDeps, readMail } from "./read-mail.ts";
import {
  findInboundMail,
  type LeasedMail,
  leaseInboundMails,
  lockInboundMail,
  quarantined,
  releaseInboundMail,
  settleInboundMail,
} from "./store.ts";

/**
 * How long the mails of a process that was killed wait for another one: twice what a batch may take, whose mails are
 * read one after the other (reading.ts) in up to half a minute each.
 */
const LEASE_MS = 180_000;
/** Processed side by side. */
const BATCH = 3;
const MOST_TRIES = 8;
/** Grows with every try. */
const RETRY_MS = 15_000;
/** For what other machines left, and what is due again. */
const LOOK_MS = 5_000;

export interface ProcessingDeps extends ReadDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
}

/** Processes what is due until nothing is. */
export async function processDueMail(deps: ProcessingDeps, signal?: AbortSignal): Promise<void> {
  const { db, clock } = deps;
  while (signal?.aborted !== true) {
    const now = clock.now();
    const until = new Date(now.getTime() + LEASE_MS);
    const leased = await leaseInboundMails(db, { now, until, most: BATCH });
    await Promise.all(leased.map((mail) => processOne(deps, mail)));
    if (leased.length < BATCH) return;
  }
}

async function processOne(deps: ProcessingDeps, lease: LeasedMail): Promise<void> {
  const { db, clock, log } = deps;
  try {
    if (lease.lease_number > MOST_TRIES) {
      await settleInboundMail(db, lease, quarantined("it could not be processed in many tries"), clock.now());
      return;
    }
    const mail = await findInboundMail(db, lease);
    if (mail === undefined) return;
    const settle = await readMail(deps, mail);
    await db.transaction(
      async (tx) => {
        if (!(await lockInboundMail(tx, lease))) return;
        await settleInboundMail(tx, lease, await settle(tx), clock.now());
      },
      { mayRepeat: true },
    );
  } catch (err) {
    log.error({ err, mail: lease.id }, "a mail that came back could not be processed");
    await releaseInboundMail(db, lease, retryAt(lease, clock.now())).catch(() => {
      // The lease ends by itself.
    });
  }
}

function retryAt({ lease_number }: LeasedMail, now: Date): Date {
  return new Date(now.getTime() + RETRY_MS * lease_number);
}

export interface Processing {
  /** There is something to do. */
  wake(): void;
  /** Resolves when the mail under way is done. */
  stop(): Promise<void>;
}

export function startProcessing(deps: ProcessingDeps): Processing {
  const stopping = new AbortController();
  let wake = () => {};
  let isAwaited = true;
  const run = async () => {
    while (!stopping.signal.aborted) {
      if (!isAwaited) {
        const woken = new AbortController();
        wake = () => woken.abort();
        const signal = AbortSignal.any([woken.signal, stopping.signal]);
        await delay(LOOK_MS, undefined, { signal }).catch(() => {});
      }
      isAwaited = false;
      await processDueMail(deps, stopping.signal).catch((err: unknown) => {
        deps.log.error({ err }, "mail that came back is not processed at this moment");
      });
    }
  };
  const over = run();
  return {
    wake() {
      isAwaited = true;
      wake();
    },
    async stop() {
      stopping.abort();
      await over;
    },
  };
}
