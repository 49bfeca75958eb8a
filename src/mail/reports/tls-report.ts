/**
 * Parses SMTP TLS reports (RFC 8460): how often other servers could, and could not, deliver to a domain over TLS.
 * Reports are untrusted, so sizes and numbers are limited, and a refusal is a value. As in DMARC reports, readable
 * parts are kept: unreadable policies and failures are counted by reason.
 */
import type { UnreadRecords } from "./dmarc-report.ts";
import { maxReportsOfDocument, ReportRefused } from "./report-documents.ts";
import {
  domainIn,
  fileParts,
  idFor,
  inOrder,
  instantOf,
  noHints,
  parseCount,
  type ReportHints,
  reporterOf,
} from "./report-values.ts";

/** A parsed TLS report. */
export interface TlsReport {
  readonly organizationName: string;
  readonly contactInfo: string | null;
  readonly reportId: string;
  readonly begin: Date;
  readonly end: Date;
  readonly policies: readonly TlsPolicyReport[];
  /** Unreadable policies and failures by reason. */
  readonly unread: readonly UnreadRecords<TlsFault>[];
}

/** The sessions and failures under one policy of the report. */
export interface TlsPolicyReport {
  /** "sts", "tlsa", "no-policy-found". */
  readonly type: string;
  /** Lower case. */
  readonly domain: string;
  readonly policyStrings: readonly string[];
  readonly mxHosts: readonly string[];
  /** Number of sessions. */
  readonly successful: number;
  readonly failed: number;
  readonly failures: readonly TlsFailure[];
}

/** A kind of failure and its number of sessions. */
export interface TlsFailure {
  /** RFC 8460 section 4.3: "starttls-not-supported", "certificate-expired" and so on. */
  readonly resultType: string;
  readonly sendingMtaIp: string | null;
  readonly receivingMxHostname: string | null;
  readonly receivingMxHelo: string | null;
  readonly receivingIp: string | null;
  readonly failedSessions: number;
  readonly reasonCode: string | null;
  readonly additionalInformation: string | null;
}

/** Why a policy or a failure is unreadable. */
export type TlsFault = "malformed" | "missing_field" | "bad_count";

export type TlsRefusal = TlsFault | "bad_date" | "too_many_records" | "too_many_in_mail" | "too_large";

export type TlsReading =
  | { readonly ok: true; readonly report: TlsReport }
  | { readonly ok: false; readonly reason: TlsRefusal };

/** Limit of the JSON text in characters. */
const tlsReportLimit = 10 * 1024 * 1024;
/** Limit of the policies and failures of a report together. */
export const tlsRecordLimit = 10_000;
const maxCount = 1_000_000_000_000;
const maxHosts = 100;
const maxTextLength = 500;

/** An object whose keys are in lower case with hyphens. */
type JsonObject = Readonly<Record<string, unknown>>;

class TlsRefused extends ReportRefused<TlsRefusal> {}

/** Parses the text of a report, or of a list of reports. Never throws. */
export function readTlsReports(text: string, hints: ReportHints = noHints): TlsReading[] {
  if (text.length > tlsReportLimit) return [{ ok: false, reason: "too_large" }];
  const value = parseJson(text);
  const all: readonly unknown[] = Array.isArray(value) ? value : [value];
  const reports = all.slice(0, maxReportsOfDocument);
  const readings = reports.map((report, at): TlsReading => {
    try {
      const id = idFor(reports.length === 1 ? text : `${at} ${text}`);
      return { ok: true, report: readReport(report, hints, id) };
    } catch (error) {
      return { ok: false, reason: error instanceof TlsRefused ? error.reason : "malformed" };
    }
  });
  return all.length > reports.length ? [...readings, { ok: false, reason: "too_many_in_mail" }] : readings;
}

/** Parses JSON; null if it is invalid. Text after the end of the report is ignored. */
function parseJson(text: string): unknown {
  for (const json of [text, text.slice(0, text.lastIndexOf("}") + 1)]) {
    try {
      return JSON.parse(json);
    } catch {
      // Tries again without the text after the last brace.
    }
  }
  return null;
}

function readReport(value: unknown, hints: ReportHints, id: string): TlsReport {
  const root = objectOf(value);
  const contactInfo = textOf(root["contact-info"]);
  const { begin, end } = readRange(root["date-range"], hints);
  return {
    organizationName: textOf(root["organization-name"]) ?? reporterOf(contactInfo, hints),
    contactInfo,
    reportId: textOf(root["report-id"]) ?? id,
    begin,
    end,
    ...readPolicies(root.policies),
  };
}

