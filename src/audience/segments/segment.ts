/** A segment as answers show it (contract, section 2), and what a caller may say about one. */
import { type Static, Type } from "typebox";
import { Id, NullableTimestamp, nullable, Timestamp } from "../../platform/http/shapes.ts";
import { LONGEST_NAME } from "../../workspace/name.ts";
import { type Conditions, MOST_RULES } from "./conditions.ts";

/** Its rules are read by conditions.ts and bind.ts, which know their paths. */
const SegmentConditions = Type.Unsafe<Conditions>(
  Type.Object(
    {
      logic: Type.Enum(["and", "or"]),
      rules: Type.Array(Type.Unknown(), {
        minItems: 1,
        maxItems: MOST_RULES,
        description:
          "Each a condition { field, operator, value }, or a group { logic, rules } of the same shape.",
      }),
    },
    { $id: "SegmentConditions" },
  ),
);

const settings = {
  name: Type.String({ minLength: 1, maxLength: LONGEST_NAME }),
  description: Type.String({ maxLength: 2_000 }),
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

export const PreviewInput = Type.Object({ conditions: SegmentConditions }, { $id: "SegmentPreviewInput" });

export const Preview = Type.Object(
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
