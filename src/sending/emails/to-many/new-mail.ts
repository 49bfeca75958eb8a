/** The body of POST /emails, which is also each item of POST /emails/batch. */
import { Type } from "typebox";
import { LONGEST_BODY } from "#mail/html/body-conversion.ts";
import { LONGEST_SUBJECT } from "#mail/message/encode-header.ts";
import { DOCUMENTED_AS, described, Id, omittable } from "#platform/shapes.ts";
import { versionNumber } from "#sending/templates/content-fields.ts";
import { MailAttachment } from "./mail-attachment.ts";

/** Recipients of one mail: to, cc and bcc together. */
export const MOST_RECIPIENTS = 50;
export const MOST_REPLY_TO = 10;
const MOST_TAGS = 10;
const LONGEST_TAG = 50;
export const MOST_METADATA = 20;
const LONGEST_METADATA = 200;
export const MOST_DAYS_AHEAD = 30;
const LONGEST_NAME = 200;

/** A list of addresses. One address alone is a list, too; the reference shows the list only. read-mailboxes.ts checks them. */
const addresses = (most: number, description: string) =>
  Type.Unsafe<string | readonly string[]>({
    [DOCUMENTED_AS]: Type.Array(Type.String({ minLength: 3 }), { maxItems: most }),
    description,
  });

const TemplateOfEmail = Type.Object(
  {
    id: described(Id, "Id of the template."),
    version: omittable(versionNumber("Number of the version; omitted: the present one.")),
    variables: omittable(
      Type.Record(Type.String(), Type.Unknown(), {
        description:
          "Values of its merge tags, at most 64 KB as JSON; lists and objects, too. `email` is the first recipient's address by default. A missing value shows nothing.",
      }),
    ),
  },
  { $id: "TemplateOfEmail", additionalProperties: false },
);

export const NewMail = Type.Object(
  {
    to: addresses(
      MOST_RECIPIENTS,
      `At least one recipient: \`ada@example.com\` or \`Ada <ada@example.com>\`. With cc and bcc at most ${MOST_RECIPIENTS}.`,
    ),
    cc: omittable(addresses(MOST_RECIPIENTS, "Further recipients, whom all recipients see.")),
    bcc: omittable(addresses(MOST_RECIPIENTS, "Further recipients, whom no other recipient sees.")),
    reply_to: omittable(
      addresses(
        MOST_REPLY_TO,
        `Where replies go, at most ${MOST_REPLY_TO} addresses; to from_email if omitted.`,
      ),
    ),
    subject: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: LONGEST_SUBJECT,
        description:
          "The subject, without line breaks and not blank. Required, unless a template has one, which it replaces. With a template it may hold merge tags.",
      }),
    ),
    template: omittable(
      described(
        TemplateOfEmail,
        "A template that gives subject, html and text, in place of these fields. The key needs `emails:send` alone.",
      ),
    ),
    html: omittable(
      Type.String({ maxLength: LONGEST_BODY, description: "The HTML. The mail has html, text, or both." }),
    ),
    text: omittable(
      Type.String({ maxLength: LONGEST_BODY, description: "The plain text. Omitted: made from the HTML." }),
    ),
    from_email: omittable(
      Type.String({
        description:
          "On a verified sending domain, or a verified sender. Default: the workspace's default sender, else the platform's.",
      }),
    ),
    from_name: omittable(
      Type.String({ maxLength: LONGEST_NAME, description: "Name in From; none when omitted." }),
    ),
    bounce_email: omittable(
      Type.String({
        description:
          "Gets copies of the delivery failure reports: on a verified sending domain, or a verified sender.",
      }),
    ),
    headers: omittable(
      Type.Record(Type.String(), Type.String(), {
        description:
          "Further header fields by name, at most 50. Those that the service writes, such as DKIM-Signature, are refused.",
      }),
    ),
    attachments: omittable(Type.Array(MailAttachment, { description: "Files in the mail." })),
    tags: omittable(
      Type.Array(Type.String({ minLength: 1, maxLength: LONGEST_TAG }), {
        maxItems: MOST_TAGS,
        description: `Words to find and count the mail by, at most ${MOST_TAGS} of at most ${LONGEST_TAG} characters. Recipients do not see them.`,
      }),
    ),
    metadata: omittable(
      Type.Record(Type.String(), Type.String({ maxLength: LONGEST_METADATA }), {
        description: `Your own names and values, such as an order number: at most ${MOST_METADATA}, names of at most 40 letters, digits, hyphens, underscores and dots, values of at most ${LONGEST_METADATA} characters. Recipients do not see them.`,
      }),
    ),
    scheduled_at: omittable(
      Type.String({
        format: "date-time",
        description: `When it is sent, with its zone, at most ${MOST_DAYS_AHEAD} days ahead. Omitted: at once.`,
      }),
    ),
  },
  { $id: "NewEmail" },
);
