/** The worker thread of parse-mail-in-threads.ts. */
import { gzipSync } from "node:zlib";
import { readComplaint } from "#mail/bounces/arf.ts";
import { readBounce } from "#mail/bounces/read-bounce.ts";
import type { DmarcReport, DmarcRow } from "#mail/reports/dmarc-report.ts";
import { readReports } from "#mail/reports/read-reports.ts";
import type { TlsPolicyReport, TlsReport } from "#mail/reports/tls-report.ts";
import { answerQuestions } from "#platform/process/answer-questions.ts";
import type {
  MailToParse,
  ParsedMails,
  ParsedNotice,
  ParsedReports,
  ReceivedContext,
  StorableDmarcReport,
  StorableTlsReport,
} from "./parse-mail-in-threads.ts";
import { readReceivedMail } from "./read-received-mail.ts";
import { storableJson } from "./storable-text.ts";
import { verifySignatures } from "./verify-signatures.ts";

/** Documents that are kept: characters, and octets as gzip. A report of 10,000 records has about 6 million characters. */
const LONGEST_XML = 8_000_000;
const MOST_XML_OCTETS = 256 * 1024;
/** Failure details of one TLS report that are stored. */
const MOST_FAILURES = 100;

type Reader<Kind extends keyof ParsedMails> = (
  raw: Uint8Array,
  context: ReceivedContext,
) => ParsedMails[Kind] | Promise<ParsedMails[Kind]>;

const readers: { readonly [Kind in keyof ParsedMails]: Reader<Kind> } = {
  report: readReportsOfMail,
  notice: readNotice,
  received: readReceived,
};

answerQuestions(async ({ kind, raw, context }: MailToParse) => readers[kind](raw, context));

function readReportsOfMail(raw: Uint8Array): ParsedReports {
  const { reports, ...rest } = readReports(raw);
  return {
    ...rest,
    reports: reports.map((read) =>
      read.kind === "dmarc"
        ? { kind: read.kind, name: read.name, report: dmarcForTable(read.report, read.xml) }
        : { ...read, report: tlsForTable(read.report) },
    ),
  };
}

function dmarcForTable({ rows, ...report }: DmarcReport, xml: string | null): StorableDmarcReport {
  return {
    ...report,
    records: rows.length,
    recordsJson: recordsJson(rows),
    xml: xml === null ? null : packedXml(xml),
  };
}

function packedXml(xml: string): Uint8Array | null {
  if (xml.length > LONGEST_XML) return null;
  const packed = gzipSync(xml);
  return packed.length > MOST_XML_OCTETS ? null : packed;
}

function tlsForTable({ policies, ...report }: TlsReport): StorableTlsReport {
  const total = (count: "successful" | "failed") => policies.reduce((sum, policy) => sum + policy[count], 0);
  return {
    ...report,
    domains: [...new Set(policies.map(({ domain }) => domain))],
    successful: total("successful"),
    failed: total("failed"),
    failuresJson: failuresJson(policies),
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

function readNotice(raw: Uint8Array): ParsedNotice {
  const complaint = readComplaint(raw);
  return { complaint, bounce: complaint === null ? readBounce(raw) : null };
}

async function readReceived(
  raw: Uint8Array,
  { mailFrom, keys }: ReceivedContext,
): Promise<ParsedMails["received"]> {
  return { mail: await readReceivedMail(raw, mailFrom), verified: await verifySignatures(raw, keys) };
}
