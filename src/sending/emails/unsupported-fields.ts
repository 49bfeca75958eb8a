/**
 * Request fields that POST /emails/send and POST /emails do not support and refuse, each with advice: without its cc or
 * reply-to the mail would not be what the client meant. Other unknown fields are ignored with a warning.
 */

type Advice = readonly (readonly [text: string, names: readonly string[]])[];

const templates = [
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
];
const files = [
  "attachments is a list, also for one file",
  ["attachment", "attachments", "file", "files"],
] as const;

/** The advice of POST /emails/send, and the field names to which it applies. */
const advice: Advice = [
  [
    "send one request per recipient, or use POST /emails",
    ["cc", "bcc", "cc_list", "bcc_list", "to_list", "recipients"],
  ],
  ["replies go to from_email; POST /emails has it", ["reply_to", "replyto"]],
  ["POST /emails has it", ["headers", "custom_headers"]],
  [
    "send the request when the mail is due, or use POST /emails",
    ["scheduled_at", "schedule_at", "send_at", "deliver_at"],
  ],
  [
    "put HTML or plain text into body, or use POST /emails; a text part is made from HTML",
    ["html", "text", "html_body", "text_body", "html_content", "text_content"],
  ],
  ["use POST /emails, or put the rendered template into body", ["template", ...templates]],
  files,
];

/** The advice of POST /emails. */
const adviceOfMail: Advice = [
  [
    "put HTML into html and plain text into text",
    ["body", "content", "message", "html_body", "text_body", "html_content", "text_content"],
  ],
  ["put every address into to, cc or bcc", ["recipients", "to_list", "cc_list", "bcc_list"]],
  ["give the time in scheduled_at", ["send_at", "deliver_at", "schedule_at", "delivery_time"]],
  ["name a template and its values in template: { id, variables }", templates],
  files,
];

const byName = (all: Advice) =>
  new Map(all.flatMap(([text, names]) => names.map((name) => [name, text] as const)));
const instead = byName(advice);
const insteadInMail = byName(adviceOfMail);

/** One spelling for Reply-To, replyTo and reply_to. */
function canonical(name: string): string {
  return name
    .replaceAll(/([a-z])([A-Z])/g, "$1_$2")
    .replaceAll("-", "_")
    .toLowerCase();
}

/** The advice of POST /emails/send for an unsupported field; undefined for other names. */
export function adviceForField(name: string): string | undefined {
  return instead.get(canonical(name));
}

/** The advice of POST /emails for an unsupported field; undefined for other names. */
export function adviceForMail(name: string): string | undefined {
  return insteadInMail.get(canonical(name));
}
