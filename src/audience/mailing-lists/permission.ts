/** The permission resource of mailing lists. */
import type { Resource } from "#platform/http/endpoint.ts";

export const mailingLists: Resource = { name: "mailing_lists", label: "Mailing lists", group: "Audience" };
