import type { Resource } from "#platform/http/endpoint.ts";

/** What guards blacklist checks and monitors. */
export const blacklist: Resource = { name: "blacklist", label: "Blacklist checker", group: "Hygiene" };
