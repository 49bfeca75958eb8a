/** Shapes of people and memberships in answers. */
import { type Static, Type } from "typebox";
import {
  CreatedAt,
  described,
  Id,
  NullableTimestamp,
  nullable,
  Times,
  Timestamp,
  UpdatedAt,
} from "#platform/shapes.ts";
import { subscriberStatuses } from "./memberships/status.ts";

const StatusShape = Type.Enum([...subscriberStatuses]);

const names = {
  first_name: nullable(Type.String({ description: "Given name; null if unknown." })),
  last_name: nullable(Type.String({ description: "Family name; null if unknown." })),
};

const CustomFields = Type.Record(Type.String(), Type.Unknown(), { description: "Values by field_name." });

/** A person on one list. */
export const Member = Type.Object(
  {
    id: Type.String({ format: "uuid", description: "Id of the membership; paths take the subscriber_id." }),
    subscriber_id: described(Id, "Id of the person, the same on every list."),
    mailing_list_id: described(Id, "The list that this membership is of."),
    email: Type.String({ description: "Address of the person." }),
    ...names,
    status: described(StatusShape, "The status on this list."),
    source: nullable(Type.String({ description: "Where the membership came from." })),
    custom_fields: Type.String({ description: "A JSON object as text." }),
    subscribed_at: described(Timestamp, "When the person joined the list, in UTC."),
    unsubscribed_at: nullable(
      described(Timestamp, "When the person last unsubscribed from the list, in UTC; null if never."),
    ),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  },
  { $id: "Member" },
);
export type Member = Static<typeof Member>;

/** The answer to a change of a member. */
export const MemberWithWarnings = Type.Object(
  {
    ...Member.properties,
    warnings: Type.Array(Type.String(), {
      description: "Why mail will not reach this person: `bounced`, `complained`, `suppressed`.",
    }),
  },
  { $id: "MemberWithWarnings" },
);
export type MemberWithWarnings = Static<typeof MemberWithWarnings>;

/** A person of the workspace as an item of a list. */
export const SubscriberSummary = Type.Object(
  {
    id: described(Id, "Id of the person."),
    email: Type.String({ description: "Address of the person." }),
    ...names,
    status: Type.Enum([...subscriberStatuses], {
      description: "The worst of all lists: complained, bounced, active (if on any), unsubscribed.",
    }),
    custom_fields: described(CustomFields, "Values of the person's custom fields, by field name."),
    lists: Type.Array(
      Type.Object({
        id: described(Id, "Id of the mailing list."),
        name: Type.String({ description: "Its name." }),
        status: described(StatusShape, "The status on that list."),
      }),
      { description: "The lists that the person is on." },
    ),
    list_count: Type.Integer({ description: "Number of lists that the person is on." }),
    engagement_score: Type.Integer({ description: "0 to 100." }),
    last_activity_at: Type.Unsafe<Date | null>({ ...NullableTimestamp, description: "Last open or click." }),
    last_opened_at: Type.Unsafe<Date | null>({
      ...NullableTimestamp,
      description: "Last open; a click is an opening too.",
    }),
    last_clicked_at: Type.Unsafe<Date | null>({ ...NullableTimestamp, description: "Last click of a link." }),
    created_at: CreatedAt,
  },
  { $id: "SubscriberSummary" },
);
export type SubscriberSummary = Static<typeof SubscriberSummary>;

const rate = Type.Number({ description: "Fraction of the delivered, 0 to 1." });

const Lifetime = Type.Object(
  {
    sent: Type.Integer({ description: "Messages attempted at least once, with any result." }),
    delivered: Type.Integer({ description: "Messages that a server accepted." }),
    bounced: Type.Integer({ description: "Messages that bounced." }),
    complained: Type.Integer({ description: "Messages that were reported as spam." }),
    unsubscribed: Type.Integer({ description: "Lists the person has left." }),
    opens: Type.Integer({ description: "Number of openings." }),
    unique_opens: Type.Integer({ description: "Messages opened or clicked in." }),
    clicks: Type.Integer({ description: "Number of clicks." }),
    unique_clicks: Type.Integer({ description: "Messages clicked in." }),
    open_rate: rate,
    click_rate: rate,
    first_sent_at: nullable(
      described(Timestamp, "Time of the first message in UTC; null if there was none."),
    ),
    last_sent_at: nullable(described(Timestamp, "Time of the last message in UTC; null if there was none.")),
    last_opened_at: Type.Unsafe<Date | null>({
      ...NullableTimestamp,
      description: "A click is an opening too.",
    }),
    last_clicked_at: nullable(described(Timestamp, "Time of the last click in UTC; null if there was none.")),
  },
  { $id: "SubscriberStats" },
);

