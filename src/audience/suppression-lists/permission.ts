import type { Resource } from "#platform/http/endpoint.ts";

export const suppressionLists: Resource = {
  name: "suppression_lists",
  label: "Suppression lists",
  group: "Audience",
};
