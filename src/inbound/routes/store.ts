/** SQL of inbound routes. */
import sql, { type Sql } from "sql-template-tag";
import type { Page } from "#platform/database/page.ts";
import { isDuplicate, type Queryable } from "#platform/database/pool.ts";
import type { WorkspaceRowLimit } from "#platform/database/row-limit-store.ts";
import type { WorkspaceId } from "#platform/ids.ts";

export type SpamAction = "reject" | "mark";

export interface InboundRouteRow {
  readonly id: string;
  /** Lower case, with at most one `*` (address-pattern.ts). */
  readonly local_part: string;
  /** Lower-case A-labels. */
  readonly domain: string;
  /** Lower priorities are tried first. */
  readonly priority: number;
  readonly webhook: boolean;
  readonly keep: boolean;
  readonly max_bytes: number;
  /** Null: the spam scanner's own threshold. */
  readonly spam_threshold: number | null;
  readonly spam_action: SpamAction;
  readonly is_active: boolean;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** A route, and whether mail for it is received now. */
export interface ShownRoute extends InboundRouteRow {
  readonly is_receiving: boolean;
}

const columns = sql`r.id, r.local_part, r.domain, r.priority, r.webhook, r.keep, r.max_bytes, r.spam_threshold,
  r.spam_action, r.is_active, r.created_at, r.updated_at`;

/** Exact addresses before those with a `*`, and longer patterns first, so that a catch-all is last. */
const inOrder = sql`r.priority, position('*' in r.local_part) > 0, length(r.local_part) desc, r.created_at, r.id`;

/** The claim of a domain or of one above it that is the nearest: its workspace, and whether that has verified it. */
const nearestClaimSql = (domain: Sql) => sql`
  select c.workspace_id, coalesce(d.is_verified, false) as is_verified
  from domain_claims c
  left join sending_domains d on d.workspace_id = c.workspace_id and d.domain = c.domain
  where c.domain = any (array(
    select array_to_string(labels[n:], '.')
    from string_to_array(${domain}, '.') as labels, generate_series(1, cardinality(labels) - 1) as n))
  order by length(c.domain) desc limit 1`;

/** Whether the workspace has the nearest claim, and has verified it. */
const isProvenSql = (workspaceId: Sql, domain: Sql) => sql`coalesce((
  select n.workspace_id = ${workspaceId} and n.is_verified from (${nearestClaimSql(domain)}) n), false)`;

const shownColumns = sql`${columns},
  r.is_active and ${isProvenSql(sql`r.workspace_id`, sql`r.domain`)} as is_receiving`;

export const inboundRouteRoom: WorkspaceRowLimit = {
  table: sql`inbound_routes`,
  what: "inbound routes",
  most: 200,
  code: "CONFLICT",
};

/** In the order in which they are tried. */
export function listInboundRoutes(
  db: Queryable,
  workspaceId: WorkspaceId,
  { limit, offset }: Page,
): Promise<ShownRoute[]> {
  return db.rows(sql`
    select ${shownColumns} from inbound_routes r
    where r.workspace_id = ${workspaceId} order by ${inOrder} limit ${limit} offset ${offset}`);
}

export async function countInboundRoutes(db: Queryable, workspaceId: WorkspaceId): Promise<number> {
  const row = await db.row<{ count: number }>(sql`
    select count(*) from inbound_routes where workspace_id = ${workspaceId}`);
  return row?.count ?? 0;
}

export function findInboundRoute(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<ShownRoute | undefined> {
  return db.row(sql`
    select ${shownColumns} from inbound_routes r where r.workspace_id = ${workspaceId} and r.id = ${id}`);
}

/** As findInboundRoute; nothing else changes or deletes the route until the transaction ends. */
export function lockInboundRoute(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<ShownRoute | undefined> {
  return tx.row(sql`
    select ${shownColumns} from inbound_routes r where r.workspace_id = ${workspaceId} and r.id = ${id} for update of r`);
}

/** Whether the workspace may receive mail at a domain: it proved the domain, or one above it that is the nearest claim. */
export async function isProvenDomain(
  db: Queryable,
  workspaceId: WorkspaceId,
  domain: string,
): Promise<boolean> {
  const row = await db.row<{ is_proven: boolean }>(sql`
    select ${isProvenSql(sql`${workspaceId}::uuid`, sql`${domain}::text`)} as is_proven`);
  return row?.is_proven === true;
}

/** False when another route of the workspace has the pattern. */
export async function insertInboundRoute(
  tx: Queryable,
  workspaceId: WorkspaceId,
  route: InboundRouteRow,
): Promise<boolean> {
  const inserted = await tx.run(sql`
    insert into inbound_routes (workspace_id, id, local_part, domain, priority, webhook, keep, max_bytes, spam_threshold,
      spam_action, is_active, created_at, updated_at)
    values (${workspaceId}, ${route.id}, ${route.local_part}, ${route.domain}, ${route.priority}, ${route.webhook},
      ${route.keep}, ${route.max_bytes}, ${route.spam_threshold}, ${route.spam_action}, ${route.is_active},
      ${route.created_at}, ${route.updated_at})
    on conflict (workspace_id, domain, local_part) do nothing`);
  return inserted > 0;
}

/** Changes a locked route. @returns false when another route of the workspace has the pattern: the transaction has failed */
export async function updateInboundRoute(
  tx: Queryable,
  workspaceId: WorkspaceId,
  route: InboundRouteRow,
): Promise<boolean> {
  const update = sql`
    update inbound_routes r set local_part = ${route.local_part}, domain = ${route.domain},
      priority = ${route.priority}, webhook = ${route.webhook}, keep = ${route.keep}, max_bytes = ${route.max_bytes},
      spam_threshold = ${route.spam_threshold}, spam_action = ${route.spam_action}, is_active = ${route.is_active},
      updated_at = ${route.updated_at}
    where r.workspace_id = ${workspaceId} and r.id = ${route.id}`;
  try {
    await tx.run(update);
    return true;
  } catch (fault) {
    if (isDuplicate(fault)) return false;
    throw fault;
  }
}

export async function removeInboundRoute(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<boolean> {
  const removed = await db.run(sql`
    delete from inbound_routes where workspace_id = ${workspaceId} and id = ${id}`);
  return removed > 0;
}

/** An active route at a domain, with its workspace. */
export interface RouteAtDomain extends InboundRouteRow {
  readonly workspace_id: WorkspaceId;
  /** Whether the operator has suspended the workspace. */
  readonly is_suspended: boolean;
}

/**
 * The active routes at a domain, in the order in which they are tried. They are of the workspace that has the nearest claim of
 * the domain or of one above it, if it has proved it.
 */
export function listRoutesAtDomain(db: Queryable, domain: string): Promise<RouteAtDomain[]> {
  return db.rows(sql`
    with nearest as materialized (${nearestClaimSql(sql`${domain}::text`)})
    select ${columns}, r.workspace_id, w.is_suspended
    from nearest n
    join inbound_routes r on r.workspace_id = n.workspace_id and r.domain = ${domain} and r.is_active
    join workspaces w on w.id = r.workspace_id
    where n.is_verified
    order by ${inOrder}`);
}

/** Names at and below a sending domain whose MX records its DNS status shows. */
const MOST_RECEIVING_DOMAINS = 20;

/** The names at and below a domain where the workspace has active routes: the first 20. */
export async function listReceivingDomains(
  db: Queryable,
  workspaceId: WorkspaceId,
  domain: string,
): Promise<string[]> {
  const rows = await db.rows<{ domain: string }>(sql`
    select distinct domain from inbound_routes
    where workspace_id = ${workspaceId} and is_active
      and (domain = ${domain} or right(domain, ${domain.length + 1}) = ${`.${domain}`})
    order by domain limit ${MOST_RECEIVING_DOMAINS}`);
  return rows.map((row) => row.domain);
}
