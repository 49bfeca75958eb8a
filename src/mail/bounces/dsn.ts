/**
 * Delivery status notifications (RFC 3464, internationalised RFC 6533): the part of a bounce that is made for programs,
 * as the many implementations write it rather than as the RFCs want it.
 */

import { decodeWords } from "postal-mime";
import type { HeaderField } from "#mail/message/header.ts";
import {
  headerValue,
  inBrackets,
  type MailPart,
  ownParts,
  partOctets,
  partText,
  readFields,
  withoutComments,
} from "./lenient-mime.ts";

export type DeliveryAction = "failed" | "delayed" | "delivered" | "relayed" | "expanded";

/** What the report says of one recipient. */
export interface DeliveryStatus {
  /** Whom we wrote to: Original-Recipient, where there is none Final-Recipient. An address as the reporter wrote it, or
   * what it has instead of one (an X.400 name, a user name). */
  readonly recipient: string;
  /** Whom it went to in the end, after forwarding. */
  readonly finalRecipient: string;
  readonly action: DeliveryAction;
  /** RFC 3463, "5.1.1"; null when there is none that can be read. */
  readonly status: string | null;
  /** What the receiving server said, and where the status has a comment, that too. */
  readonly diagnostic: string;
  readonly remoteMta: string | null;
}

export interface DeliveryReport {
  readonly originalEnvelopeId: string | null;
  readonly reportingMta: string | null;
  readonly recipients: readonly DeliveryStatus[];
}

const STATUS_PARTS = /^message\/(?:global-)?delivery-status$/;
/** A recipient's fields that somebody put into a text, without a part of its own. */
const STATUS_IN_TEXT = /^[ \t]*(?:Original|Final)-Recipient[ \t]*:/im;
/** Octets of a part that may be such a text. */
const maxStatusText = 256 * 1024;
const maxRecipients = 1_000;
const TYPE = /^[ \t]*[\w.+-]+[ \t]*;/;
/** A type with comments around it: a comment in the value itself may be what a server said. */
const COMMENTED_TYPE = /^(?:\s*\([^()]*\))*\s*([\w.+-]+)(?:\s*\([^()]*\))*\s*;/;
/** Types as people misspell them; words before a semicolon that are none of these are part of the value. */
const KNOWN_TYPE =
  /^[ \t]*(?:rfc[ -]?\d{3,4}|smtp|esmtp|utf-?8|utf-8-addr\w*|x-?400|dns|local|unknown|internet|x-[\w.-]+)[ \t]*;/i;
/** A type that another mark or a blank sets apart. */
const LOOSE_TYPE = /^(?:(?:rfc[ -]?822|smtp|utf-8|internet)(?:[ \t]*[:,=][ \t]*|[ \t]+)|mailto:)(?=\S*@)/i;

/** The report in a mail; null when it has none that names a recipient. */
export function deliveryReport(mail: MailPart): DeliveryReport | null {
  for (const part of ownParts(mail)) {
    const report = STATUS_PARTS.test(part.type) || isStatusText(part) ? readReport(part) : null;
    if (report !== null && report.recipients.length > 0) return report;
  }
  return null;
}

/** The value of a field of the kind `type; value` (RFC 3464 section 2.1.2), with or without the type, or with two. */
export function typedValue(field: string | null): string {
  let value = (field ?? "").trim().replace(COMMENTED_TYPE, "$1;");
  if (TYPE.test(value)) value = value.replace(TYPE, "");
  while (KNOWN_TYPE.test(value)) value = value.replace(KNOWN_TYPE, "");
  return value.trim();
}

/** The value without its type and its comments; null for none. */
export function bareValue(field: string | null): string | null {
  return withoutComments(typedValue(field)) || null;
}

/** A status part that is declared as something else: as a text, or as a file. */
function isStatusText(part: MailPart): boolean {
  if (!/^(?:text\/(?!html)|application\/)/.test(part.type) || part.body.length > maxStatusText) return false;
  const text = partOctets(part).toString("latin1");
  return STATUS_IN_TEXT.test(text) && /^[ \t]*Action[ \t]*:/im.test(text);
}

function readReport(part: MailPart): DeliveryReport {
  const text = withoutIndent(partText(part).replace(/\r\n?/g, "\n"));
  const groups = text
    .split(/\n(?:[ \t]*\n)+/, 2 * maxRecipients)
    .flatMap((group) => splitAtRecipients(readFields(`${group.replace(/^\n+/, "")}\n`).headers))
    .reduce<HeaderField[][]>(joinContinued, []);
  const first = { headers: groups[0] ?? [] };
  return {
    originalEnvelopeId: withoutComments(headerValue(first, "Original-Envelope-Id") ?? "") || null,
    reportingMta: bareValue(headerValue(first, "Reporting-MTA")),
    recipients: groups.flatMap((headers) => readRecipient(headers) ?? []).slice(0, maxRecipients),
  };
}

