/**
 * Finds the packed report in a mail of a mailbox provider (DMARC aggregate reports, TLS reports), or takes what it is
 * given when that is the report itself. What is one is told by its first octets, not by media type or file name.
 */
import { type MailPart, octetsOf, ownParts, readReportMail } from "../bounces/report-mail.ts";
import { isPacked, type UnpackRefusal, unpack } from "./unpack.ts";

export type ReportAttachment =
  | { readonly ok: true; readonly octets: Buffer }
  | { readonly ok: false; readonly reason: UnpackRefusal | "no_report" };

/** Ends the reading of a report that is not as it has to be. */
export class ReportRefused<Reason extends string> extends Error {
  readonly reason: Reason;
  constructor(reason: Reason) {
    super(reason);
    this.reason = reason;
  }
}

/** Octets of a mail that are read: aggregate reports are larger than bounces (RFC 9990 lets senders send 10 MB). */
export const attachmentMailLimit = 14 * 1024 * 1024;
const maxTried = 5;

/**
 * The unpacked report of a mail as it was received, or of an attachment's content. Never throws.
 * @param begins what the unpacked report begins with, after blanks
 * @param limit octets of the unpacked report
 */
export function reportAttachment(raw: Uint8Array, begins: RegExp, limit: number): ReportAttachment {
  const direct = unpack(raw, begins, limit);
  if (direct.ok || direct.reason !== "not_packed") return direct;
  const contents = [...ownParts(readReportMail(raw, attachmentMailLimit))]
    .filter(mayHoldReport)
    .slice(0, maxTried);
  let refusal: ReportAttachment = { ok: false, reason: "no_report" };
  for (const part of contents) {
    const octets = octetsOf(part);
    const unpacked = unpack(octets, begins, limit);
    if (unpacked.ok) return unpacked;
    if (isPacked(octets)) refusal = unpacked;
  }
  return refusal;
}

/** Not the words around it, and nothing without content. */
function mayHoldReport({ type, body }: MailPart): boolean {
  return !/^(?:multipart|message|image)\/|^text\/html$/.test(type) && body.trim() !== "";
}
