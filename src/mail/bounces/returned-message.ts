/**
 * The message that a report returns (RFC 6522, part 3). It identifies our message if the report hides the recipient.
 * Everything in it may be forged; only the signed token proves anything.
 */
import { messageTokenHeader } from "#mail/dkim/dkim.ts";
import type { HeaderField } from "#mail/message/encode-header.ts";
import {
  headerText,
  headerValue,
  inBrackets,
  type MailPart,
  ownParts,
  partOctets,
  readFields,
} from "./lenient-mime.ts";
import { isReturnPath } from "./verp.ts";

/** Header fields of the returned message. */
export interface ReturnedMessage {
  /** Without angle brackets. */
  readonly messageId: string | null;
  /** Our own header field with the signed local part of the return path. */
  readonly token: string | null;
  /** An address, without angle brackets. */
  readonly returnPath: string | null;
  /** Unchanged, may contain several addresses. */
  readonly to: string | null;
  readonly from: string | null;
  readonly subject: string | null;
  readonly feedbackId: string | null;
  /** RFC 9477. */
  readonly cfblFeedbackId: string | null;
  readonly headers: readonly HeaderField[];
}

const HEADER_PARTS = /^(?:text\/rfc822(?:-headers?)?|message\/(?:rfc822|global)-headers?)$/;

/** The returned message or its header, null if the report contains none. */
export function returnedMessage(report: MailPart): ReturnedMessage | null {
  for (const part of ownParts(report)) {
    const [carried] = part.type.startsWith("message/") ? part.parts : [];
    const isMessage = HEADER_PARTS.test(part.type) || isMailFile(part);
    const headers = carried?.headers ?? (isMessage ? fieldsOf(part) : []);
    if (headers.length > 0) return describeReturned(headers);
  }
  return null;
}

/** Describes the returned message with these header fields. */
export function describeReturned(headers: readonly HeaderField[]): ReturnedMessage {
  const field = (name: string) => headerValue({ headers }, name) || null;
  return {
    messageId: bare(field("Message-ID")),
    token: field(messageTokenHeader),
    returnPath: bare(field("Return-Path")),
    to: field("To") && headerText({ headers, parameters: new Map() }, "To"),
    from: field("From"),
    subject: field("Subject"),
    feedbackId: field("Feedback-ID"),
    cfblFeedbackId: field("CFBL-Feedback-ID"),
    headers,
  };
}

/** Whether its header looks like one of ours, which proves nothing. */
export function looksLikeOurs({ token, returnPath }: ReturnedMessage): boolean {
  return token !== null || (returnPath !== null && isReturnPath(returnPath.split("@", 1)[0] ?? ""));
}

/** Whether a part is a mail attached as a file. */
export function isMailFile(part: MailPart): boolean {
  const disposition = headerValue(part, "Content-Disposition") ?? "";
  return (
    /\.eml$/i.test(part.parameters.get("name") ?? "") ||
    /filename\*?=[^;]*\.eml["']?\s*(?:;|$)/i.test(disposition)
  );
}

function fieldsOf(part: MailPart): HeaderField[] {
  return readFields(partOctets(part).toString("latin1").replace(/\r\n?/g, "\n").replace(/^\n+/, "")).headers;
}

function bare(value: string | null): string | null {
  return value === null ? null : (inBrackets(value) ?? value.trim()) || null;
}
