import type { Resource } from "#platform/http/endpoint.ts";

/** What guards the audit log. */
export const audit: Resource = { name: "audit", label: "Audit log", group: "Account" };
