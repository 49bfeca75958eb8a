/** The permission resource of received mail: its own, because it is what other people wrote. */
import type { Resource } from "#platform/http/endpoint.ts";

export const receivedEmails: Resource = {
  name: "received_emails",
  label: "Received mail",
  group: "Receiving",
  isPersonal: true,
};
