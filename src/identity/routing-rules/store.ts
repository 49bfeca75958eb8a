/** SQL of routing rules. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceRowLimit } from "#platform/database/row-limit-store.ts";
import type { WorkspaceId } from "#platform/ids.ts";

export interface RoutingRuleRow {
  readonly id: string;
  readonly name: string;
  /** Lower priorities are tried first. */
  readonly priority: number;
  readonly is_active: boolean;
  /** False: applies only to campaigns that name it. */
  readonly is_automatic: boolean;
  /** Lower-case A-labels; empty: all. */
  readonly recipient_domains: readonly string[];
  /** Names of lanes; empty: all. */
  readonly providers: readonly string[];
  /** One of the three is not null. */
  readonly source_ip_id: string | null;
  readonly pool: string | null;
  /** Sealed (relay-url.ts). */
  readonly relay_url: Buffer | null;
  readonly created_at: Date;
}

const columns = sql`id, name, priority, is_active, is_automatic, recipient_domains, providers, source_ip_id, pool,
  relay_url, created_at`;

export const routingRuleRoom: WorkspaceRowLimit = {
  table: sql`routing_rules`,
  what: "routing rules",
  most: 200,
  code: "CONFLICT",
  way: "delete one that is not needed",
};

/** In the order in which they are tried. */
export function listRoutingRules(db: Queryable, workspaceId: WorkspaceId): Promise<RoutingRuleRow[]> {
  return db.rows(sql`
    select ${columns} from routing_rules where workspace_id = ${workspaceId} order by priority, created_at, id`);
}

export function findRoutingRule(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<RoutingRuleRow | undefined> {
  return db.row(sql`select ${columns} from routing_rules where workspace_id = ${workspaceId} and id = ${id}`);
}

/** A rule of the workspace that sends from this address. */
export function findRuleOfSendingIp(
  db: Queryable,
  workspaceId: WorkspaceId,
  sendingIpId: string,
): Promise<{ readonly name: string } | undefined> {
  return db.row(sql`
    select name from routing_rules where workspace_id = ${workspaceId} and source_ip_id = ${sendingIpId} limit 1`);
}

/** A rule that uses the pool of a sending IP, if that is the last IP of its pool. */
export function findRuleOfLastInPool(
  db: Queryable,
  workspaceId: WorkspaceId,
  sendingIpId: string,
): Promise<{ readonly name: string } | undefined> {
  return db.row(sql`
    select r.name from sending_ips i
    join routing_rules r on r.workspace_id = i.workspace_id and r.pool = i.pool
    where i.workspace_id = ${workspaceId} and i.id = ${sendingIpId}
      and not exists (select from sending_ips o where o.workspace_id = i.workspace_id and o.pool = i.pool and o.id <> i.id)
    limit 1`);
}

export async function insertRoutingRule(
  db: Queryable,
  workspaceId: WorkspaceId,
  rule: RoutingRuleRow,
): Promise<void> {
  await db.run(sql`
    insert into routing_rules (workspace_id, id, name, priority, is_active, is_automatic, recipient_domains, providers,
      source_ip_id, pool, relay_url, created_at)
    values (${workspaceId}, ${rule.id}, ${rule.name}, ${rule.priority}, ${rule.is_active}, ${rule.is_automatic},
      ${rule.recipient_domains}, ${rule.providers}, ${rule.source_ip_id}, ${rule.pool}, ${rule.relay_url},
      ${rule.created_at})`);
}

export async function updateRoutingRule(
  db: Queryable,
  workspaceId: WorkspaceId,
  rule: RoutingRuleRow,
): Promise<void> {
  await db.run(sql`
    update routing_rules set name = ${rule.name}, priority = ${rule.priority}, is_active = ${rule.is_active},
      is_automatic = ${rule.is_automatic}, recipient_domains = ${rule.recipient_domains},
      providers = ${rule.providers}, source_ip_id = ${rule.source_ip_id}, pool = ${rule.pool},
      relay_url = ${rule.relay_url}
    where workspace_id = ${workspaceId} and id = ${rule.id}`);
}

export async function removeRoutingRule(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<boolean> {
  const removed = await db.run(sql`
    delete from routing_rules where workspace_id = ${workspaceId} and id = ${id}`);
  return removed > 0;
}
