/** Reads all reports of a mail: DMARC aggregate reports and TLS reports, and the documents that are refused. */
import { type DmarcReport, dmarcRecordLimit, readDmarcReports } from "./dmarc-report.ts";
import type { DmarcRefusal } from "./dmarc-xml.ts";
import {
  type DocumentRefusal,
  type RefusedDocument,
  type ReportDocument,
  reportDocuments,
} from "./report-documents.ts";
import type { ReportHints } from "./report-values.ts";
import { readTlsReports, type TlsRefusal, type TlsReport } from "./tls-report.ts";

export type ReportRefusal = DocumentRefusal | DmarcRefusal | TlsRefusal;

export type ParsedReport =
  | {
      readonly kind: "dmarc";
      readonly name: string | null;
      readonly report: DmarcReport;
      /** The document; null if it has several reports. */
      readonly xml: string | null;
    }
  | { readonly kind: "tls"; readonly name: string | null; readonly report: TlsReport };

/** The reports and refused documents of one mail. */
export interface ReportsOfMail {
  /** The domain in From, null if there is none. */
  readonly sender: string | null;
  readonly reports: readonly ParsedReport[];
  /** Documents that are not readable reports; not empty if there are no reports. */
  readonly refused: readonly RefusedDocument<ReportRefusal>[];
}

/**
 * Reads a mail as it was received, or the content of an attachment: XML, JSON, gzip, zip or a zlib stream. Never
 * throws. All DMARC reports of a mail together have at most `dmarcRecordLimit` records.
 */
export function readReports(raw: Uint8Array): ReportsOfMail {
  const { sender, documents, refused } = reportDocuments(raw);
  const reports: ParsedReport[] = [];
  const unread: RefusedDocument<ReportRefusal>[] = [...refused];
  let left = dmarcRecordLimit;
  for (const document of documents) {
    for (const reading of readDocument(document, { name: document.name, sender }, left)) {
      if ("reason" in reading) {
        const isTorn = document.isCutOff && reading.reason === "malformed";
        unread.push(isTorn ? { ...reading, reason: "corrupt" } : reading);
        continue;
      }
      if (reading.kind === "dmarc") left -= reading.report.rows.length;
      reports.push(reading);
    }
  }
  return { sender, reports, refused: unread };
}

function readDocument(
  { kind, name, text }: ReportDocument,
  hints: ReportHints,
  mostRecords: number,
): (ParsedReport | RefusedDocument<ReportRefusal>)[] {
  if (kind === "dmarc") {
    const readings = readDmarcReports(text, hints, mostRecords);
    const xml = readings.length === 1 ? text : null;
    return readings.map((reading) =>
      reading.ok ? { kind, name, report: reading.report, xml } : { kind, name, reason: reading.reason },
    );
  }
  return readTlsReports(text, hints).map((reading) =>
    reading.ok ? { kind, name, report: reading.report } : { kind, name, reason: reading.reason },
  );
}
