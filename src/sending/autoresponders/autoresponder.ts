/** The shapes of an autoresponder in requests and answers. */
import { type Static, Type } from "typebox";
import type { Resource } from "#platform/http/endpoint.ts";
import {
  CreatedAt,
  described,
  Id,
  nullable,
  omittable,
  patterned,
  Timestamp,
  UpdatedAt,
} from "#platform/shapes.ts";
import { ContentWarning } from "#sending/content/content-warning.ts";
import { mailFields } from "#sending/mail-fields.ts";
import { contentFields, shownContent } from "#sending/templates/content-fields.ts";
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
    delay: Type.Optional(
      described(Delay, "Time after the trigger, or after the step before; none when omitted."),
    ),
    subject: Type.Optional(mailFields.subject),
    ...contentFields,
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
    mailing_list_id: Type.String({ format: "uuid", description: "The list whose members get the series." }),
    from_email: mailFields.from_email,
    from_name: mailFields.from_name,
    reply_to: mailFields.reply_to,
    enable_open_tracking: mailFields.enable_open_tracking,
    enable_click_tracking: mailFields.enable_click_tracking,
    trigger: described(Trigger, "What starts the series for a person."),
    steps: Type.Array(NewStep, {
      minItems: 1,
      maxItems: MOST_STEPS,
      description: "The mails of the series, in order.",
    }),
  },
  { $id: "NewAutoresponder" },
);
export type NewAutoresponder = Static<typeof NewAutoresponder>;

const Count = Type.Integer();

const summary = {
  id: described(Id, "Id of the autoresponder."),
  name: Type.String({ description: "Internal name." }),
  status: Type.Enum([...autoresponderStatuses], { description: "Whether it runs." }),
  mailing_list_id: described(Id, "The list whose members get the series."),
  mailing_list_name: nullable(Type.String({ description: "Null when the list was deleted." })),
  from_email: Type.String({ description: "Address in From." }),
  from_name: nullable(Type.String({ description: "Name in From; null for that of the list." })),
  reply_to: nullable(Type.String({ description: "Address for replies; null for that of the list." })),
  enable_open_tracking: nullable(
    Type.Boolean({ description: "Whether opens are tracked; null for the setting of the list." }),
  ),
  enable_click_tracking: nullable(
    Type.Boolean({ description: "Whether clicks are tracked; null for the setting of the list." }),
  ),
  trigger: described(Trigger, "What starts the series for a person."),
  step_count: described(Count, "Number of mails in the series."),
  activated_at: nullable(described(Timestamp, "When it was last activated, in UTC; null if never.")),
  deactivated_at: nullable(described(Timestamp, "When it was last deactivated, in UTC; null if never.")),
  deactivation_reason: nullable(
    Type.String({ description: "Why the service deactivated it; null when a person did." }),
  ),
  waiting_reason: nullable(
    Type.Enum(["plan_limit_reached", "insufficient_balance", "hourly_cap"], {
      description: "Why due messages are not sent yet; null when they are not waiting.",
    }),
  ),
  sent_count: Type.Integer({ description: "Messages that had their first attempt." }),
  delivered_count: described(Count, "Messages that a server accepted."),
  open_count: Type.Integer({
    description: "Opens by people. Opens and clicks by machines are not counted here or below.",
  }),
  unique_open_count: Type.Integer({ description: "Messages that were opened or clicked." }),
  click_count: described(Count, "Clicks by people."),
  unique_click_count: described(Count, "Messages in which a person clicked."),
  bounce_count: described(Count, "Messages that bounced."),
  complaint_count: described(Count, "Messages that were reported as spam."),
  unsubscribe_count: described(Count, "People who unsubscribed by one of its messages."),
  failed_count: described(Count, "Messages that could not be sent for another reason than a bounce."),
  created_at: CreatedAt,
  updated_at: UpdatedAt,
};

export const AutoresponderSummary = Type.Object(summary, { $id: "AutoresponderSummary" });
export type AutoresponderSummary = Static<typeof AutoresponderSummary>;

export const AutoresponderStep = Type.Object(
  {
    id: described(Id, "Id of the step."),
    delay: described(Type.Required(Delay), "Time after the trigger, or after the step before."),
    subject: Type.String({ description: "The subject, with merge tags." }),
    html_content: nullable(
      Type.String({ description: "The HTML, with merge tags; null if there is only text." }),
    ),
    text_content: nullable(
      Type.String({ description: "The text, with merge tags; null if it is made from the HTML." }),
    ),
    ...shownContent,
    warnings: Type.Array(ContentWarning, { description: "Merge tags that show nothing." }),
  },
  { $id: "AutoresponderStep" },
);
export type AutoresponderStep = Static<typeof AutoresponderStep>;

export const Autoresponder = Type.Object(
  { ...summary, steps: Type.Array(AutoresponderStep, { description: "The mails of the series, in order." }) },
  { $id: "Autoresponder" },
);
export type Autoresponder = Static<typeof Autoresponder>;
