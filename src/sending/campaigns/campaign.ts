/** A campaign as answers show it: the fields that its author sets (campaign-fields.ts), its progress and its counts. */
import { type Static, Type } from "typebox";
import type { Resource } from "#platform/http/endpoint.ts";
import { Id, NullableTimestamp, nullable, Timestamp } from "#platform/shapes.ts";
import {
  type CampaignFieldName,
  campaignFields,
  givenFields,
  shownContentFields,
} from "./campaign-fields.ts";

export const campaigns: Resource = { name: "campaigns", label: "Campaigns", group: "Sending" };

export const campaignStatuses = ["draft", "scheduled", "sending", "sent", "paused", "cancelled"] as const;
export type CampaignStatus = (typeof campaignStatuses)[number];

/** The body of POST and PUT. A field that is omitted has its default. */
export const NewCampaign = Type.Object(givenFields, { $id: "NewCampaign" });
export type NewCampaign = Static<typeof NewCampaign>;

/** The body of PATCH. A field that is omitted stays as it is; null returns it to its default. */
export const CampaignChange = Type.Partial(NewCampaign, { $id: "CampaignChange" });
export type CampaignChange = Static<typeof CampaignChange>;

const Rate = (of: string) => Type.Number({ description: `Fraction of the ${of}, 0 to 1.` });
const Count = Type.Integer();

/** Line and column count from 1. */
export const ContentWarning = Type.Object(
  { field: Type.String(), line: Count, column: Count, message: Type.String() },
  { $id: "ContentWarning" },
);

/** Lists of campaigns show everything but the content. */
const summary = {
  id: Id,
  name: campaignFields.name.shown,
  subject: campaignFields.subject.shown,
  from_email: campaignFields.from_email.shown,
  from_name: campaignFields.from_name.shown,
  status: Type.Enum([...campaignStatuses]),
  message_type: campaignFields.message_type.shown,
  recipient_type: campaignFields.recipient_type.shown,
  mailing_list_id: campaignFields.mailing_list_id.shown,
  mailing_list_name: nullable(Type.String()),
  segment_id: campaignFields.segment_id.shown,
  segment_name: nullable(Type.String()),
  scheduled_at: campaignFields.scheduled_at.shown,
  sent_at: Type.Unsafe<Date | null>({ ...NullableTimestamp, description: "When sending began." }),
  completed_at: NullableTimestamp,
  paused_at: NullableTimestamp,
  pause_reason: nullable(Type.String({ description: "Why the service paused it; null when a person did." })),
  waiting_reason: nullable(
    Type.Enum(["hourly_cap", "workspace_suspended"], {
      description: "Why a campaign in status `sending` is waiting; it continues without a call.",
    }),
  ),
  timezone: Type.String({
    description:
      "The workspace's time zone, used to read a `scheduled_at` without an offset; answers are in UTC.",
  }),
  total_recipients: Type.Integer({
    description: "An estimate until the whole audience has been processed; then the number of messages.",
  }),
  excluded: Type.Object(
    { suppressed: Count, unsubscribed: Count, invalid: Count, duplicate: Count },
    { description: "People in the audience who got no message, by reason." },
  ),
  sent_count: Type.Integer({ description: "Messages that had their first attempt, whatever its result." }),
  delivered_count: Count,
  open_count: Type.Integer({
    description: "Opens by people. Opens and clicks by machines are not counted here or below.",
  }),
  unique_open_count: Type.Integer({ description: "Messages that were opened or clicked." }),
  click_count: Count,
  unique_click_count: Count,
  machine_opens: Type.Integer({
    description: "Opens by programs, such as mail filters that load every image.",
  }),
  machine_clicks: Count,
  bounce_count: Count,
  complaint_count: Count,
  unsubscribe_count: Count,
  failed_count: Count,
  suppressed_count: Type.Integer({
    description: "Messages not sent because the recipient was suppressed when they were due.",
  }),
  open_rate: Rate("delivered"),
  click_rate: Rate("delivered"),
  bounce_rate: Rate("sent"),
  complaint_rate: Rate("delivered"),
  unsubscribe_rate: Rate("delivered"),
  revision: Type.Integer({
    description:
      "Rises with every change by POST, PUT or PATCH. In quotation marks it is the `ETag`, and the value for `If-Match`.",
  }),
  created_at: Timestamp,
  updated_at: Timestamp,
};

export const CampaignSummary = Type.Object(summary, { $id: "CampaignSummary" });
export type CampaignSummary = Static<typeof CampaignSummary>;

export const Campaign = Type.Object(
  {
    ...summary,
    ...shownContentFields,
    warnings: Type.Array(ContentWarning, {
      description:
        "Merge tags that show nothing, tracking that a text cannot have, and faults that prevent sending.",
    }),
  },
  { $id: "Campaign" },
);
export type Campaign = Static<typeof Campaign>;

/** The columns that creating a campaign and replacing a draft write. */
export type CampaignSettings = Pick<Campaign, CampaignFieldName | "warnings" | "total_recipients">;
