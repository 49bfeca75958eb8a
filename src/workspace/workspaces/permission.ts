import type { Resource } from "#platform/http/endpoint.ts";

/** The permission for the settings of the workspace. */
export const workspaceSettings: Resource = {
  name: "workspace",
  label: "Workspace settings",
  group: "Account",
};
