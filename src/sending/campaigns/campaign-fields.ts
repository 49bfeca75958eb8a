/**
 * The fields of a campaign that its author sets: one row each. From these rows follow the body of POST and PUT
 * (NewCampaign), the answer (Campaign), the columns that are written and read (store.ts), and what a duplicate copies. The
 * name of a row is the name of the API field and of the column of `campaigns`.
 *
 * To add a field:
 * 1. add the column in a new migration;
 * 2. add a row here;
 * 3. give its value in `readCampaign` (lifecycle/read-campaign-body.ts), which does not compile without it;
 * 4. use it where mail is made (mail/presend-store.ts, mail/mail-content.ts), and run `npm run generate`.
 * campaign-fields.test.ts checks that every row is accepted, stored, shown, replaced and duplicated.
 *
 * A row has no column for "editable in which status": PUT replaces a draft as a whole, and in every other status no field
 * can be changed.
 */
import { type TSchema, Type } from "typebox";
import { conditionsReference } from "#audience/segments/conditions/documented-conditions.ts";
import { LooseConditions } from "#audience/segments/segment.ts";
import { LONGEST_BODY } from "#mail/html/body-conversion.ts";
import { DOCUMENTED_AS, described, Id, NullableTimestamp, nullable, omittable } from "#platform/shapes.ts";
import { NewAttachment } from "#sending/emails/read-attachments.ts";
import { mailFields } from "#sending/mail-fields.ts";
import { contentFields, shownContent } from "#sending/templates/content-fields.ts";
import { LONGEST_NAME } from "#workspace/read-display-name.ts";

const messageTypes = ["email", "sms"] as const;
const recipientTypes = ["mailing_list", "segment", "custom"] as const;

const Uuid = Type.String({ format: "uuid" });
const uuid = (description: string) => omittable(Type.Unsafe<string>({ ...Uuid, description }));

/** How a value is written: text as it is, the others with a cast; `files` are attachments with their Base64. */
export type ColumnType = "text" | "uuid" | "integer" | "boolean" | "timestamptz" | "jsonb" | "json" | "files";

interface Row<Given extends TSchema, Shown extends TSchema> {
  /** In the body of POST and PUT. */
  readonly given: Given;
  /** In answers. */
  readonly shown: Shown;
  readonly column: ColumnType;
  /** `summary`: lists of campaigns show the field; `content`: only GET /campaigns/{id} does. */
  readonly shownIn: "summary" | "content";
  /** Whether a duplicate starts with null instead of the value of the original. */
  readonly isResetInDuplicate?: boolean;
}

const row = <Given extends TSchema, Shown extends TSchema>(fields: Row<Given, Shown>) => fields;

