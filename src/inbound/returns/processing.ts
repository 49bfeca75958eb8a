/**
 * Processes stored mail, each class in places of its own, so that mail to open addresses never stands before what comes
 * to signed ones: leased, so that any number of machines may; fenced, so that what one mail does to messages
 * and reports is committed together with its end or not at all. Only unsubscribing is committed before: to do it twice
 * changes nothing. A mail that cannot be processed again and again is put aside.
 */

import { setTimeout as delay } from "node:timers/promises";
import { quarantined } from "#inbound/parsing/mail-result.ts";
import type { MailParser } from "#inbound/parsing/parse-mail.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import type { Log } from "#platform/log/log.ts";
import { type InterpretDeps, interpretMail } from "./interpret-mail.ts";
import {
  findInboundMail,
  type LeasedMail,
  leaseInboundMails,
  lockInboundMail,
  type MailClass,
  mailClasses,
  releaseInboundMail,
  settleInboundMail,
} from "./store.ts";

/** After so long, another process takes up the mail of one that was killed: far longer than reading a mail may take. */
const LEASE_MS = 120_000;
/** Mails of a class that are processed side by side: none waits for a mail of the other class. */
const PLACES: Readonly<Record<MailClass, number>> = { signed: 4, open: 2 };
const MOST_TRIES = 8;
/** Grows with every try. */
const RETRY_MS = 15_000;
/** How often each place looks for what other machines left, and for what is due again. */
const LOOK_MS = 5_000;

export interface ProcessingDeps extends Omit<InterpretDeps, "reading"> {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Threads of its own for each class. */
  readonly readings: Readonly<Record<MailClass, MailParser>>;
}

/** Processes what is due until nothing is. */
export async function processDueMail(deps: ProcessingDeps): Promise<void> {
  const untilNone = async (mailClass: MailClass) => {
    for (let lease = await leaseNext(deps, mailClass); lease; lease = await leaseNext(deps, mailClass)) {
      await processOne(deps, mailClass, lease);
    }
  };
  await Promise.all(
    mailClasses.flatMap((mailClass) => Array.from({ length: PLACES[mailClass] }, () => untilNone(mailClass))),
  );
}

async function leaseNext(
  { db, clock }: ProcessingDeps,
  mailClass: MailClass,
): Promise<LeasedMail | undefined> {
  const now = clock.now();
  const until = new Date(now.getTime() + LEASE_MS);
  const [lease] = await leaseInboundMails(db, { mailClass, now, until, most: 1 });
  return lease;
}

async function processOne(deps: ProcessingDeps, mailClass: MailClass, lease: LeasedMail): Promise<void> {
  const { db, clock, log } = deps;
  try {
    if (lease.lease_number > MOST_TRIES) {
      await settleInboundMail(db, lease, quarantined("it could not be processed in many tries"), clock.now());
      return;
    }
    const mail = await findInboundMail(db, lease);
    if (mail === undefined) return;
    const settle = await interpretMail({ ...deps, reading: deps.readings[mailClass] }, mail);
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
  /** There is mail of this class to process. */
  wake(mailClass: MailClass): void;
  /** Resolves when the mail under way is done. */
  stop(): Promise<void>;
}

export function startProcessing(deps: ProcessingDeps): Processing {
  const byClass = {
    signed: new ClassProcessing(deps, "signed"),
    open: new ClassProcessing(deps, "open"),
  };
  return {
    wake: (mailClass) => byClass[mailClass].wake(),
    async stop() {
      await Promise.all([byClass.signed.stop(), byClass.open.stop()]);
    },
  };
}

/** The places of one class. A place that finds a mail wakes another one, for there may be more. */
class ClassProcessing {
  readonly #deps: ProcessingDeps;
  readonly #mailClass: MailClass;
  readonly #stopping = new AbortController();
  /** Places that wait, and how each is woken. */
  readonly #idle: (() => void)[] = [];
  /** Mail came while no place was idle: the next that finds nothing looks again. */
  #isMissed = false;
  readonly #running: Promise<unknown>;

  constructor(deps: ProcessingDeps, mailClass: MailClass) {
    this.#deps = deps;
    this.#mailClass = mailClass;
    this.#running = Promise.all(Array.from({ length: PLACES[mailClass] }, () => this.#runPlace()));
  }

  wake(): void {
    const wakeOne = this.#idle.shift();
    if (wakeOne === undefined) this.#isMissed = true;
    else wakeOne();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #runPlace(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const found = await this.#processNext().catch((err: unknown) => {
        this.#deps.log.error({ err, class: this.#mailClass }, "mail that came back cannot be processed now");
        return false;
      });
      if (found) continue;
      if (this.#isMissed) this.#isMissed = false;
      else await this.#waitIdle(signal);
    }
  }

  async #processNext(): Promise<boolean> {
    const lease = await leaseNext(this.#deps, this.#mailClass);
    if (lease === undefined) return false;
    this.#idle.shift()?.();
    await processOne(this.#deps, this.#mailClass, lease);
    return true;
  }

  async #waitIdle(stopping: AbortSignal): Promise<void> {
    const woken = new AbortController();
    const wakeThis = () => woken.abort();
    this.#idle.push(wakeThis);
    await delay(LOOK_MS, undefined, { signal: AbortSignal.any([woken.signal, stopping]) }).catch(() => {});
    const at = this.#idle.indexOf(wakeThis);
    if (at >= 0) this.#idle.splice(at, 1);
  }
}
