/**
 * Whether a received mail was written by a program, by its header and its envelope, so that other programs do not answer it
 * (RFC 3834 section 2). Subjects and texts do not count: a person may write about an out-of-office reply.
 */
import { isMarkedAsAutoReply, isReadReceipt } from "#mail/bounces/auto-reply.ts";
import { headerValue, type MailPart } from "#mail/bounces/lenient-mime.ts";
import { readBounce } from "#mail/bounces/read-bounce.ts";

export const automaticKinds = ["bounce", "read_receipt", "auto_reply", "mailing_list", "generated"] as const;

/**
 * `bounce`: a delivery report; `auto_reply`: an answer such as an out-of-office reply; `generated`: any other mail of a program
 * that says so.
 */
export type Automatic = (typeof automaticKinds)[number];

const REPORT_TYPES = new Set(["delivery-status", "feedback-report"]);

/** @param mailFrom the envelope sender, "" for the null sender */
export function automaticKind(mail: MailPart, raw: Uint8Array, mailFrom: string): Automatic | null {
  if (isReadReceipt(mail)) return "read_receipt";
  if (REPORT_TYPES.has(mail.parameters.get("report-type")?.toLowerCase() ?? "")) return "bounce";
  const notice = mailFrom === "" ? readBounce(raw) : null;
  if (notice !== null && notice.kind !== "auto_reply") return "bounce";
  if (notice !== null || isMarkedAsAutoReply(mail)) return "auto_reply";
  const precedence = headerValue(mail, "Precedence")?.trim().toLowerCase() ?? "";
  if (headerValue(mail, "List-Id") !== null || precedence === "list") return "mailing_list";
  const submitted = headerValue(mail, "Auto-Submitted")?.trim().toLowerCase() ?? "no";
  const isGenerated = !/^no\b/.test(submitted) || precedence === "bulk" || precedence === "junk";
  return isGenerated || mailFrom === "" ? "generated" : null;
}
