/** The permission resource of routing rules. */
import type { Resource } from "#platform/http/endpoint.ts";

export const routingRules: Resource = {
  name: "routing_rules",
  label: "Routing rules",
  group: "Sending identity",
};