/** The fields at the beginning of their lines, where all are indented and so look like one that is folded. */
function withoutIndent(text: string): string {
  const lines = text.split("\n");
  const indents = lines.filter((line) => line.trim() !== "").map((line) => line.search(/\S/));
  const depth = Math.min(...indents.slice(0, maxRecipients));
  return indents.length > 0 && indents.every((indent) => indent >= depth) && depth > 0
    ? lines.map((line) => line.slice(depth)).join("\n")
    : text;
}

/** Some forget the empty line between two recipients: a name that comes a second time begins the next. */
function splitAtRecipients(headers: readonly HeaderField[]): HeaderField[][] {
  const groups: HeaderField[][] = [[]];
  for (const field of headers) {
    const name = field[0].toLowerCase();
    const last = groups.at(-1) ?? [];
    const repeated = name.endsWith("-recipient") && last.some(([given]) => given.toLowerCase() === name);
    if (repeated) groups.push([field]);
    else last.push(field);
  }
  return groups;
}

/** Some set empty lines between the fields of one recipient: a group that names none continues the one before. */
function joinContinued(groups: HeaderField[][], group: HeaderField[]): HeaderField[][] {
  const last = groups.at(-1);
  const isContinued = last !== undefined && namesRecipient(last) && !namesRecipient(group);
  if (isContinued) last.push(...group);
  else groups.push(group);
  return groups;
}

function namesRecipient(group: readonly HeaderField[]): boolean {
  return group.some(([name]) => /^(?:original|final)-recipient$/i.test(name));
}

function readRecipient(headers: readonly HeaderField[]): DeliveryStatus | null {
  const original = recipientName(headerValue({ headers }, "Original-Recipient"));
  const final = recipientName(headerValue({ headers }, "Final-Recipient"));
  // Sendmail's name for the mailbox that an alias led to.
  const actual = recipientName(headerValue({ headers }, "X-Actual-Recipient"));
  // Exchange Online writes "rfc822;" alone, others a placeholder.
  const recipient = original.includes("@") || final === "" ? original : final;
  if (recipient === "") return null;
  const statusField = headerValue({ headers }, "Status") ?? "";
  const status = statusIn(withoutComments(statusField)) ?? statusIn(statusField);
  const diagnostic = decodeWords(typedValue(headerValue({ headers }, "Diagnostic-Code")));
  const comment = decodeWords(statusField)
    .replace(status ?? "", "")
    .replace(/[()]/g, " ")
    .trim();
  return {
    recipient,
    finalRecipient: actual.includes("@") ? actual : final || original,
    action: actionOf(
      bareValue(headerValue({ headers }, "Action")) ?? headerValue({ headers }, "Action") ?? "",
      status,
      diagnostic || comment,
    ),
    status,
    diagnostic: [diagnostic, comment].filter((text) => text !== "").join("; "),
    remoteMta: bareValue(headerValue({ headers }, "Remote-MTA")),
  };
}

function statusIn(text: string): string | null {
  return /(?<![\d.])([245])\.(\d{1,3})\.(\d{1,3})(?![\d.])/.exec(text)?.[0] ?? null;
}

/** "rfc822; <a@b>" and "a@b" alike; X.400 names and others stay as they are. Characters as in RFC 6533 section 3. */
function recipientName(field: string | null): string {
  const value = typedValue(field);
  const bare = withoutComments(value);
  // Other names, such as those of X.400, may have parentheses of their own.
  const name = decodeWords(bare.includes("@") ? bare : value)
    .replace(/\\x\{([\da-f]{2,5})\}/gi, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)))
    .replace(LOOSE_TYPE, "");
  return (
    inBrackets(name)?.replace(LOOSE_TYPE, "") ??
    name
      .replace(/^(["'])(.*)\1$/, "$2")
      .replace(/^<|>$|[;,]+$/g, "")
      .trim()
  );
}

function actionOf(field: string, status: string | null, words: string): DeliveryAction {
  const [, action = ""] = /^\W*(fail|delay|deliver|relay|expand)/i.exec(field) ?? [];
  switch (action.toLowerCase()) {
    case "delay":
      return "delayed";
    case "deliver":
      return "delivered";
    case "relay":
      return "relayed";
    case "expand":
      return "expanded";
    case "fail":
      return "failed";
    default:
      // Without an action the status decides, and a report about nothing else is about a failure.
      if (status?.startsWith("2.")) return "delivered";
      return status?.startsWith("4.") || (status === null && /^4\d\d\b/.test(words)) ? "delayed" : "failed";
  }
}
