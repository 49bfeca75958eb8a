/** The shapes of a role, and its permissions as lines for people. */
import { type Static, Type } from "typebox";
import { NullableTimestamp } from "#platform/shapes.ts";
import type { PermissionCatalogue } from "#workspace/api-keys/permission-catalogue.ts";
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

/**
 * In the order of the catalogue. A permission of a resource that no operation needs yet is left out: it grants nothing.
 * @returns such as `["Campaigns: read, write, send"]`; `["Everything"]` for `*:*`
 */
export function permissionsInWords(
  permissions: readonly string[],
  { resources }: PermissionCatalogue,
): string[] {
  if (permissions.includes("*:*")) return ["Everything"];
  const readsAll = permissions.includes("*:read");
  const lines = resources.flatMap(({ label, wildcard, actions }) => {
    const granted = actions
      .filter(({ value }) => permissions.includes(wildcard) || permissions.includes(value))
      .map(({ label: action }) => action.toLowerCase());
    const more = readsAll ? granted.filter((action) => action !== "read") : granted;
    return more.length === 0 ? [] : [`${label}: ${more.join(", ")}`];
  });
  return readsAll ? ["Everything: read", ...lines] : lines;
}
