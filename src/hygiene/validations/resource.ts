/** What keys are permitted or not. */
import type { Resource } from "#platform/http/endpoint.ts";

export const validations: Resource = { name: "validations", label: "Email validation", group: "Hygiene" };
