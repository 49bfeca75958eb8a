import type { Resource } from "#platform/http/endpoint.ts";

/** The permission for sending domains and for what others report about them. */
export const sendingDomains: Resource = {
  name: "sending_domains",
  label: "Sending domains",
  group: "Sending identity",
};
