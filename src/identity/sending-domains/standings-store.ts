/** The verification of the domains of many workspaces in one statement, for people who watch it. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { isActiveSql } from "./operator-switch-store.ts";

/** The verification of a domain, without the times of its checks. */
export interface DomainStanding {
  readonly workspace_id: WorkspaceId;
  readonly id: string;
  readonly domain: string;
  readonly is_verified: boolean;
  readonly spf_verified: boolean;
  readonly dkim_verified: boolean;
  readonly dmarc_verified: boolean;
  readonly return_path_verified: boolean;
  readonly is_active: boolean;
  /** The number of all domains of the workspace. */
  readonly total: number;
}

/** The `most` newest domains of each workspace. */
export function listDomainStandings(
  db: Queryable,
  workspaceIds: readonly WorkspaceId[],
  most: number,
): Promise<DomainStanding[]> {
  return db.rows(
    sql`
    select d.* from unnest(${[...workspaceIds]}::uuid[]) as w (workspace_id)
    cross join lateral (
      select workspace_id, id, domain, is_verified, spf_verified, dkim_verified, dmarc_verified, return_path_verified,
        ${isActiveSql(sql`sending_domains.workspace_id`, sql`sending_domains.domain`)} as is_active,
        (count(*) over ())::int as total
      from sending_domains where sending_domains.workspace_id = w.workspace_id
      order by created_at desc, id desc limit ${most}) d`,
    "domain standings",
  );
}
