/** A segment as answers show it (contract, section 2), and what a caller may say about one. */
import { type Static, type TSchema, Type } from "typebox";
import { Id, NullableTimestamp, nullable, Timestamp } from "#platform/shapes.ts";
import { nameAndDescription } from "#workspace/name.ts";
import { type Conditions, DEEPEST, MOST_RULES } from "./conditions/conditions.ts";

/** Names the fields of rules, group in group, and says nothing of their values: those conditions.ts reads, with their paths. */
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

/** Conditions beside a field that says whose they are: only their names are looked at before they are read. */
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
      Type.Integer({ description: "When it was last counted; null when that took too long." }),
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
  { conditions: SegmentConditions },
  { $id: "SegmentPreviewInput" },
);

export const SegmentPreview = Type.Object(
  { subscriber_count: Type.Integer({ description: "How many are in it at this moment." }) },
  { $id: "SegmentPreview" },
);

/** As a person's segments show it. */
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
