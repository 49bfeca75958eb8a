/** The thread of reading.ts: reads mails of strangers, one after the other. */
import { parentPort } from "node:worker_threads";
import { readComplaint } from "../../mail/bounces/arf.ts";
import { readBounce } from "../../mail/bounces/bounce.ts";
import { type DmarcRow, readDmarcReport } from "../../mail/reports/dmarc-report.ts";
import { readTlsReport, type TlsPolicyReport } from "../../mail/reports/tls-report.ts";
import { storableJson } from "../storable.ts";
import type { NewsReading, Readings, ReportReading, Unread } from "./reading.ts";

/** Kinds of failures of one TLS report that are kept. */
const MOST_FAILURES = 100;

const readers: { readonly [Kind in keyof Readings]: (raw: Uint8Array) => Readings[Kind] } = {
  report: readReport,
  news: readNews,
};

parentPort?.on("message", ({ kind, raw }: Unread) => parentPort?.postMessage(readers[kind](raw)));

function readReport(raw: Uint8Array): ReportReading {
  const dmarc = readDmarcReport(raw);
  if (dmarc.ok) {
    const { rows, ...report } = dmarc.report;
    return { kind: "dmarc", report: { ...report, records: rows.length, recordsJson: recordsJson(rows) } };
  }
  const tls = readTlsReport(raw);
  if (!tls.ok) return { kind: "none", reason: dmarc.reason };
  const { policies, ...report } = tls.report;
  const total = (count: "successful" | "failed") => policies.reduce((sum, policy) => sum + policy[count], 0);
  return {
    kind: "tls",
    report: {
      ...report,
      domains: [...new Set(policies.map(({ domain }) => domain))],
      successful: total("successful"),
      failed: total("failed"),
      failuresJson: failuresJson(policies),
    },
  };
}

function recordsJson(rows: readonly DmarcRow[]): string {
  return storableJson(
    rows.map(({ sourceIp, count, disposition, dkim, spf, headerFrom, envelopeFrom }, position) => ({
      position,
      source_ip: sourceIp,
      count,
      disposition,
      dkim,
      spf,
      header_from: headerFrom,
      envelope_from: envelopeFrom,
    })),
  );
}

function failuresJson(policies: readonly TlsPolicyReport[]): string {
  const failures = policies.flatMap(({ type, failures }) =>
    failures.map((failure) => ({
      result_type: failure.resultType,
      policy_type: type,
      failed: failure.failedSessions,
      sending_mta_ip: failure.sendingMtaIp,
      receiving_mx_hostname: failure.receivingMxHostname,
      failure_reason_code: failure.reasonCode,
    })),
  );
  return storableJson(failures.slice(0, MOST_FAILURES));
}

function readNews(raw: Uint8Array): NewsReading {
  const complaint = readComplaint(raw);
  return { complaint, bounce: complaint === null ? readBounce(raw) : null };
}