const Activity = Type.Object(
  {
    id: described(Id, "Id of the activity."),
    type: Type.String({ description: "`sent`: the recipient's server took the message." }),
    description: Type.String({ description: "What happened, for people." }),
    times: Times,
    campaign_id: Type.Unsafe<string | null>({
      ...nullable(Id),
      description: "Null: mail of an autoresponder.",
    }),
    campaign_name: nullable(
      Type.String({ description: "Name of the campaign; null if it is not mail of a campaign." }),
    ),
    message_id: nullable(described(Id, "The message; null if it concerns none.")),
    timestamp: described(Timestamp, "When it happened, in UTC."),
  },
  { $id: "SubscriberActivity" },
);

const Bounce = Type.Object(
  {
    id: described(Id, "Id of the bounce."),
    bounce_type: Type.String({
      description: "Whether the address is at fault (`hard`) or the refusal may pass (`soft`).",
    }),
    category: Type.String({ description: "What the refusal is about, such as `mailbox_not_found`." }),
    smtp_code: nullable(
      Type.Integer({ description: "Reply code of SMTP, such as 550; null if there was no reply." }),
    ),
    enhanced_code: nullable(
      Type.String({
        description: "Enhanced status code (RFC 3463), such as `5.1.1`; null if the reply had none.",
      }),
    ),
    error_message: nullable(Type.String({ description: "Text of the reply; null if there was none." })),
    message_id: nullable(described(Id, "The message that bounced; null if it is no longer in the log.")),
    campaign_id: nullable(
      described(Id, "The campaign of the message; null if it was not one of a campaign."),
    ),
    created_at: CreatedAt,
  },
  { $id: "SubscriberBounce" },
);

const Suppression = Type.Object(
  {
    suppression_list_id: described(Id, "The list that holds the address or its domain."),
    suppression_list_name: Type.String({ description: "Its name." }),
    suppression_scope: Type.String({
      description: "`global`, or what mail the list keeps away: `mailing_list`, `segment`.",
    }),
    reason: Type.String({ description: "Why the address is on the list." }),
    created_at: CreatedAt,
  },
  { $id: "SubscriberSuppression" },
);

const history = {
  recent_activity: Type.Array(Activity, {
    description: "With mail of campaigns and autoresponders, as the stats are. Newest first.",
  }),
  bounces: Type.Array(Bounce, {
    description: "Of mail of campaigns and autoresponders; GET /bounces has those of all mail. Newest first.",
  }),
  suppressions: Type.Array(Suppression, { description: "Lists that keep mail from this person." }),
};

/** The parts of a person's detail that other wings provide. */
export const History = Type.Object(history);
export type History = Static<typeof History>;

export const SubscriberDetail = Type.Object(
  {
    id: described(Id, "Id of the person."),
    email: Type.String({ description: "Address of the person." }),
    ...names,
    source: nullable(
      Type.String({
        description: "Where the person first came from, such as `api` or `import`; null if unknown.",
      }),
    ),
    status: described(StatusShape, "The best status on any list."),
    custom_fields: described(CustomFields, "Values of the person's custom fields, by field name."),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
    lists: Type.Array(
      Type.Object({
        mailing_list_id: described(Id, "Id of the mailing list."),
        name: Type.String({ description: "Its name." }),
        status: described(StatusShape, "The status on that list."),
        source: nullable(Type.String({ description: "How the person came to that list; null if unknown." })),
        subscribed_at: described(Timestamp, "When the person joined the list, in UTC."),
        unsubscribed_at: nullable(
          described(Timestamp, "When the person last unsubscribed from the list, in UTC; null if never."),
        ),
      }),
      { description: "The memberships of the person." },
    ),
    stats: described(Lifetime, "Figures of all mail to the person."),
    engagement_score: Type.Integer({ description: "0 to 100." }),
    ...history,
  },
  { $id: "SubscriberDetail" },
);
export type SubscriberDetail = Static<typeof SubscriberDetail>;
