/** A campaign as answers show it: the fields that its author sets (campaign-fields.ts), its progress and its counts. */
import { type Static, Type } from "typebox";
import type { Resource } from "#platform/http/endpoint.ts";
import {
  CreatedAt,
  described,
  Id,
  NullableTimestamp,
  nullable,
  Timestamp,
  UpdatedAt,
} from "#platform/shapes.ts";
import { ContentWarning } from "#sending/content/content-warning.ts";
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

/** Lists of campaigns show everything but the content. */
const summary = {
  id: described(Id, "Id of the campaign."),
  name: campaignFields.name.shown,
  subject: campaignFields.subject.shown,
  from_email: campaignFields.from_email.shown,
  from_name: campaignFields.from_name.shown,
  status: Type.Enum([...campaignStatuses], { description: "Where it is between draft and sent." }),
  message_type: campaignFields.message_type.shown,
  recipient_type: campaignFields.recipient_type.shown,
  mailing_list_id: campaignFields.mailing_list_id.shown,
  mailing_list_name: nullable(
    Type.String({ description: "Name of the list; null if there is none or it was deleted." }),
  ),
  segment_id: campaignFields.segment_id.shown,
  segment_name: nullable(
    Type.String({ description: "Name of the segment; null if there is none or it was deleted." }),
  ),
  scheduled_at: campaignFields.scheduled_at.shown,
  sent_at: Type.Unsafe<Date | null>({ ...NullableTimestamp, description: "When sending began." }),
  completed_at: nullable(
    described(Timestamp, "When every message had its first attempt, in UTC; null before."),
  ),
  paused_at: nullable(described(Timestamp, "When it was last paused, in UTC; null if it is not paused.")),
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
    {
      suppressed: described(Count, "People whom a suppression list holds, or who complained."),
      unsubscribed: described(Count, "People who unsubscribed."),
      invalid: described(Count, "People whose address bounced or cannot be an address."),
      duplicate: described(Count, "People whose address has a message of this campaign already."),
    },
    { description: "People in the audience who got no message, by reason." },
  ),
  sent_count: Type.Integer({ description: "Messages that had their first attempt, whatever its result." }),
  delivered_count: described(Count, "Messages that a server accepted."),
  open_count: Type.Integer({
    description: "Opens by people. Opens and clicks by machines are not counted here or below.",
  }),
  unique_open_count: Type.Integer({ description: "Messages that were opened or clicked." }),
  click_count: described(Count, "Clicks by people."),
  unique_click_count: described(Count, "Messages in which a person clicked."),
  machine_opens: Type.Integer({
    description: "Opens by programs, such as mail filters that load every image.",
  }),
  machine_clicks: described(Count, "Clicks by programs, such as mail filters that follow every link."),
  bounce_count: described(Count, "Messages that bounced."),
  complaint_count: described(Count, "Messages that were reported as spam."),
  unsubscribe_count: described(Count, "People who unsubscribed by a message of this campaign."),
  failed_count: described(Count, "Messages that could not be sent for another reason than a bounce."),
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
  approval_requested_at: nullable(
    described(
      Timestamp,
      "When someone asked for approval of this draft, in UTC; null without a request, or when the draft was changed or sent since.",
    ),
  ),
  approval_requested_by: nullable(
    Type.String({ description: "Name of the person or API key that asked for approval; null without." }),
  ),
  approval_message: nullable(
    Type.String({ description: "What the person wrote to those who approve it; null without." }),
  ),
  created_at: CreatedAt,
  updated_at: UpdatedAt,
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
