import type { Resource } from "#platform/http/endpoint.ts";

/** The permission for all reports, the message log among them. */
export const reports: Resource = { name: "reports", label: "Reports and message log", group: "Reporting" };
