/**
 * Reads mails of strangers beside the event loop: a report of ten thousand records takes most of a second, and what was
 * written to take long must not hold up everybody else.
 */
import type { Complaint } from "../../mail/bounces/arf.ts";
import type { Bounce } from "../../mail/bounces/bounce.ts";
import type { DmarcRefusal, DmarcReport } from "../../mail/reports/dmarc-report.ts";
import type { TlsReport } from "../../mail/reports/tls-report.ts";
import { createSideThread, type SideAnswer, type SideThreadLimits } from "../../platform/side-thread.ts";

/** Its rows as the table takes them, in one text: thousands of objects would hold up whoever is given them. */
export type ReadDmarcReport = Omit<DmarcReport, "rows"> & {
  /** How many. */
  readonly records: number;
  readonly recordsJson: string;
};

/** The same of its policies, in sums. */
export type ReadTlsReport = Omit<TlsReport, "policies"> & {
  /** What it is about. */
  readonly domains: readonly string[];
  /** Sessions. */
  readonly successful: number;
  readonly failed: number;
  readonly failuresJson: string;
};

export type ReportReading =
  | { readonly kind: "dmarc"; readonly report: ReadDmarcReport }
  | { readonly kind: "tls"; readonly report: ReadTlsReport }
  | { readonly kind: "none"; readonly reason: DmarcRefusal };

/** At most one of them. */
export interface NewsReading {
  readonly complaint: Complaint | null;
  readonly bounce: Bounce | null;
}

/** What a mail is read as. */
export interface Readings {
  readonly report: ReportReading;
  readonly news: NewsReading;
}

export interface Unread {
  readonly kind: keyof Readings;
  readonly raw: Uint8Array;
}

export interface Reading {
  read<Kind extends keyof Readings>(kind: Kind, raw: Uint8Array): Promise<SideAnswer<Readings[Kind]>>;
  close(): Promise<void>;
}

/** Far more than anything takes that means well, on a busy machine too. */
const LIMITS: SideThreadLimits = { deadlineMs: 30_000, heapMb: 512 };

export function createReading(limits: SideThreadLimits = LIMITS): Reading {
  const thread = createSideThread<Unread, Readings[keyof Readings]>(
    new URL("thread.ts", import.meta.url),
    limits,
  );
  return {
    async read<Kind extends keyof Readings>(kind: Kind, raw: Uint8Array) {
      // A copy of its own: the mail may be part of a larger buffer, all of which would go.
      const copy = new Uint8Array(raw);
      const answer = await thread.ask({ kind, raw: copy }, [copy.buffer]);
      return answer as SideAnswer<Readings[Kind]>;
    },
    close: () => thread.close(),
  };
}
