/** Shapes of people and memberships in answers. */
import { type Static, Type } from "typebox";
import { Id, NullableTimestamp, nullable, Times, Timestamp } from "#platform/shapes.ts";
import { subscriberStatuses } from "./memberships/status.ts";

const StatusShape = Type.Enum([...subscriberStatuses]);

const names = { first_name: nullable(Type.String()), last_name: nullable(Type.String()) };

const CustomFields = Type.Record(Type.String(), Type.Unknown(), { description: "Values by field_name." });

/** A person on one list. */
export const Member = Type.Object(
  {
    id: Type.String({ format: "uuid", description: "Id of the membership; paths take the subscriber_id." }),
    subscriber_id: Id,
    mailing_list_id: Id,
    email: Type.String(),
    ...names,
    status: StatusShape,
    source: nullable(Type.String({ description: "Where the membership came from." })),
    custom_fields: Type.String({ description: "A JSON object as text." }),
    subscribed_at: Timestamp,
    unsubscribed_at: NullableTimestamp,
    created_at: Timestamp,
    updated_at: Timestamp,
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
    id: Id,
    email: Type.String(),
    ...names,
    status: Type.Enum([...subscriberStatuses], {
      description: "The worst of all lists: complained, bounced, active (if on any), unsubscribed.",
    }),
    custom_fields: CustomFields,
    lists: Type.Array(Type.Object({ id: Id, name: Type.String(), status: StatusShape })),
    list_count: Type.Integer(),
    engagement_score: Type.Integer({ description: "0 to 100." }),
    last_activity_at: Type.Unsafe<Date | null>({ ...NullableTimestamp, description: "Last open or click." }),
    last_opened_at: Type.Unsafe<Date | null>({
      ...NullableTimestamp,
      description: "Last open; a click is an opening too.",
    }),
    last_clicked_at: Type.Unsafe<Date | null>({ ...NullableTimestamp, description: "Last click of a link." }),
    created_at: Timestamp,
  },
  { $id: "SubscriberSummary" },
);
export type SubscriberSummary = Static<typeof SubscriberSummary>;

const rate = Type.Number({ description: "Fraction of the delivered, 0 to 1." });

const Lifetime = Type.Object(
  {
    sent: Type.Integer({ description: "Messages attempted at least once, with any result." }),
    delivered: Type.Integer(),
    bounced: Type.Integer(),
    complained: Type.Integer(),
    unsubscribed: Type.Integer({ description: "Lists the person has left." }),
    opens: Type.Integer(),
    unique_opens: Type.Integer({ description: "Messages opened or clicked in." }),
    clicks: Type.Integer(),
    unique_clicks: Type.Integer({ description: "Messages clicked in." }),
    open_rate: rate,
    click_rate: rate,
    first_sent_at: NullableTimestamp,
    last_sent_at: NullableTimestamp,
    last_opened_at: Type.Unsafe<Date | null>({
      ...NullableTimestamp,
      description: "A click is an opening too.",
    }),
    last_clicked_at: NullableTimestamp,
  },
  { $id: "SubscriberStats" },
);

const Activity = Type.Object(
  {
    id: Id,
    type: Type.String({ description: "`sent`: the recipient's server took the message." }),
    description: Type.String(),
    times: Times,
    campaign_id: Type.Unsafe<string | null>({
      ...nullable(Id),
      description: "Null: mail of an autoresponder.",
    }),
    campaign_name: nullable(Type.String()),
    message_id: nullable(Id),
    timestamp: Timestamp,
  },
  { $id: "SubscriberActivity" },
);

const Bounce = Type.Object(
  {
    id: Id,
    bounce_type: Type.String(),
    category: Type.String(),
    smtp_code: nullable(Type.Integer()),
    enhanced_code: nullable(Type.String()),
    error_message: nullable(Type.String()),
    message_id: nullable(Id),
    campaign_id: nullable(Id),
    created_at: Timestamp,
  },
  { $id: "SubscriberBounce" },
);

const Suppression = Type.Object(
  {
    suppression_list_id: Id,
    suppression_list_name: Type.String(),
    suppression_scope: Type.String({
      description: "`global`, or what mail the list keeps away: `mailing_list`, `segment`.",
    }),
    reason: Type.String(),
    created_at: Timestamp,
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
    id: Id,
    email: Type.String(),
    ...names,
    source: nullable(Type.String()),
    status: StatusShape,
    custom_fields: CustomFields,
    created_at: Timestamp,
    updated_at: Timestamp,
    lists: Type.Array(
      Type.Object({
        mailing_list_id: Id,
        name: Type.String(),
        status: StatusShape,
        source: nullable(Type.String()),
        subscribed_at: Timestamp,
        unsubscribed_at: NullableTimestamp,
      }),
    ),
    stats: Lifetime,
    engagement_score: Type.Integer({ description: "0 to 100." }),
    ...history,
  },
  { $id: "SubscriberDetail" },
);
export type SubscriberDetail = Static<typeof SubscriberDetail>;
