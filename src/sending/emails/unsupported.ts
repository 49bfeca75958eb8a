/**
 * What POST /emails/send does not do. Everywhere else an unknown field is ignored; here a dropped cc or reply-to
 * would be a mail that says something else than its sender meant, so these are refused by name.
 */
import { ApiError, type FieldFault } from "../../platform/errors.ts";

const instead: Readonly<Record<string, string>> = {
  cc: "send one request per recipient",
  bcc: "send one request per recipient",
  reply_to: "replies go to from_email",
  headers: "custom headers belong to campaigns",
  custom_headers: "custom headers belong to campaigns",
  scheduled_at: "send the request when the mail is due, or use a campaign",
  send_at: "send the request when the mail is due, or use a campaign",
  html: "put HTML or plain text into body; the other part is generated",
  text: "put HTML or plain text into body; the other part is generated",
  html_content: "put HTML or plain text into body; the other part is generated",
  text_content: "put HTML or plain text into body; the other part is generated",
  template: "render the template first and put the result into body",
  template_id: "render the template first and put the result into body",
  template_data: "render the template first and put the result into body",
  recipients: "to takes one recipient: send one request each",
};

/** Spellings people use for the same thing: Reply-To, replyTo, reply_to. */
function canonical(name: string): string {
  return name
    .replaceAll(/([a-z])([A-Z])/g, "$1_$2")
    .replaceAll("-", "_")
    .toLowerCase();
}

/** @throws ApiError VALIDATION_ERROR that names every such field */
export function refuseUnsupported(body: object): void {
  const faults: FieldFault[] = [];
  for (const field of Object.keys(body)) {
    const name = canonical(field);
    if (Object.hasOwn(instead, name)) {
      faults.push({ field, message: `${field} is not supported here: ${instead[name]}` });
    }
  }
  if (faults.length > 0) {
    throw new ApiError("VALIDATION_ERROR", faults.map((fault) => fault.message).join("; "), {
      details: faults,
    });
  }
}
