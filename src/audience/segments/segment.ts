/** Shapes of a segment: as the API returns it, and as callers create and change it. */

import { type Static, type TSchema, Type } from "typebox";
import { Member } from "#audience/subscribers/subscriber-shapes.ts";
import { UsedBy } from "#audience/uses/used-by.ts";
import type { Resource } from "#platform/http/endpoint.ts";
import { CreatedAt, DOCUMENTED_AS, described, Id, nullable, Timestamp, UpdatedAt } from "#platform/shapes.ts";
import { nameAndDescription } from "#workspace/read-display-name.ts";
import { type Conditions, DEEPEST, MOST_RULES } from "./conditions/conditions.ts";
import { conditionsReference, documentedConditions } from "./conditions/documented-conditions.ts";

export const segmentsResource: Resource = { name: "segments", label: "Segments", group: "Audience" };

/**
 * A rule or group: only the names of its fields, to the deepest level. conditions.ts checks the values and reports
 * their paths.
 */
function ruleShape(depth: number): TSchema {
  const any = Type.Unknown();
  const rules = depth === DEEPEST ? any : Type.Unsafe({ items: ruleShape(depth + 1) });
  return Type.Unsafe({ properties: { field: any, operator: any, value: any, logic: any, rules } });
}

const SegmentConditions = Type.Unsafe<Conditions>(
  Type.Object(
    {
      logic: Type.Enum(["and", "or"]),
      rules: Type.Array(ruleShape(1), {
        minItems: 1,
        maxItems: MOST_RULES,
        description:
          "Each a condition { field, operator, value }, or a group { logic, rules } of the same shape.",
      }),
    },
    { $id: "SegmentConditions", [DOCUMENTED_AS]: documentedConditions },
  ),
);

/** Conditions in a body with another field that says what they apply to: only their field names are checked here. */
export const LooseConditions = Type.Unsafe<object>({
  type: "object",
  properties: { logic: Type.Unknown(), rules: Type.Unsafe({ items: ruleShape(1) }) },
  description: "Segment rules: `{ logic, rules }`.",
  [DOCUMENTED_AS]: conditionsReference,
});

const settings = {
  ...nameAndDescription,
  conditions: described(SegmentConditions, "The rules that the people in the segment meet."),
  is_active: Type.Boolean({
    description: "Whether its count is updated from time to time. An inactive segment can be used, too.",
  }),
};

export const Segment = Type.Object(
  {
    id: described(Id, "Id of the segment."),
    mailing_list_id: described(Id, "The list whose people it selects."),
    mailing_list_name: Type.String({ description: "Name of that list." }),
    ...settings,
    subscriber_count: nullable(
      Type.Integer({ description: "At the last count; null when counting took too long." }),
    ),
    counted_at: nullable(
      described(Timestamp, "Time of the last count in UTC; null if it was never counted."),
    ),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  },
  { $id: "Segment" },
);
export type Segment = Static<typeof Segment>;

export const SegmentInUse = Type.Object(
  {
    ...Segment.properties,
    used_by: described(UsedBy, "Unfinished campaigns, segments and suppression lists that use it."),
  },
  { $id: "SegmentInUse" },
);

export const SegmentChanges = Type.Partial(Type.Object(settings), { $id: "SegmentChanges" });
export type SegmentChanges = Static<typeof SegmentChanges>;

export const NewSegment = Type.Object(
  { ...SegmentChanges.properties, name: settings.name, conditions: settings.conditions },
  { $id: "NewSegment" },
);
export type NewSegment = Static<typeof NewSegment>;

export const SegmentPreviewInput = Type.Object(
  {
    conditions: described(SegmentConditions, "The conditions that the counted people meet."),
    samples: Type.Optional(
      Type.Boolean({
        description: "Whether to return ten of the people; needs `subscribers:read`. Default: false.",
      }),
    ),
    rule_counts: Type.Optional(
      Type.Boolean({ description: "Whether to count the people of each rule alone, too. Default: false." }),
    ),
  },
  { $id: "SegmentPreviewInput" },
);

export const SegmentPreview = Type.Object(
  {
    subscriber_count: Type.Integer({ description: "Number of people who meet the conditions now." }),
    samples: Type.Optional(
      Type.Array(Member, {
        description: "The ten newest of these people. Only if the call asks for samples.",
      }),
    ),
    rule_counts: Type.Optional(
      Type.Array(
        Type.Object({
          path: Type.String({ description: "Place of the rule, such as `conditions.rules[1].rules[0]`." }),
          subscriber_count: nullable(
            Type.Integer({
              description:
                "People who meet this rule, as if it were the only one; null if there was no time to count.",
            }),
          ),
        }),
        { description: "One for each rule, in their order. Only if the call asks for them." },
      ),
    ),
  },
  { $id: "SegmentPreview" },
);

/** A segment as listed for a person. */
export const SegmentOfSubscriber = Type.Object(
  {
    id: described(Id, "Id of the segment."),
    name: Type.String({ description: "Name for display." }),
    mailing_list_id: described(Id, "The list whose people it selects."),
    mailing_list_name: Type.String({ description: "Name of that list." }),
    is_active: Type.Boolean({ description: "Whether its count is kept fresh." }),
  },
  { $id: "SegmentOfSubscriber" },
);
export type SegmentOfSubscriber = Static<typeof SegmentOfSubscriber>;