function readRange(value: unknown, hints: ReportHints): { readonly begin: Date; readonly end: Date } {
  const range = isObject(value) ? objectOf(value) : {};
  const file = fileParts(hints);
  const begin = instantOf(textOf(range["start-datetime"])) ?? instantOf(file.begin);
  const end = instantOf(textOf(range["end-datetime"])) ?? instantOf(file.end);
  if (begin === null || end === null) throw new TlsRefused("bad_date");
  return inOrder(begin, end);
}

/** @throws TlsRefused if there are policies and none of them is readable */
function readPolicies(value: unknown): Pick<TlsReport, "policies" | "unread"> {
  // Some programs write a single policy without a list.
  const entries = isObject(value) && "policy" in value ? [value] : listOf(value);
  const details = (entry: unknown) => (isObject(entry) ? objectOf(entry)["failure-details"] : null);
  const failures = entries.reduce<number>((sum, entry) => sum + lengthOf(details(entry)), 0);
  if (entries.length + failures > tlsRecordLimit) throw new TlsRefused("too_many_records");
  const faults = new Map<TlsFault, number>();
  const policies = readEach(entries, (entry) => readPolicy(objectOf(entry), faults), faults);
  const [first] = faults.keys();
  if (policies.length === 0 && first !== undefined) throw new TlsRefused(first);
  return { policies, unread: [...faults].map(([reason, records]) => ({ reason, records })) };
}

function readPolicy(entry: JsonObject, faults: Map<TlsFault, number>): TlsPolicyReport {
  const policy = objectOf(entry.policy);
  const summary = objectOf(entry.summary ?? {});
  const domain = domainIn(textOf(policy["policy-domain"]) ?? "");
  if (domain === "") throw new TlsRefused("missing_field");
  return {
    type: (textOf(policy["policy-type"]) ?? "no-policy-found").toLowerCase(),
    domain,
    policyStrings: textsOf(policy["policy-string"]),
    // Some programs write a single host as a string instead of a list.
    mxHosts: textsOf(policy["mx-host"] ?? policy["mx-host-pattern"]),
    successful: countOf(summary["total-successful-session-count"]),
    failed: countOf(summary["total-failure-session-count"]),
    failures: readEach(listOf(entry["failure-details"]), (detail) => readFailure(objectOf(detail)), faults),
  };
}

function readFailure(detail: JsonObject): TlsFailure {
  const resultType = textOf(detail["result-type"]);
  if (resultType === null) throw new TlsRefused("missing_field");
  return {
    resultType: resultType.toLowerCase(),
    sendingMtaIp: textOf(detail["sending-mta-ip"]),
    receivingMxHostname: textOf(detail["receiving-mx-hostname"]),
    receivingMxHelo: textOf(detail["receiving-mx-helo"]),
    receivingIp: textOf(detail["receiving-ip"]),
    failedSessions: countOf(detail["failed-session-count"]),
    reasonCode: textOf(detail["failure-reason-code"]),
    additionalInformation: textOf(detail["additional-information"]),
  };
}

/** Reads each item; unreadable items are counted in `faults`. */
function readEach<Value>(
  given: readonly unknown[],
  read: (one: unknown) => Value,
  faults: Map<TlsFault, number>,
): Value[] {
  return given.flatMap((one) => {
    try {
      return [read(one)];
    } catch (error) {
      const reason = error instanceof TlsRefused ? error.reason : "malformed";
      const fault = reason === "bad_count" || reason === "missing_field" ? reason : "malformed";
      faults.set(fault, (faults.get(fault) ?? 0) + 1);
      return [];
    }
  });
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function objectOf(value: unknown): JsonObject {
  if (!isObject(value)) throw new TlsRefused("malformed");
  const entries = Object.entries(value);
  return Object.fromEntries(entries.map(([name, one]) => [name.toLowerCase().replaceAll("_", "-"), one]));
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new TlsRefused("malformed");
  return value;
}

function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}

function textOf(value: unknown): string | null {
  const text = typeof value === "number" ? String(value) : typeof value === "string" ? value : "";
  return text.trim().slice(0, maxTextLength) || null;
}

function textsOf(value: unknown): string[] {
  const values = typeof value === "string" ? [value] : Array.isArray(value) ? value : [];
  return values.slice(0, maxHosts).flatMap((item) => textOf(item) ?? []);
}

/** A count of sessions; a missing count is 0. */
function countOf(value: unknown): number {
  const count = value === undefined || value === null ? 0 : parseCount(textOf(value), maxCount);
  if (count === null) throw new TlsRefused("bad_count");
  return count;
}
