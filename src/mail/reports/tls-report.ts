/**
 * SMTP TLS reports (RFC 8460): how often other servers could, and could not, deliver to a domain over TLS. JSON, mostly
 * in gzip, written by strangers: sizes and numbers within limits, and a refusal is a value.
 */
import { type ReportAttachment, ReportRefused, reportAttachment } from "./report-attachment.ts";

export interface TlsReport {
  readonly organizationName: string;
  readonly contactInfo: string | null;
  readonly reportId: string;
  readonly begin: Date;
  readonly end: Date;
  readonly policies: readonly TlsPolicyReport[];
}

export interface TlsPolicyReport {
  /** "sts", "tlsa", "no-policy-found". */
  readonly type: string;
  /** Lower case. */
  readonly domain: string;
  readonly policyStrings: readonly string[];
  readonly mxHosts: readonly string[];
  /** Sessions. */
  readonly successful: number;
  readonly failed: number;
  readonly failures: readonly TlsFailure[];
}

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

export type TlsRefusal =
  | Extract<ReportAttachment, { ok: false }>["reason"]
  | "malformed"
  | "missing_field"
  | "bad_date"
  | "bad_count"
  | "too_many_records";

export type TlsReading =
  | { readonly ok: true; readonly report: TlsReport }
  | { readonly ok: false; readonly reason: TlsRefusal };

/** Octets of the JSON text. */
export const tlsReportLimit = 10 * 1024 * 1024;
/** Policies of a report, and failures of all of them together. */
export const tlsRecordLimit = 10_000;
const maxCount = 1_000_000_000_000;
const maxHosts = 100;
const maxTextLength = 500;

type JsonObject = Readonly<Record<string, unknown>>;

class Refused extends ReportRefused<TlsRefusal> {}

/** Reads a mail as it was received, or an attachment's content: JSON or gzip. Never throws. */
export function readTlsReport(raw: Uint8Array): TlsReading {
  const attachment = reportAttachment(raw, /^\{/, tlsReportLimit);
  if (!attachment.ok) return attachment;
  try {
    return { ok: true, report: readReport(JSON.parse(new TextDecoder().decode(attachment.octets))) };
  } catch (error) {
    return { ok: false, reason: error instanceof Refused ? error.reason : "malformed" };
  }
}

function readReport(value: unknown): TlsReport {
  const root = objectOf(value);
  const range = objectOf(root["date-range"]);
  const begin = dateOf(range["start-datetime"]);
  const end = dateOf(range["end-datetime"]);
  if (end < begin) throw new Refused("bad_date");
  const policies = listOf(root.policies).map(objectOf);
  const failures = policies.reduce((sum, policy) => sum + listOf(policy["failure-details"]).length, 0);
  if (policies.length + failures > tlsRecordLimit) throw new Refused("too_many_records");
  return {
    organizationName: needed(root["organization-name"]),
    contactInfo: textOf(root["contact-info"]),
    reportId: needed(root["report-id"]),
    begin,
    end,
    policies: policies.map(readPolicy),
  };
}

function readPolicy(entry: JsonObject): TlsPolicyReport {
  const policy = objectOf(entry.policy);
  const summary = objectOf(entry.summary ?? {});
  return {
    type: needed(policy["policy-type"]).toLowerCase(),
    domain: needed(policy["policy-domain"]).toLowerCase().replace(/\.$/, ""),
    policyStrings: textsOf(policy["policy-string"]),
    // Some write one host as a string instead of a list.
    mxHosts: textsOf(policy["mx-host"] ?? policy["mx-host-pattern"]),
    successful: countOf(summary["total-successful-session-count"]),
    failed: countOf(summary["total-failure-session-count"]),
    failures: listOf(entry["failure-details"]).map((detail) => readFailure(objectOf(detail))),
  };
}

function readFailure(detail: JsonObject): TlsFailure {
  return {
    resultType: needed(detail["result-type"]).toLowerCase(),
    sendingMtaIp: textOf(detail["sending-mta-ip"]),
    receivingMxHostname: textOf(detail["receiving-mx-hostname"]),
    receivingMxHelo: textOf(detail["receiving-mx-helo"]),
    receivingIp: textOf(detail["receiving-ip"]),
    failedSessions: countOf(detail["failed-session-count"]),
    reasonCode: textOf(detail["failure-reason-code"]),
    additionalInformation: textOf(detail["additional-information"]),
  };
}

function objectOf(value: unknown): JsonObject {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Refused("malformed");
  return Object.fromEntries(Object.entries(value));
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new Refused("malformed");
  return value;
}

function textOf(value: unknown): string | null {
  const text = typeof value === "string" ? value.trim().slice(0, maxTextLength) : "";
  return text === "" ? null : text;
}

function textsOf(value: unknown): string[] {
  const values = typeof value === "string" ? [value] : listOf(value);
  return values.slice(0, maxHosts).flatMap((item) => textOf(item) ?? []);
}

function needed(value: unknown): string {
  const text = textOf(value);
  if (text === null) throw new Refused("missing_field");
  return text;
}

/** Sessions; a count that is left out is 0. */
function countOf(value: unknown): number {
  const count = typeof value === "string" && /^\d{1,13}$/.test(value) ? Number(value) : (value ?? 0);
  if (typeof count !== "number" || !Number.isInteger(count) || count < 0 || count > maxCount) {
    throw new Refused("bad_count");
  }
  return count;
}

function dateOf(value: unknown): Date {
  const date = new Date(typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value) ? value : Number.NaN);
  if (Number.isNaN(date.getTime())) throw new Refused("bad_date");
  return date;
}
