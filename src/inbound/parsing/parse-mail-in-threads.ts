/**
 * Parses inbound mail in worker threads: a report of ten thousand records takes most of a second, and a mail crafted to take
 * long must block neither the event loop nor the next mail.
 */
import type { Complaint } from "#mail/bounces/arf.ts";
import type { Bounce } from "#mail/bounces/read-bounce.ts";
import type { DmarcReport } from "#mail/reports/dmarc-report.ts";
import type { ReportsOfMail } from "#mail/reports/read-reports.ts";
import type { TlsReport } from "#mail/reports/tls-report.ts";
import {
  createWorkerThread,
  type ThreadAnswer,
  type WorkerThread,
  type WorkerThreadLimits,
} from "#platform/process/worker-thread.ts";

import type { ReceivedMail } from "./read-received-mail.ts";
import type { KeyRecords, VerifiedSignatures } from "./verify-signatures.ts";

/** A DMARC report with its records as JSON for the table. Passing thousands of objects would block the event loop. */
export type StorableDmarcReport = Omit<DmarcReport, "rows"> & {
  /** The number of records. */
  readonly records: number;
  readonly recordsJson: string;
  /** The document as gzip; null if it is too large to keep, or has several reports. */
  readonly xml: Uint8Array | null;
};

/** A TLS report with the sums over its policies, and its failures as JSON for the table. */
export type StorableTlsReport = Omit<TlsReport, "policies"> & {
  /** The policy domains. */
  readonly domains: readonly string[];
  /** Sessions, as `failed`. */
  readonly successful: number;
  readonly failed: number;
  readonly failuresJson: string;
};

/** One report of a mail; `name` is the file name of its part. */
export type StorableReport =
  | { readonly kind: "dmarc"; readonly name: string | null; readonly report: StorableDmarcReport }
  | { readonly kind: "tls"; readonly name: string | null; readonly report: StorableTlsReport };

export type ParsedReports = Omit<ReportsOfMail, "reports"> & { readonly reports: readonly StorableReport[] };

/** A complaint or a bounce; both null for any other mail. */
export interface ParsedNotice {
  readonly complaint: Complaint | null;
  readonly bounce: Bounce | null;
}

/** The result of each kind of parsing. */
export interface ParsedMails {
  readonly report: ParsedReports;
  readonly notice: ParsedNotice;
  /** Mail to inbound routes. */
  readonly received: { readonly mail: ReceivedMail; readonly verified: VerifiedSignatures };
}

/** What received mail is read with. */
export interface ReceivedContext {
  /** The envelope sender, "" for the null sender. */
  readonly mailFrom: string;
  /** Of the DKIM signatures. */
  readonly keys: KeyRecords;
}

export interface MailToParse {
  readonly kind: keyof ParsedMails;
  readonly raw: Uint8Array;
  readonly context: ReceivedContext;
}

export interface MailParser {
  /** @param context for received mail only */
  read<Kind extends keyof ParsedMails>(
    kind: Kind,
    raw: Uint8Array,
    context?: ReceivedContext,
  ): Promise<ThreadAnswer<ParsedMails[Kind]>>;
  close(): Promise<void>;
}

/** Far more than an ordinary mail needs, even on a busy machine. */
const LIMITS: WorkerThreadLimits = { deadlineMs: 60_000, heapMb: 512 };

const NO_CONTEXT: ReceivedContext = { mailFrom: "", keys: {} };

/** Two threads, so that one stays free while a mail is parsed until the deadline. */
export const PARSING_THREADS = 2;

/** @param threads the most threads; each is started when it is first needed */
export function createMailParser(limits: WorkerThreadLimits = LIMITS, threads = PARSING_THREADS): MailParser {
  return new ThreadPool(limits, threads);
}

type Thread = WorkerThread<MailToParse, ParsedMails[keyof ParsedMails]>;

class ThreadPool implements MailParser {
  readonly #threads: readonly Thread[];
  /** Idle threads. The first is used first, so that as few as possible are started. */
  readonly #free: Thread[];
  /** Mails that wait for a thread. */
  readonly #waiting: ((thread: Thread) => void)[] = [];

  constructor(limits: WorkerThreadLimits, threads: number) {
    this.#threads = Array.from({ length: threads }, () =>
      createWorkerThread<MailToParse, ParsedMails[keyof ParsedMails]>(
        new URL("parse-thread.ts", import.meta.url),
        limits,
      ),
    );
    this.#free = [...this.#threads];
  }

  async read<Kind extends keyof ParsedMails>(kind: Kind, raw: Uint8Array, context = NO_CONTEXT) {
    const thread = await this.#take();
    try {
      // A copy, because the transfer would move the whole buffer of which the mail may be a part.
      const copy = new Uint8Array(raw);
      const answer = await thread.ask({ kind, raw: copy, context }, [copy.buffer]);
      return answer as ThreadAnswer<ParsedMails[Kind]>;
    } finally {
      this.#give(thread);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }

  async #take(): Promise<Thread> {
    return this.#free.shift() ?? new Promise((resolve) => this.#waiting.push(resolve));
  }

  #give(thread: Thread): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.unshift(thread);
    else next(thread);
  }
}
