/** The permissions that exist, as the service lists them, in words. */
import type { Data, Schema } from "@posthaste/client";
import { queryOptions } from "@tanstack/react-query";
import { holds, type usePlace } from "../api/session.tsx";

export type Catalogue = Data<"listPermissions">;
export type Resource = Schema<"PermissionResource">;

export function catalogueQuery({ api, workspace }: Pick<ReturnType<typeof usePlace>, "api" | "workspace">) {
  return queryOptions({
    queryKey: ["permissions", workspace.id],
    queryFn: ({ signal }) => api.listPermissions({ signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** "Campaigns: read, write"; one text for each resource, wildcards by their own label. */
export function inWords({ wildcards, resources }: Catalogue, permissions: readonly string[]): string[] {
  const wide = wildcards.filter(({ value }) => permissions.includes(value)).map(({ label }) => label);
  const single = resources.flatMap(({ label, wildcard, actions }) => {
    if (permissions.includes(wildcard)) return [`${label}: everything`];
    const held = actions.filter(({ value }) => permissions.includes(value));
    return held.length === 0 ? [] : [`${label}: ${held.map((one) => one.label.toLowerCase()).join(", ")}`];
  });
  return [...wide, ...single];
}

/** The chosen permissions with one more; those that it covers are not needed any more. */
export function withPermission(chosen: readonly string[], added: string): readonly string[] {
  return [...chosen.filter((one) => !holds([added], one)), added];
}

/** The permissions that the held ones do not cover. */
export function missingOf(held: readonly string[], wanted: readonly string[]): readonly string[] {
  return wanted.filter((one) => !holds(held, one));
}
