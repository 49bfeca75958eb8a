/**
 * SQL of the operator's switch: a domain that is switched off sends nothing, in whichever workspace it is proved or
 * added again.
 */
import sql, { empty, type Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

export interface DomainSwitch {
  /** Lower-case A-labels. */
  readonly domain: string;
  /** Null: all workspaces, replacing the switches of single ones. */
  readonly workspaceId: WorkspaceId | null;
  readonly isActive: boolean;
}

export interface SwitchedDomain {
  readonly workspace_id: WorkspaceId;
  readonly domain: string;
  readonly is_verified: boolean;
  readonly is_active: boolean;
}

/** Part of a statement: whether a domain may be used in a workspace. A switch for the workspace takes precedence. */
export function isActiveSql(workspaceId: Sql, domain: Sql): Sql {
  return sql`coalesce((
    select switch.is_active from domain_switches as switch
    where switch.domain = ${domain} and (switch.workspace_id = ${workspaceId} or switch.workspace_id is null)
    order by switch.workspace_id limit 1), true)`;
}

/** False when the workspace does not exist. */
export async function setDomainSwitch(
  tx: Queryable,
  { domain, workspaceId, isActive }: DomainSwitch,
): Promise<boolean> {
  if (workspaceId === null) {
    await tx.run(sql`delete from domain_switches where domain = ${domain}`);
    await tx.run(sql`insert into domain_switches (domain, is_active) values (${domain}, ${isActive})`);
    return true;
  }
  const set = await tx.run(sql`
    insert into domain_switches (domain, workspace_id, is_active)
    select ${domain}, id, ${isActive} from workspaces where id = ${workspaceId}
    on conflict (domain, workspace_id) do update set is_active = excluded.is_active`);
  return set > 0;
}

/** Workspaces that have the domain, all or the given one. */
export function listSwitchedDomains(
  db: Queryable,
  { domain, workspaceId }: Omit<DomainSwitch, "isActive">,
): Promise<SwitchedDomain[]> {
  return db.rows(sql`
    select workspace_id, domain, is_verified,
      ${isActiveSql(sql`sending_domains.workspace_id`, sql`sending_domains.domain`)} as is_active
    from sending_domains
    where domain = ${domain} ${workspaceId === null ? empty : sql`and workspace_id = ${workspaceId}`}
    order by workspace_id`);
}
