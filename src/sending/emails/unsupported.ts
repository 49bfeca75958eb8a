/**
 * What POST /emails/send does not do. Everywhere else an unknown field is ignored; here a dropped cc or reply-to
 * would be a mail that says something else than its sender meant, so these are refused by name.
 */
import { ApiError, type FieldFault } from "../../platform/errors.ts";

/** What to do instead, and the names that people give the thing. */
const advice: readonly (readonly [string, readonly string[]])[] = [
  ["send one request per recipient", ["cc", "bcc", "cc_list", "bcc_list", "to_list", "recipients"]],
  ["replies go to from_email", ["reply_to", "replyto"]],
  ["custom headers belong to campaigns", ["headers", "custom_headers"]],
  [
    "send the request when the mail is due, or use a campaign",
    ["scheduled_at", "schedule_at", "send_at", "deliver_at"],
  ],
  [
    "put HTML or plain text into body; the other part is generated",
    ["html", "text", "html_body", "text_body", "html_content", "text_content"],
  ],
  [
    "render the template first and put the result into body",
    [
      "template",
      "template_id",
      "template_data",
      "template_variables",
      "dynamic_template_data",
      "merge_tags",
      "merge_vars",
      "personalization",
      "personalizations",
      "substitutions",
      "variables",
    ],
  ],
  ["attachments is a list, of one file too", ["attachment", "attachments", "file", "files"]],
];
const instead = new Map(advice.flatMap(([text, names]) => names.map((name) => [name, text] as const)));

/** Spellings people use for the same thing: Reply-To, replyTo, reply_to. */
function canonical(name: string): string {
  return name
    .replaceAll(/([a-z])([A-Z])/g, "$1_$2")
    .replaceAll("-", "_")
    .toLowerCase();
}

/**
 * @param known the fields that the endpoint has: these are not looked at
 * @throws ApiError VALIDATION_ERROR that names every such field
 */
export function refuseUnsupported(body: object, known: object): void {
  const faults: FieldFault[] = [];
  for (const field of Object.keys(body)) {
    if (Object.hasOwn(known, field)) continue;
    const hint = instead.get(canonical(field));
    if (hint !== undefined) faults.push({ field, message: `${field} is not supported here: ${hint}` });
  }
  if (faults.length > 0) {
    throw new ApiError("VALIDATION_ERROR", faults.map((fault) => fault.message).join("; "), {
      details: faults,
    });
  }
}
