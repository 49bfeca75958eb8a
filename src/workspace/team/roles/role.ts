/** The shapes of a role. */
import { type Static, Type } from "typebox";
import { NullableTimestamp } from "#platform/shapes.ts";
import { LONGEST_NAME } from "#workspace/read-display-name.ts";

export const RoleShape = Type.Object(
  {
    id: Type.String({ description: "A UUID; for a built-in role its word, such as `marketer`." }),
    name: Type.String({ description: "Its name, unique in the workspace." }),
    description: Type.String({ description: "What it is for; may be empty." }),
    permissions: Type.Array(Type.String(), { description: "Values from the permission catalogue." }),
    permissions_in_words: Type.Array(Type.String(), {
      description: "The permissions for people to read, one line a resource: `Campaigns: read, write`.",
    }),
    is_built_in: Type.Boolean({ description: "Whether every workspace has it. It cannot be changed." }),
    teammate_count: Type.Integer({ description: "How many teammates hold it." }),
    created_at: Type.Unsafe<Date | null>({ ...NullableTimestamp, description: "null for built-in roles." }),
  },
  { $id: "Role" },
);
export type RoleShape = Static<typeof RoleShape>;

const MOST_PERMISSIONS = 200;

export const NewRole = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: LONGEST_NAME,
      description: "Its name, unique in the workspace.",
    }),
    description: Type.Optional(Type.String({ maxLength: 500, description: "What it is for." })),
    permissions: Type.Array(Type.String(), {
      minItems: 1,
      maxItems: MOST_PERMISSIONS,
      description: "Values from the permission catalogue; you must hold all of them.",
    }),
  },
  { $id: "NewRole" },
);

export const RoleChanges = Type.Partial(NewRole, { $id: "RoleChanges" });