export const campaignFields = {
  name: row({
    given: Type.String({ minLength: 1, maxLength: LONGEST_NAME, description: "Internal name." }),
    shown: Type.String({ description: "Internal name." }),
    column: "text",
    shownIn: "summary",
  }),
  subject: row({
    given: Type.Optional(mailFields.subject),
    shown: Type.String({ description: "The subject, with merge tags." }),
    column: "text",
    shownIn: "summary",
  }),
  from_email: row({
    given: mailFields.from_email,
    shown: Type.String({ description: "Address in From." }),
    column: "text",
    shownIn: "summary",
  }),
  from_name: row({
    given: mailFields.from_name,
    shown: nullable(Type.String({ description: "Name in From; null for that of the list." })),
    column: "text",
    shownIn: "summary",
  }),
  reply_to: row({
    given: mailFields.reply_to,
    shown: nullable(Type.String({ description: "Address for replies; null for that of the list." })),
    column: "text",
    shownIn: "content",
  }),
  message_type: row({
    given: omittable(Type.Enum([...messageTypes], { default: "email", description: "What is sent." })),
    shown: Type.Enum([...messageTypes], { description: "What is sent." }),
    column: "text",
    shownIn: "summary",
  }),
  phone_field_name: row({
    given: omittable(
      Type.String({
        maxLength: LONGEST_NAME,
        description: "For sms: the custom field that holds the telephone number.",
      }),
    ),
    shown: nullable(
      Type.String({
        description: "For sms: the custom field that holds the telephone number; null otherwise.",
      }),
    ),
    column: "text",
    shownIn: "content",
  }),
  recipient_type: row({
    given: omittable(
      Type.Enum([...recipientTypes], {
        description: "Default: follows from which of the next three fields is given.",
      }),
    ),
    shown: Type.Enum([...recipientTypes], {
      description: "Which of the next three fields chooses the recipients.",
    }),
    column: "text",
    shownIn: "summary",
  }),
  mailing_list_id: row({
    given: uuid("All active members of this list. Whether it exists is checked when the campaign is sent."),
    shown: nullable(described(Id, "The list whose members get it; null if there is none.")),
    column: "uuid",
    shownIn: "summary",
  }),
  segment_id: row({
    given: uuid("Only the members of this segment, instead of all members of its list."),
    shown: nullable(described(Id, "The segment whose members get it; null if there is none.")),
    column: "uuid",
    shownIn: "summary",
  }),
  segment_conditions: row({
    given: omittable(
      Type.Unsafe<object>({
        ...LooseConditions,
        description:
          "Segment rules `{ logic, rules }` instead of a saved segment: members of mailing_list_id, or of any list when that is omitted.",
      }),
    ),
    shown: nullable(
      Type.Record(Type.String(), Type.Unknown(), {
        description: "The conditions that choose the recipients; null if a list or segment does.",
        [DOCUMENTED_AS]: conditionsReference,
      }),
    ),
    column: "jsonb",
    shownIn: "content",
  }),
  template_id: row({
    given: contentFields.template_id,
    shown: shownContent.template_id,
    column: "uuid",
    shownIn: "content",
  }),
  template_version: row({
    given: contentFields.template_version,
    shown: shownContent.template_version,
    column: "integer",
    shownIn: "content",
  }),
  html_content: row({
    given: mailFields.html_content,
    shown: nullable(Type.String({ description: "The HTML, with merge tags; null if there is only text." })),
    column: "text",
    shownIn: "content",
  }),
  text_content: row({
    given: omittable(
      Type.String({
        maxLength: LONGEST_BODY,
        description: "Omitted: made from the HTML. For sms: the message.",
      }),
    ),
    shown: nullable(
      Type.String({ description: "The text, with merge tags; null if it is made from the HTML." }),
    ),
    column: "text",
    shownIn: "content",
  }),
  mjml: row({
    given: contentFields.mjml,
    shown: shownContent.mjml,
    column: "text",
    shownIn: "content",
  }),
  design: row({
    given: contentFields.design,
    shown: shownContent.design,
    column: "json",
    shownIn: "content",
  }),
  enable_open_tracking: row({
    given: mailFields.enable_open_tracking,
    shown: nullable(
      Type.Boolean({ description: "Whether opens are tracked; null for the setting of the list." }),
    ),
    column: "boolean",
    shownIn: "content",
  }),
  enable_click_tracking: row({
    given: mailFields.enable_click_tracking,
    shown: nullable(
      Type.Boolean({ description: "Whether clicks are tracked; null for the setting of the list." }),
    ),
    column: "boolean",
    shownIn: "content",
  }),
  url_domain_id: row({
    given: uuid("Tracking domain for links."),
    shown: nullable(described(Id, "Tracking domain for links; null for the usual one.")),
    column: "uuid",
    shownIn: "content",
  }),
  use_custom_headers: row({
    given: omittable(
      Type.Boolean({ default: false, description: "Whether the mail carries custom_headers." }),
    ),
    shown: Type.Boolean({ description: "Whether the mail carries custom_headers." }),
    column: "boolean",
    shownIn: "content",
  }),
  custom_headers: row({
    given: omittable(Type.String({ description: "Lines `Name: value`." })),
    shown: nullable(Type.String({ description: "Lines `Name: value`; null for none." })),
    column: "text",
    shownIn: "content",
  }),
  virtual_mta_ip: row({
    given: omittable(Type.String({ maxLength: 100, description: "A sending IP, or `routing_rule:<uuid>`." })),
    shown: nullable(
      Type.String({ description: "The sending IP, or `routing_rule:<uuid>`; null for the usual route." }),
    ),
    column: "text",
    shownIn: "content",
  }),
  routing_rule_id: row({
    given: uuid("The routing rule that chooses the sending IP."),
    shown: nullable(
      Type.String({ description: "The routing rule that chooses the sending IP; null for the usual route." }),
    ),
    column: "uuid",
    shownIn: "content",
  }),
  bounce_email: row({
    given: omittable(
      Type.String({
        description:
          "Gets copies of delivery failure reports: on a verified sending domain, or a verified sender.",
      }),
    ),
    shown: nullable(
      Type.String({ description: "Address for copies of delivery failure reports; null for none." }),
    ),
    column: "text",
    shownIn: "content",
  }),
  sender_email: row({
    given: omittable(
      Type.String({
        description:
          "The envelope sender uses the verified custom return path of this address's sending domain.",
      }),
    ),
    shown: nullable(
      Type.String({
        description: "Address whose domain has the return path that is used; null for the usual one.",
      }),
    ),
    column: "text",
    shownIn: "content",
  }),
  scheduled_at: row({
    given: omittable(
      Type.String({
        maxLength: 40,
        description:
          "When a campaign leaves after POST /campaigns/{id}/send; without that call nothing is sent. Such as `2026-12-01T09:00:00+01:00`; without an offset in the workspace's time zone. Omitted or past: at once.",
      }),
    ),
    shown: Type.Unsafe<Date | null>({
      ...NullableTimestamp,
      description: "When it leaves, in UTC; null: when it is sent by a call.",
    }),
    column: "timestamptz",
    shownIn: "summary",
    isResetInDuplicate: true,
  }),
  attachments: row({
    given: omittable(Type.Array(NewAttachment, { description: "Files in every mail of the campaign." })),
    shown: Type.Array(
      Type.Object({
        filename: Type.String({ description: "Name of the file." }),
        content: Type.String({ description: "The file in Base64; empty if `without` leaves it out." }),
        content_type: Type.String({ description: "Its media type." }),
        disposition: Type.Enum(["attachment", "inline"], {
          description: "Whether it is listed as a file, or shown within the HTML.",
        }),
        content_id: nullable(
          Type.String({ description: "The id by which the HTML shows it; null if it has none." }),
        ),
        size: Type.Integer({ description: "Size of the file in bytes." }),
      }),
      { description: "Files in every mail of the campaign." },
    ),
    column: "files",
    shownIn: "content",
  }),
};

