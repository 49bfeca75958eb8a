/** The permission resources of people in a workspace. */
import type { Resource } from "#platform/http/endpoint.ts";

export const team: Resource = { name: "team", label: "Team", group: "Account" };
export const rolesResource: Resource = { name: "roles", label: "Roles", group: "Account" };
