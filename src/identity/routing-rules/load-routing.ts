/** Reads a workspace's sending IPs and routing rules, for delivery, campaigns and address validation. */
import { isIP } from "node:net";
import {
  findSendingIp,
  findSendingIpByAddress,
  listSendingIps,
  type SendingIpRow,
} from "#identity/sending-ips/store.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { isUuid, type WorkspaceId } from "#platform/ids.ts";
import type { Secrets } from "#platform/secrets/secrets.ts";
import { openRelayUrl } from "./relay-url.ts";
import { findRoutingRule, listRoutingRules, type RoutingRuleRow } from "./store.ts";

const RULE_PREFIX = "routing_rule:";

/** All that delivery decides by; rules in the order in which they are tried. */
export async function findRouting(db: Queryable, secrets: Secrets, workspaceId: WorkspaceId) {
  const [ips, rows] = await Promise.all([listSendingIps(db, workspaceId), listRoutingRules(db, workspaceId)]);
  return { ips, rules: rows.map((row) => ({ ...row, action: actionOf(secrets, row) })) };
}

export type RuleAction =
  | { readonly source_ip_id: string }
  | { readonly pool: string }
  | { readonly relay_url: string };

/** The action of a rule, with the password of its relay. */
export function actionOf(
  secrets: Secrets,
  { id, source_ip_id, pool, relay_url }: RoutingRuleRow,
): RuleAction {
  if (source_ip_id !== null) return { source_ip_id };
  if (pool !== null) return { pool };
  if (relay_url !== null) return { relay_url: openRelayUrl(secrets, id, relay_url) };
  throw new Error(`the routing rule ${id} does nothing`);
}

/** The two fields by which campaigns and validations choose an egress path. */
export interface RouteFields {
  /** A sending IP, or `routing_rule:<uuid>`. */
  readonly virtualMtaIp: string | null;
  readonly routingRuleId: string | null;
}

/** The choice that the two fields make: the address takes precedence over the rule. */
export function routeChoice({ virtualMtaIp, routingRuleId }: RouteFields): {
  readonly ip: string | null;
  readonly ruleId: string | null;
} {
  const isRule = virtualMtaIp?.startsWith(RULE_PREFIX) ?? false;
  if (isRule) return { ip: null, ruleId: virtualMtaIp?.slice(RULE_PREFIX.length) ?? null };
  return { ip: virtualMtaIp, ruleId: routingRuleId };
}

/** Validates and normalises the two fields; or says which of them names nothing of this workspace. Blank is null. */
export async function readRouteFields(
  db: Queryable,
  workspaceId: WorkspaceId,
  given: { readonly virtual_mta_ip?: string | null; readonly routing_rule_id?: string | null },
): Promise<RouteFields | { readonly unknown: "virtual_mta_ip" | "routing_rule_id" }> {
  const text = given.virtual_mta_ip?.trim() ?? "";
  const routingRuleId = given.routing_rule_id ?? null;
  const hasRule = async (id: string) =>
    isUuid(id) && (await findRoutingRule(db, workspaceId, id)) !== undefined;
  if (routingRuleId !== null && !(await hasRule(routingRuleId))) return { unknown: "routing_rule_id" };
  if (text === "") return { virtualMtaIp: null, routingRuleId };
  if (text.startsWith(RULE_PREFIX)) {
    const ruleId = text.slice(RULE_PREFIX.length).toLowerCase();
    if (!(await hasRule(ruleId))) return { unknown: "virtual_mta_ip" };
    return { virtualMtaIp: `${RULE_PREFIX}${ruleId}`, routingRuleId };
  }
  const source = await findByAddress(db, workspaceId, text);
  return source ? { virtualMtaIp: source.ip, routingRuleId } : { unknown: "virtual_mta_ip" };
}

/**
 * The source address chosen by the two fields, for a probe. Null when they choose none (nothing given, or a rule
 * through a relay); "unknown" when they name what the workspace does not have or has switched off.
 */
export async function findSourceAddress(
  db: Queryable,
  workspaceId: WorkspaceId,
  given: { readonly virtualMtaIp?: string | null; readonly routingRuleId?: string | null },
): Promise<string | null> {
  const fields = await readRouteFields(db, workspaceId, {
    virtual_mta_ip: given.virtualMtaIp ?? null,
    routing_rule_id: given.routingRuleId ?? null,
  });
  if ("unknown" in fields) return "unknown";
  const { ip, ruleId } = routeChoice(fields);
  if (ip !== null) return activeOf(await findSendingIpByAddress(db, workspaceId, ip));
  const rule = ruleId === null ? undefined : await findRoutingRule(db, workspaceId, ruleId);
  if (rule === undefined) return null;
  if (!rule.is_active) return "unknown";
  if (rule.source_ip_id !== null) return activeOf(await findSendingIp(db, workspaceId, rule.source_ip_id));
  if (rule.pool === null) return null;
  const ips = await listSendingIps(db, workspaceId);
  return activeOf(ips.find(({ pool, is_active }) => is_active && pool === rule.pool));
}

function activeOf(source: SendingIpRow | undefined): string {
  return source?.is_active ? source.ip : "unknown";
}

async function findByAddress(
  db: Queryable,
  workspaceId: WorkspaceId,
  text: string,
): Promise<SendingIpRow | undefined> {
  const isAddress = isIP(text) !== 0 && !text.includes("%");
  return isAddress ? findSendingIpByAddress(db, workspaceId, text) : undefined;
}
