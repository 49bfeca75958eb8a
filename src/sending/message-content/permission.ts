import type { Resource } from "#platform/http/endpoint.ts";

/** Its own permission, because contents may hold what only their recipients should read. */
export const messageContent: Resource = {
  name: "message_content",
  label: "Contents of sent messages",
  group: "Reporting",
};
