/** A campaign as answers show it (contract, section 2; decisions, section 8), and what a caller may say about one. */
import { type Static, Type } from "typebox";
import { LooseConditions } from "#audience/segments/segment.ts";
import { LONGEST_BODY } from "#mail/html/body-conversion.ts";
import { LONGEST_SUBJECT } from "#mail/message/header.ts";
import type { Resource } from "#platform/http/endpoint.ts";
import { Id, NullableTimestamp, nullable, omittable, Timestamp } from "#platform/shapes.ts";
import { Attachment } from "#sending/emails/attachments.ts";
import { LONGEST_NAME } from "#workspace/name.ts";

export const campaigns: Resource = { name: "campaigns", label: "Campaigns", group: "Sending" };

export const campaignStatuses = ["draft", "scheduled", "sending", "sent", "paused", "cancelled"] as const;
export type CampaignStatus = (typeof campaignStatuses)[number];

export const messageTypes = ["email", "sms"] as const;
export const recipientTypes = ["mailing_list", "segment", "custom"] as const;

const Uuid = Type.String({ format: "uuid" });

/** A request's campaign: POST and PUT take the same, and what is left out has its default. */
export const NewCampaign = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: LONGEST_NAME, description: "Internal name." }),
    subject: Type.String({ minLength: 1, maxLength: LONGEST_SUBJECT, description: "May hold merge tags." }),
    from_email: Type.String({
      description:
        "An address on a sending domain whose ownership is verified (POST /sending-domains), or a verified sender (POST /verified-senders).",
    }),
    from_name: omittable(Type.String({ maxLength: LONGEST_NAME, description: "Omitted: the list's." })),
    reply_to: omittable(Type.String({ description: "Omitted: the list's reply_to_email." })),
    message_type: omittable(Type.Enum([...messageTypes], { default: "email", description: "What is sent." })),
    phone_field_name: omittable(
      Type.String({ maxLength: LONGEST_NAME, description: "For sms: the field that holds the number." }),
    ),
    recipient_type: omittable(
      Type.Enum([...recipientTypes], { description: "Omitted: what of the three fields below is given." }),
    ),
    mailing_list_id: omittable(
      Type.Unsafe<string>({
        ...Uuid,
        description: "All active members of this list. Looked for when the campaign is sent.",
      }),
    ),
    segment_id: omittable(
      Type.Unsafe<string>({
        ...Uuid,
        description: "Only the members of this segment, in place of all members of its list.",
      }),
    ),
    segment_conditions: omittable(
      Type.Unsafe<object>({
        ...LooseConditions,
        description:
          "Segment rules `{ logic, rules }`, in place of a saved segment: members of mailing_list_id, or of any list without it.",
      }),
    ),
    html_content: omittable(
      Type.String({
        maxLength: LONGEST_BODY,
        description: "May hold merge tags. Omitted: made of the text.",
      }),
    ),
    text_content: omittable(
      Type.String({
        maxLength: LONGEST_BODY,
        description: "Made of the HTML when left out; the message of an sms.",
      }),
    ),
    enable_open_tracking: omittable(Type.Boolean({ description: "Omitted: as the list has it." })),
    enable_click_tracking: omittable(Type.Boolean({ description: "Omitted: as the list has it." })),
    url_domain_id: omittable(Type.Unsafe<string>({ ...Uuid, description: "Tracking domain for links." })),
    use_custom_headers: omittable(
      Type.Boolean({ default: false, description: "Whether custom_headers are in the mail." }),
    ),
    custom_headers: omittable(Type.String({ description: "Lines `Name: value`." })),
    virtual_mta_ip: omittable(
      Type.String({ maxLength: 100, description: "A sending IP, or `routing_rule:<uuid>`." }),
    ),
    routing_rule_id: omittable(
      Type.Unsafe<string>({ ...Uuid, description: "The routing rule by which the mail leaves." }),
    ),
    bounce_email: omittable(
      Type.String({
        description:
          "Gets copies of delivery failure reports: on a verified sending domain, or a verified sender.",
      }),
    ),
    sender_email: omittable(
      Type.String({
        description: "Its domain, whose return path leads here, is that of the envelope sender.",
      }),
    ),
    scheduled_at: omittable(
      Type.String({
        maxLength: 40,
        description:
          "When POST /campaigns/{id}/send lets it leave; a draft is never sent by this alone. Such as `2026-12-01T09:00:00+01:00`; without an offset in the workspace's time zone. Omitted, or past: at once.",
      }),
    ),
    attachments: omittable(Type.Array(Attachment, { description: "Files in every mail of the campaign." })),
  },
  { $id: "NewCampaign" },
);
export type NewCampaign = Static<typeof NewCampaign>;

const Rate = (of: string) => Type.Number({ description: `Fraction of the ${of}, 0 to 1.` });
const Count = Type.Integer();

/** Of a place in the content, which is counted from 1. */
export const ContentWarning = Type.Object(
  { field: Type.String(), line: Count, column: Count, message: Type.String() },
  { $id: "ContentWarning" },
);

