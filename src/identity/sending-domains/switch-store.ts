/** The operator's switch: a domain that is off sends nothing, whoever has proved it. */
import sql, { empty } from "sql-template-tag";
import type { Queryable } from "../../platform/database/pool.ts";
import type { WorkspaceId } from "../../platform/ids.ts";

export interface SwitchedDomain {
  readonly workspace_id: WorkspaceId;
  readonly domain: string;
  readonly is_verified: boolean;
  readonly is_active: boolean;
}

/** @param order `workspaceId` null: of every workspace that has the domain. Empty where there is none */
export function updateDomainSwitch(
  db: Queryable,
  {
    domain,
    workspaceId,
    isActive,
  }: { readonly domain: string; readonly workspaceId: WorkspaceId | null; readonly isActive: boolean },
): Promise<SwitchedDomain[]> {
  return db.rows(sql`
    update sending_domains set is_active = ${isActive}
    where domain = ${domain} ${workspaceId === null ? empty : sql`and workspace_id = ${workspaceId}`}
    returning workspace_id, domain, is_verified, is_active`);
}
