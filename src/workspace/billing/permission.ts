/** The permission resource of billing. */
import type { Resource } from "#platform/http/endpoint.ts";

export const billing: Resource = { name: "billing", label: "Billing", group: "Account" };