type Rows = typeof campaignFields;
export type CampaignFieldName = keyof Rows;
type ContentFieldName = {
  [Name in CampaignFieldName]: Name extends SummaryFieldName ? never : Name;
}[CampaignFieldName];

/** This type is written separately, because `shownIn` of a row is a union; the test checks that both agree. */
export type SummaryFieldName =
  | "name"
  | "subject"
  | "from_email"
  | "from_name"
  | "message_type"
  | "recipient_type"
  | "mailing_list_id"
  | "segment_id"
  | "scheduled_at";

export const campaignFieldNames = Object.keys(campaignFields) as CampaignFieldName[];

/** Fields that only GET /campaigns/{id} shows, in the order of the table. */
export const contentFieldNames = campaignFieldNames.filter(
  (name): name is ContentFieldName => campaignFields[name].shownIn === "content",
);

function shapes(part: "given" | "shown", names: readonly CampaignFieldName[]): Record<string, TSchema> {
  return Object.fromEntries(names.map((name) => [name, campaignFields[name][part]]));
}

/** The shape of every field in a request. */
export const givenFields = shapes("given", campaignFieldNames) as {
  [Name in CampaignFieldName]: Rows[Name]["given"];
};

/** The shape of every content field in an answer. */
export const shownContentFields = shapes("shown", contentFieldNames) as {
  [Name in ContentFieldName]: Rows[Name]["shown"];
};

/** A duplicate's fields. @param isReset whether a field starts with null instead of the value of the original */
export function duplicatedFields<Original extends Record<CampaignFieldName, unknown>>(
  original: Original,
  isReset = (name: CampaignFieldName): boolean => campaignFields[name].isResetInDuplicate ?? false,
): Pick<Original, CampaignFieldName> {
  const copied = campaignFieldNames.map((name) => {
    return [name, isReset(name) ? null : original[name]] as const;
  });
  return Object.fromEntries(copied) as Pick<Original, CampaignFieldName>;
}
