/** The permission to send transactional mail. */
import type { Resource } from "#platform/http/endpoint.ts";

export const emails: Resource = { name: "emails", label: "Transactional email", group: "Sending" };
