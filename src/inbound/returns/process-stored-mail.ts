/**
 * Processes stored mail, on any number of machines. Each class has its own workers, so that mail to open addresses never
 * delays mail to signed ones. A mail is leased; its effects on messages and reports are committed together with its final
 * status under the lease number. Only an unsubscribe is committed earlier, because repeating it changes nothing. A mail that
 * fails too often is quarantined.
 */

import { quarantined } from "#inbound/parsing/mail-result.ts";
import { MailWorkers } from "#inbound/parsing/mail-workers.ts";
import type { MailParser } from "#inbound/parsing/parse-mail-in-threads.ts";
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

/** Far longer than parsing a mail may take. Another process takes over the mail of a killed one after this. */
const LEASE_MS = 120_000;
/** Mails of a class that are processed at a time. */
const WORKERS: Readonly<Record<MailClass, number>> = { signed: 4, open: 2 };
const MOST_ATTEMPTS = 8;
/** Multiplied by the number of attempts. */
const RETRY_MS = 15_000;

export interface ProcessingDeps extends Omit<InterpretDeps, "parser"> {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Separate threads for each class. */
  readonly parsers: Readonly<Record<MailClass, MailParser>>;
}

/** Processes mail until none is due. */
export async function processDueMail(deps: ProcessingDeps): Promise<void> {
  const untilNone = async (mailClass: MailClass) => {
    for (let lease = await leaseNext(deps, mailClass); lease; lease = await leaseNext(deps, mailClass)) {
      await processOne(deps, mailClass, lease);
    }
  };
  await Promise.all(
    mailClasses.flatMap((mailClass) =>
      Array.from({ length: WORKERS[mailClass] }, () => untilNone(mailClass)),
    ),
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
    if (lease.lease_number > MOST_ATTEMPTS) {
      await settleInboundMail(db, lease, quarantined("processing failed too often"), clock.now());
      return;
    }
    const mail = await findInboundMail(db, lease);
    if (mail === undefined) return;
    const settle = await interpretMail({ ...deps, parser: deps.parsers[mailClass] }, mail);
    await db.transaction(
      async (tx) => {
        if (!(await lockInboundMail(tx, lease))) return;
        await settleInboundMail(tx, lease, await settle(tx), clock.now());
      },
      { mayRepeat: true },
    );
  } catch (err) {
    log.error({ err, mail: lease.id }, "inbound mail could not be processed, retrying later");
    await releaseInboundMail(db, lease, retryAt(lease, clock.now())).catch(() => {
      // The mail is due again when its lease expires.
    });
  }
}

function retryAt({ lease_number }: LeasedMail, now: Date): Date {
  return new Date(now.getTime() + RETRY_MS * lease_number);
}

export interface Processing {
  /** Lets a worker look for mail of this class now. */
  wake(mailClass: MailClass): void;
  /** Resolves when the mails in progress are done. */
  stop(): Promise<void>;
}

export function startProcessing(deps: ProcessingDeps): Processing {
  const workersOf = (mailClass: MailClass) =>
    new MailWorkers<LeasedMail>({
      workers: WORKERS[mailClass],
      leaseNext: () => leaseNext(deps, mailClass),
      processOne: (lease) => processOne(deps, mailClass, lease),
      onLeaseFault: (err) => deps.log.error({ err, class: mailClass }, "inbound mail could not be leased"),
    });
  const byClass = { signed: workersOf("signed"), open: workersOf("open") };
  return {
    wake: (mailClass) => byClass[mailClass].wake(),
    async stop() {
      await Promise.all([byClass.signed.stop(), byClass.open.stop()]);
    },
  };
}
