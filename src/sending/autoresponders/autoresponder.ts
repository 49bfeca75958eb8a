/** The shapes of an autoresponder in requests and answers. */
import { type Static, Type } from "typebox";
import type { Resource } from "#platform/http/endpoint.ts";
import { Id, NullableTimestamp, nullable, omittable, patterned, Timestamp } from "#platform/shapes.ts";
import { ContentWarning } from "#sending/campaigns/campaign.ts";
import { mailFields } from "#sending/mail-fields.ts";
import { LONGEST_NAME } from "#workspace/read-display-name.ts";
import { Delay } from "./delay.ts";

export const autoresponders: Resource = { name: "autoresponders", label: "Autoresponders", group: "Sending" };

export const autoresponderStatuses = ["inactive", "active"] as const;
export type AutoresponderStatus = (typeof autoresponderStatuses)[number];

const MOST_STEPS = 20;

/**
 * What starts a series. One shape for both types, so that an error names the wrong field instead of saying that no shape
 * fits.
 */
export const Trigger = Type.Object(
  {
    type: Type.Enum(["subscribed", "date"], {
      description:
        "`subscribed`: when a person becomes an active member of the list; `date`: on the day in a custom field.",
    }),
    field: Type.Optional(
      Type.String({ minLength: 1, maxLength: 100, description: "For date: the field_name of a date field." }),
    ),
    yearly: Type.Optional(
      Type.Boolean({
        description: "For date: repeat every year. 29 February counts as 28 February in years without it.",
      }),
    ),
    at: Type.Optional(
      patterned("^([01]\\d|2[0-3]):[0-5]\\d$", "a time such as 09:00, from 00:00 to 23:59", {
        description: "For date: HH:MM in the workspace's time zone; 09:00 when omitted.",
      }),
    ),
  },
  { $id: "AutoresponderTrigger", additionalProperties: false },
);
export type Trigger = Static<typeof Trigger>;

const NewStep = Type.Object(
  {
    id: omittable(
      Type.String({ format: "uuid", description: "The id of an existing step, to change that step." }),
    ),
    delay: Type.Optional(Delay),
    subject: mailFields.subject,
    html_content: mailFields.html_content,
    text_content: mailFields.text_content,
  },
  { $id: "NewAutoresponderStep" },
);
export type NewStep = Static<typeof NewStep>;

/** The body of POST and PUT. A field that is omitted has its default. */
export const NewAutoresponder = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: LONGEST_NAME, description: "Internal name." }),
    mailing_list_id: Type.String({ format: "uuid" }),
    from_email: mailFields.from_email,
    from_name: mailFields.from_name,
    reply_to: mailFields.reply_to,
    enable_open_tracking: mailFields.enable_open_tracking,
    enable_click_tracking: mailFields.enable_click_tracking,
    trigger: Trigger,
    steps: Type.Array(NewStep, { minItems: 1, maxItems: MOST_STEPS }),
  },
  { $id: "NewAutoresponder" },
);
export type NewAutoresponder = Static<typeof NewAutoresponder>;

const Count = Type.Integer();

const summary = {
  id: Id,
  name: Type.String(),
  status: Type.Enum([...autoresponderStatuses]),
  mailing_list_id: Id,
  mailing_list_name: nullable(Type.String({ description: "Null when the list was deleted." })),
  from_email: Type.String(),
  from_name: nullable(Type.String()),
  reply_to: nullable(Type.String()),
  enable_open_tracking: nullable(Type.Boolean()),
  enable_click_tracking: nullable(Type.Boolean()),
  trigger: Trigger,
  step_count: Count,
  activated_at: NullableTimestamp,
  deactivated_at: NullableTimestamp,
  deactivation_reason: nullable(
    Type.String({ description: "Why the service deactivated it; null when a person did." }),
  ),
  waiting_reason: nullable(
    Type.Enum(["plan_limit_reached", "insufficient_balance", "hourly_cap"], {
      description: "Why due messages are not sent yet; null when they are not waiting.",
    }),
  ),
  sent_count: Type.Integer({ description: "Messages that had their first attempt." }),
  delivered_count: Count,
  open_count: Type.Integer({
    description: "Opens by people. Opens and clicks by machines are not counted here or below.",
  }),
  unique_open_count: Type.Integer({ description: "Messages that were opened or clicked." }),
  click_count: Count,
  unique_click_count: Count,
  bounce_count: Count,
  complaint_count: Count,
  unsubscribe_count: Count,
  failed_count: Count,
  created_at: Timestamp,
  updated_at: Timestamp,
};

export const AutoresponderSummary = Type.Object(summary, { $id: "AutoresponderSummary" });
export type AutoresponderSummary = Static<typeof AutoresponderSummary>;

export const AutoresponderStep = Type.Object(
  {
    id: Id,
    delay: Type.Required(Delay),
    subject: Type.String(),
    html_content: nullable(Type.String()),
    text_content: nullable(Type.String()),
    warnings: Type.Array(ContentWarning, { description: "Merge tags that show nothing." }),
  },
  { $id: "AutoresponderStep" },
);
export type AutoresponderStep = Static<typeof AutoresponderStep>;

export const Autoresponder = Type.Object(
  { ...summary, steps: Type.Array(AutoresponderStep) },
  { $id: "Autoresponder" },
);
export type Autoresponder = Static<typeof Autoresponder>;
