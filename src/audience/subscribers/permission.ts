/** The permission resource of subscribers. */
import type { Resource } from "#platform/http/endpoint.ts";

export const subscribers: Resource = {
  name: "subscribers",
  label: "Subscribers",
  group: "Audience",
  isPersonal: true,
};
