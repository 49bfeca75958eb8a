/**
 * Request fields that POST /emails/send does not support and refuses, each with advice: without its cc or reply-to the mail
 * would not be what the client meant. Other unknown fields are ignored with a warning.
 */

/** The advice, and the field names to which it applies. */
const advice: readonly (readonly [string, readonly string[]])[] = [
  ["send one request per recipient", ["cc", "bcc", "cc_list", "bcc_list", "to_list", "recipients"]],
  ["replies go to from_email", ["reply_to", "replyto"]],
  ["custom headers belong to campaigns", ["headers", "custom_headers"]],
  [
    "send the request when the mail is due, or use a campaign",
    ["scheduled_at", "schedule_at", "send_at", "deliver_at"],
  ],
  [
    "put HTML or plain text into body; a text part is made from HTML",
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
  ["attachments is a list, also for one file", ["attachment", "attachments", "file", "files"]],
];
const instead = new Map(advice.flatMap(([text, names]) => names.map((name) => [name, text] as const)));

/** One spelling for Reply-To, replyTo and reply_to. */
function canonical(name: string): string {
  return name
    .replaceAll(/([a-z])([A-Z])/g, "$1_$2")
    .replaceAll("-", "_")
    .toLowerCase();
}

/** The advice for an unsupported field; undefined for other names. */
export function adviceForField(name: string): string | undefined {
  return instead.get(canonical(name));
}
