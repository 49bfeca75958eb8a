/** Shapes of a segment: as the API returns it, and as callers create and change it. */
import { type Static, type TSchema, Type } from "typebox";
import { Member } from "#audience/subscribers/subscriber-shapes.ts";
import { Id, NullableTimestamp, nullable, Timestamp } from "#platform/shapes.ts";
import { nameAndDescription } from "#workspace/read-display-name.ts";
import { type Conditions, DEEPEST, MOST_RULES } from "./conditions/conditions.ts";

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
    { $id: "SegmentConditions" },
  ),
);

/** Conditions in a body with another field that says what they apply to: only their field names are checked here. */
export const LooseConditions = Type.Unsafe<object>({
  type: "object",
  properties: { logic: Type.Unknown(), rules: Type.Unsafe({ items: ruleShape(1) }) },
  description: "Segment rules: `{ logic, rules }`.",
});

const settings = {
  ...nameAndDescription,
  conditions: SegmentConditions,
  is_active: Type.Boolean({ description: "Whether its count is kept fresh. It can be used either way." }),
};

export const Segment = Type.Object(
  {
    id: Id,
    mailing_list_id: Id,
    mailing_list_name: Type.String(),
    ...settings,
    subscriber_count: nullable(
      Type.Integer({ description: "At the last count; null when counting took too long." }),
    ),
    counted_at: NullableTimestamp,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: "Segment" },
);
export type Segment = Static<typeof Segment>;

export const SegmentChanges = Type.Partial(Type.Object(settings), { $id: "SegmentChanges" });
export type SegmentChanges = Static<typeof SegmentChanges>;

export const NewSegment = Type.Object(
  { ...SegmentChanges.properties, name: settings.name, conditions: SegmentConditions },
  { $id: "NewSegment" },
);
export type NewSegment = Static<typeof NewSegment>;

export const SegmentPreviewInput = Type.Object(
  {
    conditions: SegmentConditions,
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
    id: Id,
    name: Type.String(),
    mailing_list_id: Id,
    mailing_list_name: Type.String(),
    is_active: Type.Boolean(),
  },
  { $id: "SegmentOfSubscriber" },
);
export type SegmentOfSubscriber = Static<typeof SegmentOfSubscriber>;
