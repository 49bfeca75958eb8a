/** The sending IP that a caller wants the address's server asked from. */
import { findSourceAddress } from "#identity/routing-rules/routing.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { invalid } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/**
 * Null: the machine's choice.
 * @throws ApiError VALIDATION_ERROR for what this workspace does not have, or has switched off
 */
export async function findProbeSource(
  db: Queryable,
  workspaceId: WorkspaceId,
  wish: { readonly routing_rule_id?: string | null; readonly virtual_mta_ip?: string | null },
): Promise<string | null> {
  const virtualMtaIp = wish.virtual_mta_ip?.trim() || null;
  const routingRuleId = wish.routing_rule_id ?? null;
  const source = await findSourceAddress(db, workspaceId, { virtualMtaIp, routingRuleId });
  if (source !== "unknown") return source;
  const field = virtualMtaIp === null ? "routing_rule_id" : "virtual_mta_ip";
  const noun = virtualMtaIp === null ? "routing rule" : "sending IP";
  throw invalid({ field, message: `${field} is no active ${noun} of this workspace` });
}
