/**
 * The permission catalogue, derived from the endpoints, so that it lists exactly what they enforce: a resource appears
 * because an endpoint needs it, with the actions that some endpoint needs.
 */
import { type Static, Type } from "typebox";
import { invalid } from "#platform/errors.ts";
import { ASSISTANTS_MAY_SEND, assistantsNeed, isGuarded } from "#platform/http/assistant-permission.ts";
import type { Action, Endpoint } from "#platform/http/endpoint.ts";

const Grant = Type.Object(
  {
    action: Type.String({
      description: "What the permission allows: `read`, `write` or `send`; `*` in a wildcard.",
    }),
    label: Type.String({ description: "Name for display." }),
    value: Type.String({ description: "Send this verbatim in `permissions`." }),
  },
  { $id: "PermissionGrant" },
);

export const PermissionCatalogue = Type.Object(
  {
    resources: Type.Array(
      Type.Object(
        {
          resource: Type.String({ description: "The resource, the part before the colon." }),
          label: Type.String({ description: "Name of the resource for display." }),
          group: Type.String({ description: "Heading under which the resource is shown." }),
          wildcard: Type.String({ description: "Grants every action on the resource." }),
          covers: Type.Array(Type.String(), { description: "Paths the resource governs, sorted." }),
          actions: Type.Array(Grant, { description: "The permissions of the resource." }),
        },
        { $id: "PermissionResource" },
      ),
      { description: "The permissions, by resource." },
    ),
    wildcards: Type.Array(Grant, { description: "Permissions that cover several resources." }),
    presets: Type.Array(
      Type.Object({
        preset: Type.String({ description: "Name of the set." }),
        label: Type.String({ description: "Name of the set for display." }),
        values: Type.Array(Type.String(), { description: "Its permission strings." }),
      }),
      { description: "Sets of permissions for usual purposes." },
    ),
  },
  { $id: "PermissionCatalogue" },
);
export type PermissionCatalogue = Static<typeof PermissionCatalogue>;

const actions: readonly { action: Action; label: string }[] = [
  { action: "read", label: "Read" },
  { action: "write", label: "Write" },
  { action: "send", label: "Send" },
];

const wildcards = [
  { action: "*", label: "Full access to everything", value: "*:*" },
  { action: "read", label: "Read-only access to everything", value: "*:read" },
];

const presets = [
  { preset: "full", label: "Full access", values: ["*:*"] },
  { preset: "read_only", label: "Read only", values: ["*:read"] },
];

/** Resources in the order in which the endpoints first name them, actions in the order read, write, send. */
export function catalogueOf(endpoints: readonly Endpoint[]): PermissionCatalogue {
  const own = endpoints.flatMap(({ needs, path }) => (typeof needs === "string" ? [] : [{ ...needs, path }]));
  const ofAssistants = endpoints
    .filter((endpoint) => typeof endpoint.needs !== "string" && isGuarded(endpoint))
    .map(({ path }) => ({ ...assistantsNeed, path }));
  const governed = [...own, ...ofAssistants];
  const resources = new Map(governed.map(({ resource }) => [resource.name, resource]));
  return {
    resources: [...resources.values()].map(({ name, label, group }) => {
      const uses = governed.filter(({ resource }) => resource.name === name);
      return {
        resource: name,
        label,
        group,
        wildcard: `${name}:*`,
        covers: [...new Set(uses.map(({ path }) => path))].sort(),
        actions: actions
          .filter(({ action }) => uses.some((use) => use.action === action))
          .map(({ action, label }) => {
            const value = `${name}:${action}`;
            return {
              action,
              label: value === ASSISTANTS_MAY_SEND ? "Send, spend and confirm" : label,
              value,
            };
          }),
      };
    }),
    wildcards,
    presets,
  };
}

/** Every value that a key may hold. */
export function permissionValues(catalogue: PermissionCatalogue): Set<string> {
  const ofResources = catalogue.resources.flatMap(({ wildcard, actions }) => [
    wildcard,
    ...actions.map(({ value }) => value),
  ]);
  return new Set([...catalogue.wildcards.map(({ value }) => value), ...ofResources]);
}

/** Unknown values that an error names. */
const MOST_NAMED = 10;

/**
 * Without duplicates.
 * @throws ApiError VALIDATION_ERROR naming the unknown permissions
 */
export function readPermissions(given: readonly string[], catalogue: PermissionCatalogue): string[] {
  const known = permissionValues(catalogue);
  const folded = [...new Set(given)];
  const unknown = folded.filter((value) => !known.has(value)).slice(0, MOST_NAMED);
  if (unknown.length > 0) {
    const named = unknown.map((value) => JSON.stringify(value.slice(0, 100))).join(", ");
    const message = `unknown permissions ${named}: GET /api-keys/permissions lists the valid ones`;
    throw invalid({ field: "permissions", message });
  }
  return folded;
}
