/** The shapes of POST /render: what to render, and the mail. */
import { type Static, Type } from "typebox";
import { LONGEST_SUBJECT } from "#mail/message/encode-header.ts";
import { described, Id, nullable, omittable, Timestamp } from "#platform/shapes.ts";
import { ContentWarning } from "#sending/content/content-warning.ts";
import { mailFields } from "#sending/mail-fields.ts";
import { contentFields } from "#sending/templates/content-fields.ts";

/** HTML and text of two million characters each. */
export const BODY_LIMIT_OF_MAIL = 30 * 1024 * 1024;

const uuid = (description: string) => omittable(Type.Unsafe<string>({ ...Id, description }));

/** Which mail a request names, and what is edited in it. */
export const orderedMail = {
  campaign_id: uuid("This campaign, in any status."),
  autoresponder_id: uuid("A step of this autoresponder, which also requires `autoresponders:read`."),
  step_id: uuid("The step of the autoresponder; omitted: its first."),
  ...contentFields,
  template_id: uuid(
    "This template, or a campaign or step with the content of this template; requires `templates:read`.",
  ),
  subject: Type.Optional(
    Type.String({ maxLength: LONGEST_SUBJECT, description: "In place of the stored subject." }),
  ),
  preheader: omittable(
    Type.String({
      maxLength: LONGEST_SUBJECT,
      description: "Put at the beginning of the html_content, mjml or design of the request.",
    }),
  ),
  layout_id: uuid(
    "The layout around the html_content, mjml or design of the request; requires `templates:read`.",
  ),
  test_data: omittable(
    Type.Record(Type.String(), Type.Unknown(), {
      description:
        "Values of merge tags in place of those of a made-up person, and beside those of a subscriber. Default: the test data of the template.",
    }),
  ),
  html_content: mailFields.html_content,
  text_content: mailFields.text_content,
  from_email: omittable(
    Type.String({ description: "In place of the stored sender. It need not be verified yet." }),
  ),
  from_name: mailFields.from_name,
  reply_to: mailFields.reply_to,
  enable_open_tracking: mailFields.enable_open_tracking,
  enable_click_tracking: mailFields.enable_click_tracking,
  custom_headers: omittable(Type.String({ description: "Lines `Name: value`; null for none." })),
  phone_field_name: omittable(
    Type.String({
      maxLength: 200,
      description: "For an SMS campaign: the custom field with the number, in place of the stored one.",
    }),
  ),
  mailing_list_id: uuid("The list whose name, sender, custom fields and members are used."),
};
const OrderedMail = Type.Object(orderedMail);
export type OrderedMail = Static<typeof OrderedMail>;

export const RenderOrder = Type.Object(
  {
    ...orderedMail,
    subscriber_id: uuid(
      "Render as this subscriber. Omitted: as the first person of the audience if the key has `subscribers:read`, otherwise as a made-up person.",
    ),
    sample: omittable(
      Type.Boolean({
        description: "True: render as a made-up person who has a value in every custom field.",
      }),
    ),
  },
  { $id: "RenderOrder" },
);
export type RenderOrder = Static<typeof RenderOrder>;

export const SmsSize = Type.Object(
  {
    alphabet: Type.Enum(["GSM-7", "UCS-2"], {
      description:
        "`GSM-7`: 160 characters in one SMS, 153 in each of several. `UCS-2`, where the text has characters outside of that alphabet: 70 and 67.",
    }),
    characters: Type.Integer({
      minimum: 0,
      description: "Characters as they are counted, with links as long as those that are sent.",
    }),
    parts: Type.Integer({ minimum: 1, description: "How many SMS the text takes; above 10 it is not sent." }),
  },
  { $id: "SmsSize" },
);
export type SmsSize = Static<typeof SmsSize>;

export const RenderedMail = Type.Object(
  {
    subject: Type.String({ description: "The subject with the person's values." }),
    preview_text: Type.String({
      description:
        "The beginning of the mail with the person's values, which mail programs show beside the subject.",
    }),
    from: Type.Object(
      {
        email: Type.String({ description: "Address in From." }),
        name: nullable(Type.String({ description: "Display name in From; null for none." })),
      },
      { description: "The sender, with the name of the list where the mail has none." },
    ),
    html: Type.String({
      description:
        "The HTML part with the person's values. Links have their own targets, not tracked ones. Empty for an SMS.",
    }),
    text: Type.String({ description: "The text part, or the SMS, with the person's values." }),
    headers: Type.Array(
      Type.Object({
        name: Type.String({ description: "Name of the header field." }),
        value: Type.String({ description: "As in the mail: in encoded words, unfolded." }),
      }),
      { description: "The header fields in their order, without DKIM-Signature. None for an SMS." },
    ),
    size: Type.Integer({
      description:
        "Bytes of the whole mail as sent, with tracked links, attachments and signature, or of the encoded SMS.",
    }),
    html_size: Type.Integer({
      description:
        "Bytes of the HTML part with tracked links. Gmail shows about the first 102,400. 0 for an SMS.",
    }),
    derived: Type.Object(
      {
        html: Type.Boolean({ description: "The HTML part was made from the text." }),
        text: Type.Boolean({ description: "The text part was made from the HTML." }),
        unsubscribe_footer: Type.Boolean({
          description: "A footer with the unsubscribe link was added to a part that had none.",
        }),
      },
      { description: "What the author did not write." },
    ),
    person: Type.Object(
      {
        subscriber_id: nullable(Type.Unsafe<string>({ ...Id, description: "Null for the made-up person." })),
        email: Type.String({ description: "Address of the person." }),
        first_name: nullable(Type.String({ description: "First name; null if unknown." })),
        last_name: nullable(Type.String({ description: "Last name; null if unknown." })),
      },
      { description: "As whom the mail was rendered." },
    ),
    sms: described(
      nullable(
        Type.Object({
          ...SmsSize.properties,
          to: nullable(
            Type.String({ description: "The person's number (E.164); null when there is no valid one." }),
          ),
        }),
      ),
      "For an SMS: its number and its length; null for mail.",
    ),
    warnings: Type.Array(ContentWarning, { description: "Merge tags that show nothing." }),
    preview: Type.Object(
      {
        url: Type.String({ description: "A page with the mail, which needs no key and runs no script." }),
        dark_url: Type.String({
          description:
            "The mail in a dark theme: with its own rules for dark themes, or recoloured as a whole if it has none.",
        }),
        expires_at: Timestamp,
      },
      { description: "Addresses that work for five minutes." },
    ),
  },
  { $id: "RenderedMail" },
);
