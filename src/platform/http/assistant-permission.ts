/**
 * The permission of AI assistants (src/mcp) for operations whose effect they should not have by default: mail or SMS to
 * people, events to other systems, money, and all that a person must confirm. It follows from the declaration of the endpoint. A key has it only by
 * name: `*:*` may give it to other keys, but does not include it, so that no key that exists gains it.
 */
import { type Endpoint, need, permissionOf, type Resource } from "./endpoint.ts";

export const assistants: Resource = { name: "mcp", label: "AI assistants (MCP)", group: "Account" };

export const assistantsNeed = need(assistants, "send");
export const ASSISTANTS_MAY_SEND = permissionOf(assistantsNeed);

/** What a call does outside of the service that cannot be taken back. */
export function outwardOf({ outward, needs, errors }: Endpoint): "sends" | "spends" | "nothing" {
  if (outward !== undefined) return outward;
  if (typeof needs !== "string" && needs.action === "send") return "sends";
  return errors?.includes("INSUFFICIENT_BALANCE") ? "spends" : "nothing";
}

/** Whether assistants need ASSISTANTS_MAY_SEND for the operation, besides its own permission. */
export function isGuarded(endpoint: Endpoint): boolean {
  return endpoint.confirmed === true || outwardOf(endpoint) !== "nothing";
}

/** Whether permissions have ASSISTANTS_MAY_SEND by name. */
export function assistantsMaySend(permissions: readonly string[]): boolean {
  return permissions.some((held) => held === ASSISTANTS_MAY_SEND || held === `${assistants.name}:*`);
}
