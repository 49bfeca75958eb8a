/**
 * Conditions as the API reference shows them: a group of rules, which are conditions or groups. An operator decides the type of
 * the value. Requests are checked by conditions.ts and the kinds of fields, whose errors say more than a schema can.
 */
import { Type } from "typebox";
import { DEEPEST, LONGEST_WORD, MOST_RULES } from "./conditions.ts";
import { MOST_DAYS } from "./date-kind.ts";
import { LONGEST_TEXT, MOST_ITEMS } from "./read-rule-value.ts";

const text = { type: "string", minLength: 1, maxLength: LONGEST_TEXT };

/** For each type of value the name of its component, what it is for, and its operators. */
const rules = [
  {
    id: "SegmentEqualsRule",
    about: "The field has, or has not, exactly this value.",
    operators: ["equals", "not_equals"],
    value: {
      anyOf: [{ ...text }, { type: "number" }, { type: "boolean" }],
      description: "A value of the field's type.",
    },
  },
  {
    id: "SegmentIsRule",
    about: "The status, choice or yes-or-no field has, or has not, this value.",
    operators: ["is", "is_not"],
    value: {
      anyOf: [{ ...text }, { type: "boolean" }],
      description: "A status, a choice, or true or false.",
    },
  },
  {
    id: "SegmentTextRule",
    about: "The text has this part. A multiselect field `contains` this choice.",
    operators: ["contains", "starts_with", "ends_with"],
    value: { ...text, description: "The part, compared without regard to case." },
  },
  {
    id: "SegmentTextsRule",
    about: "The field has one, or none, of these values or ends.",
    operators: ["in", "is_one_of", "is_not_one_of", "ends_with_any_of", "does_not_end_with_any_of"],
    value: {
      type: "array",
      items: text,
      minItems: 1,
      maxItems: MOST_ITEMS,
      description: "The values or ends.",
    },
  },
  {
    id: "SegmentNumberRule",
    about: "The number is larger or smaller.",
    operators: ["greater_than", "less_than", "greater_than_or_equal", "less_than_or_equal"],
    value: { type: "number", description: "The number that it is compared with." },
  },
  {
    id: "SegmentDateRule",
    about: "The date is before or after this time.",
    operators: ["before", "after"],
    value: {
      type: "string",
      description: "A date or a time, ISO 8601; without an offset in the workspace's time zone.",
    },
  },
  {
    id: "SegmentDaysRule",
    about: "The date is, or is not, within the last days.",
    operators: ["in_last_days", "not_in_last_days"],
    value: { type: "integer", minimum: 1, maximum: MOST_DAYS, description: "Number of days up to now." },
  },
  {
    id: "SegmentReferenceRule",
    about: "The person is, or is not, in another segment, or an active member of a mailing list.",
    operators: ["is_in", "is_not_in", "is_active_in", "is_not_active_in"],
    value: { type: "string", format: "uuid", description: "Id of the segment or the mailing list." },
  },
  {
    id: "SegmentCampaignRule",
    about:
      "The person was sent the campaign, opened it, clicked in it or unsubscribed through it, or did not.",
    operators: [
      "was_sent",
      "was_not_sent",
      "opened",
      "did_not_open",
      "clicked",
      "did_not_click",
      "unsubscribed",
      "did_not_unsubscribe",
    ],
    value: { type: "string", format: "uuid", description: "Id of the campaign." },
  },
  {
    id: "SegmentCampaignLinkRule",
    about: "The person clicked this link of the campaign.",
    operators: ["clicked_link"],
    value: {
      type: "object",
      description: "A campaign and one of its links.",
      required: ["campaign_id", "link"],
      properties: {
        campaign_id: { type: "string", format: "uuid", description: "Id of the campaign." },
        link: { type: "integer", minimum: 0, description: "Index of the link, of `listCampaignLinks`." },
      },
    },
  },
  {
    id: "SegmentPresenceRule",
    about: "The field has no value, or has one.",
    operators: ["is_empty", "is_not_empty"],
    value: undefined,
  },
] as const;

const field = {
  type: "string",
  minLength: 1,
  maxLength: LONGEST_WORD,
  description:
    "A field of the person: `email`, `email_domain`, `first_name`, `last_name`, `source`, `status`, `created_at`, `subscribed_at`, `unsubscribed_at`, `last_sent_at`, `last_opened_at`, `last_clicked_at`, `sent_count`, `open_count`, `click_count`, `engagement_score`, `segment`, `mailing_list`, `campaign`, or `custom_fields.` and the name of a custom field.",
};

const SegmentRule = Type.Unsafe({
  $id: "SegmentRule",
  description: "One condition on a person. The operator decides the type of `value`.",
  oneOf: rules.map(({ id, about, operators, value }) => ({
    $id: id,
    type: "object",
    description: about,
    required: ["field", "operator", ...(value ? ["value"] : [])],
    properties: {
      field,
      operator: { type: "string", enum: operators, description: "How the field is compared." },
      ...(value && { value }),
    },
  })),
  discriminator: {
    propertyName: "operator",
    mapping: Object.fromEntries(
      rules.flatMap(({ id, operators }) =>
        operators.map((operator) => [operator, `#/components/schemas/${id}`]),
      ),
    ),
  },
});

/** A reference to the component of conditions, also within itself. */
export const conditionsReference = { $ref: "#/components/schemas/SegmentConditions" };

export const documentedConditions = {
  type: "object",
  description: "Rules that a person has to meet: all of them (`and`) or one of them (`or`).",
  required: ["logic", "rules"],
  properties: {
    logic: { type: "string", enum: ["and", "or"], description: "Whether all rules have to be met, or one." },
    rules: {
      type: "array",
      minItems: 1,
      maxItems: MOST_RULES,
      description: `Conditions and groups of the same form, nested ${DEEPEST} deep at most, with ${MOST_RULES} conditions in all.`,
      items: { anyOf: [SegmentRule, conditionsReference] },
    },
  },
};
