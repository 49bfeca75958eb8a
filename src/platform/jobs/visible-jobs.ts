/** Which jobs a caller may see: all with `jobs:read`, otherwise those of the nouns that it may read. */
import { grants, missingPermissions } from "#platform/http/authenticate.ts";
import { need, permissionOf, type Resource } from "#platform/http/endpoint.ts";

export const jobs: Resource = { name: "jobs", label: "Background jobs", group: "Account" };

/** The permissions of the jobs that a caller with these permissions can see; null for all jobs. */
export function visibleJobs(permissions: readonly string[]): string[] | null {
  if (missingPermissions(permissions, [permissionOf(need(jobs, "read"))]).length === 0) return null;
  return permissions.flatMap((held) => {
    const read = `${held.split(":", 1)[0]}:read`;
    return grants(held, read) ? [read] : [];
  });
}