/** What a list of campaigns shows of each: everything but the content. */
const summary = {
  id: Id,
  name: Type.String(),
  subject: Type.String(),
  from_email: Type.String(),
  from_name: nullable(Type.String()),
  status: Type.Enum([...campaignStatuses]),
  message_type: Type.Enum([...messageTypes]),
  recipient_type: Type.Enum([...recipientTypes]),
  mailing_list_id: nullable(Id),
  mailing_list_name: nullable(Type.String()),
  segment_id: nullable(Id),
  segment_name: nullable(Type.String()),
  scheduled_at: Type.Unsafe<Date | null>({
    ...NullableTimestamp,
    description: "When it leaves, in UTC; null: when it is sent by a call.",
  }),
  sent_at: Type.Unsafe<Date | null>({ ...NullableTimestamp, description: "Begin of dispatch." }),
  completed_at: NullableTimestamp,
  paused_at: NullableTimestamp,
  pause_reason: nullable(
    Type.String({ description: "Null when a person paused it; otherwise what made the service do it." }),
  ),
  waiting_reason: nullable(
    Type.Enum(["hourly_cap", "workspace_suspended"], {
      description: "Why a campaign that is `sending` waits by itself, and goes on by itself.",
    }),
  ),
  timezone: Type.String({
    description: "The workspace's, in which a `scheduled_at` without an offset was read; answers are in UTC.",
  }),
  total_recipients: Type.Integer({
    description:
      "An estimate until everybody of the audience has been looked at; then the number of messages.",
  }),
  excluded: Type.Object(
    { suppressed: Count, unsubscribed: Count, invalid: Count, duplicate: Count },
    { description: "People of the audience who were not written to." },
  ),
  sent_count: Type.Integer({ description: "Messages whose first attempt is over, however it ended." }),
  delivered_count: Count,
  open_count: Type.Integer({ description: "By people; machines are left out, here and below." }),
  unique_open_count: Type.Integer({ description: "Messages opened or clicked in." }),
  click_count: Count,
  unique_click_count: Count,
  machine_opens: Type.Integer({ description: "By programs, such as mail filters that fetch every picture." }),
  machine_clicks: Count,
  bounce_count: Count,
  complaint_count: Count,
  unsubscribe_count: Count,
  failed_count: Count,
  suppressed_count: Type.Integer({ description: "Messages that were kept back when their turn came." }),
  open_rate: Rate("delivered"),
  click_rate: Rate("delivered"),
  bounce_rate: Rate("sent"),
  complaint_rate: Rate("delivered"),
  unsubscribe_rate: Rate("delivered"),
  created_at: Timestamp,
  updated_at: Timestamp,
};

export const CampaignSummary = Type.Object(summary, { $id: "CampaignSummary" });
export type CampaignSummary = Static<typeof CampaignSummary>;

export const Campaign = Type.Object(
  {
    ...summary,
    reply_to: nullable(Type.String()),
    phone_field_name: nullable(Type.String()),
    segment_conditions: nullable(Type.Record(Type.String(), Type.Unknown())),
    html_content: nullable(Type.String()),
    text_content: nullable(Type.String()),
    enable_open_tracking: nullable(Type.Boolean()),
    enable_click_tracking: nullable(Type.Boolean()),
    url_domain_id: nullable(Id),
    use_custom_headers: Type.Boolean(),
    custom_headers: nullable(Type.String()),
    virtual_mta_ip: nullable(Type.String()),
    routing_rule_id: nullable(Id),
    bounce_email: nullable(Type.String()),
    sender_email: nullable(Type.String()),
    attachments: Type.Array(
      Type.Object({
        filename: Type.String(),
        content: Type.String(),
        content_type: Type.String(),
        disposition: Type.Enum(["attachment", "inline"]),
        content_id: nullable(Type.String()),
      }),
    ),
    warnings: Type.Array(ContentWarning, {
      description:
        "Merge tags that show nothing, tracking that a text cannot have, and what keeps the content from being sent.",
    }),
  },
  { $id: "Campaign" },
);
export type Campaign = Static<typeof Campaign>;

/** What its author decides: the columns that a draft's replacement writes. */
export type CampaignSettings = Pick<
  Campaign,
  | "name"
  | "subject"
  | "from_email"
  | "from_name"
  | "reply_to"
  | "message_type"
  | "phone_field_name"
  | "recipient_type"
  | "mailing_list_id"
  | "segment_id"
  | "segment_conditions"
  | "html_content"
  | "text_content"
  | "enable_open_tracking"
  | "enable_click_tracking"
  | "url_domain_id"
  | "use_custom_headers"
  | "custom_headers"
  | "virtual_mta_ip"
  | "routing_rule_id"
  | "bounce_email"
  | "sender_email"
  | "scheduled_at"
  | "attachments"
  | "warnings"
  | "total_recipients"
>;
