/** An autoresponder as answers show it (decisions, section 14), and what a caller may say about one. */
import { type Static, Type } from "typebox";
import { LONGEST_BODY } from "#mail/html/body-conversion.ts";
import { LONGEST_SUBJECT } from "#mail/message/header.ts";
import type { Resource } from "#platform/http/endpoint.ts";
import { Id, NullableTimestamp, nullable, omittable, patterned, Timestamp } from "#platform/shapes.ts";
import { ContentWarning } from "#sending/campaigns/campaign.ts";
import { LONGEST_NAME } from "#workspace/name.ts";
import { Delay } from "./delay.ts";

export const autoresponders: Resource = { name: "autoresponders", label: "Autoresponders", group: "Sending" };

export const autoresponderStatuses = ["inactive", "active"] as const;
export type AutoresponderStatus = (typeof autoresponderStatuses)[number];

export const MOST_STEPS = 20;

/** What begins a series. One shape for both, so that a wrong field is named instead of "no shape fits". */
export const Trigger = Type.Object(
  {
    type: Type.Enum(["subscribed", "date"], {
      description: "When somebody becomes an active member of the list, or on the day in a custom field.",
    }),
    field: Type.Optional(
      Type.String({ minLength: 1, maxLength: 100, description: "For date: the field_name of a date field." }),
    ),
    yearly: Type.Optional(
      Type.Boolean({
        description: "For date: again every year. 29 February is the 28th where there is none.",
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
      Type.String({ format: "uuid", description: "Of a step that is there: it stays that step." }),
    ),
    delay: Type.Optional(Delay),
    subject: Type.String({ minLength: 1, maxLength: LONGEST_SUBJECT, description: "May hold merge tags." }),
    html_content: omittable(Type.String({ maxLength: LONGEST_BODY })),
    text_content: omittable(
      Type.String({ maxLength: LONGEST_BODY, description: "Made of the HTML when left out." }),
    ),
  },
  { $id: "NewAutoresponderStep" },
);
export type NewStep = Static<typeof NewStep>;

/** POST and PUT take the same, and what is left out has its default. */
export const NewAutoresponder = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: LONGEST_NAME, description: "Internal name." }),
    mailing_list_id: Type.String({ format: "uuid" }),
    from_email: Type.String({ description: "On a verified sending domain, or a verified sender." }),
    from_name: omittable(Type.String({ maxLength: LONGEST_NAME, description: "Omitted: the list's." })),
    reply_to: omittable(Type.String({ description: "Omitted: the list's reply_to_email." })),
    enable_open_tracking: omittable(Type.Boolean({ description: "Omitted: as the list has it now." })),
    enable_click_tracking: omittable(Type.Boolean({ description: "Omitted: as the list has it now." })),
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
  mailing_list_name: nullable(Type.String({ description: "Null when the list is not there any more." })),
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
    Type.String({ description: "Null when a person deactivated it; otherwise what made the service do it." }),
  ),
  waiting_reason: nullable(
    Type.Enum(["plan_limit_reached", "insufficient_balance", "hourly_cap"], {
      description: "Why people whose time has come are not written to yet; null when nothing holds them up.",
    }),
  ),
  sent_count: Type.Integer({ description: "Messages whose first attempt is over." }),
  delivered_count: Count,
  open_count: Type.Integer({ description: "By people; machines are left out, here and below." }),
  unique_open_count: Type.Integer({ description: "Messages opened or clicked in." }),
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
