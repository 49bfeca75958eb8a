/**
 * Reads mails of strangers in threads beside the event loop: a report of ten thousand records takes most of a second,
 * and a mail that was written to take long holds up neither the event loop nor, while another thread is free, the next
 * mail.
 */
import type { Complaint } from "#mail/bounces/arf.ts";
import type { Bounce } from "#mail/bounces/bounce.ts";
import type { DmarcReport } from "#mail/reports/dmarc-report.ts";
import type { ReportsOfMail } from "#mail/reports/read-reports.ts";
import type { TlsReport } from "#mail/reports/tls-report.ts";
import {
  createWorkerThread,
  type ThreadAnswer,
  type WorkerThread,
  type WorkerThreadLimits,
} from "#platform/process/worker-thread.ts";

/** Its rows as the table takes them, in one text: thousands of objects would hold up whoever is given them. */
export type StorableDmarcReport = Omit<DmarcReport, "rows"> & {
  /** How many. */
  readonly records: number;
  readonly recordsJson: string;
};

/** The same of its policies, in sums. */
export type StorableTlsReport = Omit<TlsReport, "policies"> & {
  /** What it is about. */
  readonly domains: readonly string[];
  /** Sessions. */
  readonly successful: number;
  readonly failed: number;
  readonly failuresJson: string;
};

/** One report of a mail; `name` is that of its file. */
export type ParsedReport =
  | { readonly kind: "dmarc"; readonly name: string | null; readonly report: StorableDmarcReport }
  | { readonly kind: "tls"; readonly name: string | null; readonly report: StorableTlsReport };

export type ParsedReports = Omit<ReportsOfMail, "reports"> & { readonly reports: readonly ParsedReport[] };

/** At most one of them. */
export interface ParsedNotice {
  readonly complaint: Complaint | null;
  readonly bounce: Bounce | null;
}

/** What a mail is read as. */
export interface ParsedMails {
  readonly report: ParsedReports;
  readonly news: ParsedNotice;
}

export interface MailToParse {
  readonly kind: keyof ParsedMails;
  readonly raw: Uint8Array;
}

export interface MailParser {
  read<Kind extends keyof ParsedMails>(kind: Kind, raw: Uint8Array): Promise<ThreadAnswer<ParsedMails[Kind]>>;
  close(): Promise<void>;
}

/** Far more than any honest mail takes, on a busy machine too. */
const LIMITS: WorkerThreadLimits = { deadlineMs: 60_000, heapMb: 512 };

/** Threads of one reading: a mail that is read until the deadline leaves one free. */
const THREADS = 2;

/** @param threads started when they are needed */
export function createReading(limits: WorkerThreadLimits = LIMITS, threads = THREADS): MailParser {
  return new ThreadPool(limits, threads);
}

type Thread = WorkerThread<MailToParse, ParsedMails[keyof ParsedMails]>;

class ThreadPool implements MailParser {
  readonly #threads: readonly Thread[];
  /** Those that read nothing; the first is taken first, so that as few as possible are ever started. */
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

  async read<Kind extends keyof ParsedMails>(kind: Kind, raw: Uint8Array) {
    const thread = await this.#take();
    try {
      // A copy, because the mail may be part of a larger buffer, all of which would be moved.
      const copy = new Uint8Array(raw);
      const answer = await thread.ask({ kind, raw: copy }, [copy.buffer]);
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
