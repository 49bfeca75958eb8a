/**
 * Reads complaints that mailbox providers forward: feedback reports (ARF, RFC 5965, with RFC 6591 and RFC 9477), and
 * the older format of Microsoft's JMRP, which only forwards the message. Anyone can send one, so it counts only for
 * the message that its signed token or return path names.
 */
import { ipAddressIn } from "#mail/find-ip-address.ts";
import type { HeaderField } from "#mail/message/encode-header.ts";
import { bareValue, typedValue } from "./dsn.ts";
import {
  headerValue,
  inBrackets,
  type MailPart,
  ownParts,
  partOctets,
  readFields,
  readMime,
  withoutComments,
} from "./lenient-mime.ts";
import { describeReturned, type ReturnedMessage, returnedMessage } from "./returned-message.ts";

/** A feedback report, or a message forwarded by JMRP. */
export interface Complaint {
  /** Lower case: "abuse", "fraud", "virus", "other", "not-spam", "auth-failure" or another value. */
  readonly feedbackType: string;
  /** A person complained. False for not-spam, for authentication failures, and for unknown types. */
  readonly counts: boolean;
  /** The From field of the report. */
  readonly from: string | null;
  readonly userAgent: string | null;
  readonly version: string | null;
  /** Addresses without angle brackets; "" is the null sender. */
  readonly originalMailFrom: string | null;
  /**
   * The recipients as reported, sometimes hashed. They are compared, not trusted. Empty if the provider hides the
   * recipient.
   */
  readonly originalRcptTo: readonly string[];
  readonly originalEnvelopeId: string | null;
  readonly arrivalDate: string | null;
  readonly reportingMta: string | null;
  readonly sourceIp: string | null;
  /** The number of complaints that the report stands for, at least 1. */
  readonly incidents: number;
  readonly authenticationResults: readonly string[];
  readonly reportedDomains: readonly string[];
  readonly reportedUris: readonly string[];
  /** The CFBL-Feedback-ID (RFC 9477) of the report or of the returned header. */
  readonly cfblFeedbackId: string | null;
  /** The message that the complaint is about. */
  readonly returned: ReturnedMessage | null;
  /** All fields of the report. */
  readonly fields: readonly HeaderField[];
}

const COUNTED = new Set(["abuse", "fraud", "virus", "other", "opt-out", "opt-out-list"]);
/** A Feedback-Type field among the first lines, all of which are fields. */
const REPORT_FIELDS = /^(?:[\w-]+:[^\n]*\n\s*)*?feedback-type\s*:/i;
const REPORT_PARTS = /^message\/(?:feedback-report|x-feedback-report)$/;
/** Microsoft names the recipient in the header of the forwarded message. */
const JMRP_RECIPIENT = "X-HmXmrOriginalRecipient";
const HIDDEN = /^(?:redacted|removed|hidden|undisclosed[-\w]*|x+|\*+|unknown)(?:@|$)/i;
const maxValues = 100;
const maxIncidents = 1_000_000;

/** Reads a mail as it was received; null if it is not a complaint. Never throws. */
export function readComplaint(raw: Uint8Array): Complaint | null {
  const mail = readMime(raw);
  const parts = [...ownParts(mail)];
  const report = parts.find(({ type }) => REPORT_PARTS.test(type)) ?? parts.find(isReportOfAnotherType);
  if (report !== undefined) return fromReport(report, mail);
  const forwarded = [
    mail,
    ...parts.flatMap(({ type, parts: [carried] }) => (type.startsWith("message/") && carried) || []),
  ];
  const jmrp = forwarded.find((candidate) => headerValue(candidate, JMRP_RECIPIENT) !== null);
  return jmrp === undefined ? null : fromForwarded(jmrp, mail);
}

