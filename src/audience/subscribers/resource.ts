/** What permissions on people govern. */
import type { Resource } from "#platform/http/endpoint.ts";

export const subscribers: Resource = { name: "subscribers", label: "Subscribers", group: "Audience" };
