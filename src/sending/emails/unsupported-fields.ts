/**
 * What POST /emails/send does not do. Other unknown fields are ignored, with a warning; without its cc or reply-to a mail
 * would say something else than its sender meant, so these are refused by name.
 */

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
    "put HTML or plain text into body; HTML gets a text part of its own",
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

/** What to do instead of sending this field; undefined for other names. */
export function adviceForField(name: string): string | undefined {
  return instead.get(canonical(name));
}
