/** Permissions as lines for people: one a resource, with its actions. */
import type { PermissionCatalogue } from "#workspace/api-keys/permission-catalogue.ts";

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
