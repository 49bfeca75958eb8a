/**
 * Delivery status notifications (RFC 3464, internationalized RFC 6533): the machine-readable part of a bounce, read as
 * mail systems write it, which often differs from the RFCs.
 */

import { decodeWords } from "postal-mime";
import type { HeaderField } from "#mail/message/encode-header.ts";
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

/** The values of the Action field (RFC 3464 section 2.3.3). */
export type DeliveryAction = "failed" | "delayed" | "delivered" | "relayed" | "expanded";

/** The fields of one recipient. */
export interface DeliveryStatus {
  /**
   * The address that we wrote to: Original-Recipient, else Final-Recipient. As the reporter wrote it, which may be an
   * X.400 name or a user name.
   */
  readonly recipient: string;
  /** The address after forwarding. */
  readonly finalRecipient: string;
  readonly action: DeliveryAction;
  /** RFC 3463, "5.1.1"; null if there is none. */
  readonly status: string | null;
  /** The receiving server's reply, and the comment of the Status field. */
  readonly diagnostic: string;
  readonly remoteMta: string | null;
}

/** A delivery-status part. */
export interface DeliveryReport {
  readonly originalEnvelopeId: string | null;
  readonly reportingMta: string | null;
  readonly recipients: readonly DeliveryStatus[];
}

const STATUS_PARTS = /^message\/(?:global-)?delivery-status$/;
/** The fields of a recipient in a text part. */
const STATUS_IN_TEXT = /^[ \t]*(?:Original|Final)-Recipient[ \t]*:/im;
/** Limit of a text part that may contain a report, in octets. */
const maxStatusText = 256 * 1024;
const maxRecipients = 1_000;
const TYPE = /^[ \t]*[\w.+-]+[ \t]*;/;
/** A type with comments around it. A comment inside the value may be the server's reply, so it is kept. */
const COMMENTED_TYPE = /^(?:\s*\([^()]*\))*\s*([\w.+-]+)(?:\s*\([^()]*\))*\s*;/;
/** Types with common misspellings; other words before a semicolon are part of the value. */
const KNOWN_TYPE =
  /^[ \t]*(?:rfc[ -]?\d{3,4}|smtp|esmtp|utf-?8|utf-8-addr\w*|x-?400|dns|local|unknown|internet|x-[\w.-]+)[ \t]*;/i;
/** A type that is separated by another character or a blank. */
const LOOSE_TYPE = /^(?:(?:rfc[ -]?822|smtp|utf-8|internet)(?:[ \t]*[:,=][ \t]*|[ \t]+)|mailto:)(?=\S*@)/i;

/** The report in a mail; null if there is none that names a recipient. */
export function deliveryReport(mail: MailPart): DeliveryReport | null {
  for (const part of ownParts(mail)) {
    const report = STATUS_PARTS.test(part.type) || isStatusText(part) ? readReport(part) : null;
    if (report !== null && report.recipients.length > 0) return report;
  }
  return null;
}

/** The value of a field of the form `type; value` (RFC 3464 section 2.1.2), also without a type or with two. */
export function typedValue(field: string | null): string {
  let value = (field ?? "").trim().replace(COMMENTED_TYPE, "$1;");
  if (TYPE.test(value)) value = value.replace(TYPE, "");
  while (KNOWN_TYPE.test(value)) value = value.replace(KNOWN_TYPE, "");
  return value.trim();
}

/** The value without its type and its comments; null if it is empty. */
export function bareValue(field: string | null): string | null {
  return withoutComments(typedValue(field)) || null;
}

/** Whether a part is a report although it is declared as a text or a file. */
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

/** Removes the indentation if all lines are indented, which would look like folding. */
function withoutIndent(text: string): string {
  const lines = text.split("\n");
  const indents = lines.filter((line) => line.trim() !== "").map((line) => line.search(/\S/));
  const depth = Math.min(...indents.slice(0, maxRecipients));
  return indents.length > 0 && indents.every((indent) => indent >= depth) && depth > 0
    ? lines.map((line) => line.slice(depth)).join("\n")
    : text;
}

/** Some systems omit the empty line between two recipients: a repeated name begins the next one. */
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

/**
 * Some systems put empty lines between the fields of one recipient: a group without a recipient belongs to the one
 * before.
 */
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
  // Sendmail's field for the mailbox behind an alias.
  const actual = recipientName(headerValue({ headers }, "X-Actual-Recipient"));
  // Exchange Online writes "rfc822;" alone, other systems a placeholder.
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

/**
 * The name in "rfc822; <a@b>" or "a@b"; X.400 and other names stay unchanged. Unicode escapes are decoded (RFC 6533
 * section 3).
 */
function recipientName(field: string | null): string {
  const value = typedValue(field);
  const bare = withoutComments(value);
  // Other names, such as those of X.400, may contain parentheses.
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
      // Without an Action field the status decides; without a status it is a failure.
      if (status?.startsWith("2.")) return "delivered";
      return status?.startsWith("4.") || (status === null && /^4\d\d\b/.test(words)) ? "delayed" : "failed";
  }
}
