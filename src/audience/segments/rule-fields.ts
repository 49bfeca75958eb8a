/**
 * The fields that rules may use, for callers that let people write rules. Names, operators and limits are those of the
 * definitions that bind conditions (conditions/), so that nothing is listed that a rule cannot use.
 */
import { type Static, Type } from "typebox";
import type { CustomField } from "#audience/custom-fields/custom-field.ts";
import { choiceOf } from "#audience/custom-fields/field-value-reader.ts";
import { listFields } from "#audience/custom-fields/store.ts";
import { subscriberStatuses } from "#audience/subscribers/memberships/status.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { nullable } from "#platform/shapes.ts";
import { CUSTOM } from "./conditions/bind-conditions.ts";
import { builtInFields, builtInLabels } from "./conditions/built-in-fields.ts";
import { DEEPEST, MOST_RULES } from "./conditions/conditions.ts";
import { customField } from "./conditions/custom-fields.ts";
import type { Field } from "./conditions/field.ts";
import { DEEPEST_REFERENCE } from "./conditions/load-and-bind.ts";
import { kindNames } from "./conditions/operator.ts";
import { type ValueForm, valueTypes } from "./conditions/read-rule-value.ts";
import { MOST_RULES_IN_ALL } from "./conditions/reference-limits.ts";

const bound = (description: string) => nullable(Type.Integer({ description }));

const RuleValue = Type.Object(
  {
    type: Type.Enum([...valueTypes], {
      description:
        "`none`: leave `value` out. `date`: ISO 8601, or a day `YYYY-MM-DD`. `days`: a whole number. `segment`, `mailing_list`, `campaign`: an id. `campaign_link`: an object with `campaign_id` and `link`, the index of a link (listCampaignLinks).",
    }),
    is_array: Type.Boolean({ description: "Whether `value` is an array of 1 to `max_items` of the type." }),
    max_length: bound("Largest number of characters of a text; null for other types."),
    max_items: bound("Largest number of items of an array; null for a single value."),
    minimum: bound("Smallest number; null without a limit."),
    maximum: bound("Largest number; null without a limit."),
  },
  { $id: "SegmentRuleValue", description: "What the operator takes as the `value` of a rule." },
);

const RuleField = Type.Object(
  {
    name: Type.String({
      description: "The `field` of a rule; a custom field has the prefix `custom_fields.`.",
    }),
    label: Type.String({ description: "The name for people; of a custom field, its field_label." }),
    type: Type.Enum([...kindNames], { description: "The kind of the field's value." }),
    is_custom: Type.Boolean({ description: "Whether it is a custom field." }),
    operators: Type.Array(
      Type.Object(
        {
          name: Type.String({ description: "The `operator` of a rule." }),
          alias_of: nullable(
            Type.String({
              description: "The operator that this is another name of; null for a name of its own.",
            }),
          ),
          value: RuleValue,
        },
        { $id: "SegmentOperator" },
      ),
      { description: "The operators that fit the field." },
    ),
    values: nullable(
      Type.Array(
        Type.Object({
          value: Type.String({ description: "The text that a rule names." }),
          label: Type.String({ description: "The text for people." }),
        }),
        {
          description:
            "The values of a status, which are all that a rule may name, or the choices of a select or multiselect, where a rule may name other texts too; null for other types.",
        },
      ),
    ),
    values_from: nullable(
      Type.Enum(["listSegments", "listMailingLists", "listCampaigns"], {
        description: "The operation whose rows have the ids that a rule names; null for other types.",
      }),
    ),
  },
  { $id: "SegmentField" },
);
type RuleField = Static<typeof RuleField>;

const count = (description: string) => Type.Integer({ description });

export const RuleFields = Type.Object(
  {
    fields: Type.Array(RuleField, {
      description: "Built-in fields first, then custom fields in display order.",
    }),
    limits: Type.Object(
      {
        conditions: count("Largest number of conditions of a segment, in all its groups."),
        depth: count("How many levels of groups there may be, with the outermost."),
        conditions_with_references: count(
          "Largest number of conditions with those of the segments that they refer to.",
        ),
        reference_depth: count("How many levels of segments may refer to each other."),
      },
      { $id: "SegmentLimits", description: "How large the rules of a segment may be." },
    ),
  },
  { $id: "SegmentFields" },
);

/**
 * The fields for rules on a list, or with null only those that all lists have.
 * @param mailingListId a list of the workspace
 */
export async function describeRuleFields(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string | null,
): Promise<Static<typeof RuleFields>> {
  const everywhere = await listFields(db, workspaceId, null);
  const own = mailingListId === null ? [] : await listFields(db, workspaceId, mailingListId);
  // An inactive field stays usable in rules: people may have values of it.
  const inForce = new Map([...everywhere, ...own].map((field) => [field.field_name, field]));
  const builtIn = Object.entries(builtInLabels).flatMap(([name, label]) => {
    const field = builtInFields.get(name);
    return field === undefined
      ? []
      : described(field, { name, label, is_custom: false, values: valuesOf(field) });
  });
  const custom = [...inForce.values()]
    .sort((one, other) => one.display_order - other.display_order)
    .map((definition) => describedCustom(definition));
  return {
    fields: [...builtIn, ...custom],
    limits: {
      conditions: MOST_RULES,
      depth: DEEPEST,
      conditions_with_references: MOST_RULES_IN_ALL,
      reference_depth: DEEPEST_REFERENCE,
    },
  };
}

function describedCustom(definition: CustomField): RuleField {
  const { field_name, field_label, field_options } = definition;
  const field = customField(field_name, definition);
  const choices = field_options?.map((option) => ({
    value: choiceOf(option),
    label: typeof option === "string" ? option : option.label,
  }));
  const hasChoices = field.type === "choice" || field.type === "choices";
  return described(field, {
    name: `${CUSTOM}${field_name}`,
    label: field_label,
    is_custom: true,
    values: hasChoices ? (choices ?? []) : null,
  });
}

function valuesOf({ type }: Field): RuleField["values"] {
  if (type !== "status") return null;
  return subscriberStatuses.map((status) => ({ value: status, label: status }));
}

const sources: ReadonlyMap<Field["type"], RuleField["values_from"]> = new Map([
  ["segment", "listSegments"],
  ["mailing_list", "listMailingLists"],
  ["campaign", "listCampaigns"],
]);

function described(
  { type, operators }: Field,
  own: Pick<RuleField, "name" | "label" | "is_custom" | "values">,
): RuleField {
  return {
    ...own,
    type,
    operators: operators.map(({ name, alias_of, takes }) => ({ name, alias_of, value: shown(takes) })),
    values_from: sources.get(type) ?? null,
  };
}

function shown({ type, is_array, max_length, max_items, minimum, maximum }: ValueForm) {
  return {
    type,
    is_array,
    max_length: max_length ?? null,
    max_items: max_items ?? null,
    minimum: minimum ?? null,
    maximum: maximum ?? null,
  };
}