/** Some providers send the report as text or as a file; it is recognized by its first fields. */
function isReportOfAnotherType(part: MailPart): boolean {
  if (/^(?:multipart|message)\//.test(part.type) || part.body.trim() === "") return false;
  return REPORT_FIELDS.test(reportText(part).slice(0, 4_000));
}

function reportText(part: MailPart): string {
  return partOctets(part)
    .toString("utf8")
    .replace(/\r\n?/g, "\n")
    .replace(/^[\s\ufeff]+/, "");
}

function fromReport(report: MailPart, mail: MailPart): Complaint {
  const text = reportText(report);
  // Some providers leave empty lines between the fields.
  const { headers: fields } = readFields(`${text.replace(/\n\s*\n/g, "\n")}\n`);
  const field = (name: string) => headerValue({ headers: fields }, name) || null;
  const bare = (name: string) => withoutComments(field(name) ?? "") || null;
  const returned = returnedMessage(mail);
  const feedbackType = (bare("Feedback-Type") ?? bare("Abuse-Type") ?? "abuse").toLowerCase();
  const removals = valuesOf(fields, "Removal-Recipient");
  const recipients = valuesOf(fields, "Original-Rcpt-To").flatMap((value) =>
    withoutComments(value).split(","),
  );
  const mailFrom = bare("Original-Mail-From");
  return {
    feedbackType,
    counts: COUNTED.has(feedbackType),
    from: headerValue(mail, "From"),
    userAgent: field("User-Agent"),
    version: bare("Version"),
    originalMailFrom: mailFrom === null ? null : bareAddress(mailFrom),
    originalRcptTo: shownAddresses(recipients.length > 0 ? recipients : removals),
    originalEnvelopeId: bare("Original-Envelope-Id"),
    arrivalDate: field("Arrival-Date") ?? field("Received-Date"),
    reportingMta: bareValue(field("Reporting-MTA")),
    sourceIp: ipAddressIn(bare("Source-IP") ?? "") ?? ipAddressIn(field("Source-IP") ?? ""),
    incidents: Math.min(Math.max(Number.parseInt(bare("Incidents") ?? "1", 10) || 1, 1), maxIncidents),
    authenticationResults: valuesOf(fields, "Authentication-Results"),
    reportedDomains: valuesOf(fields, "Reported-Domain").flatMap((value) => withoutComments(value) || []),
    reportedUris: valuesOf(fields, "Reported-URI"),
    cfblFeedbackId: bare("CFBL-Feedback-ID") ?? returned?.cfblFeedbackId ?? null,
    returned,
    fields,
  };
}

function fromForwarded({ headers }: MailPart, mail: MailPart): Complaint {
  const returned = describeReturned(headers);
  return {
    feedbackType: "abuse",
    counts: true,
    from: headerValue(mail, "From"),
    userAgent: null,
    version: null,
    originalMailFrom: returned.returnPath,
    originalRcptTo: shownAddresses(valuesOf(headers, JMRP_RECIPIENT)),
    originalEnvelopeId: null,
    arrivalDate: headerValue(mail, "Date"),
    reportingMta: null,
    sourceIp: ipAddressIn(headerValue({ headers }, "X-Originating-IP") ?? ""),
    incidents: 1,
    authenticationResults: valuesOf(headers, "Authentication-Results"),
    reportedDomains: [],
    reportedUris: [],
    cfblFeedbackId: returned.cfblFeedbackId,
    returned,
    fields: [],
  };
}

function valuesOf(fields: readonly HeaderField[], name: string): string[] {
  const wanted = name.toLowerCase();
  return fields
    .flatMap(([given, value]) => (given.toLowerCase() === wanted && value !== "" ? [value] : []))
    .slice(0, maxValues);
}

function shownAddresses(values: readonly string[]): string[] {
  const addresses = values
    .map(bareAddress)
    .filter((address) => address.includes("@") && !HIDDEN.test(address));
  return [...new Set(addresses)].slice(0, maxValues);
}

/** The address in "rfc822; <a@b>", "<a@b> (Ann)" or "a@b". */
function bareAddress(value: string): string {
  const bare = withoutComments(value);
  return inBrackets(bare) ?? typedValue(bare);
}
