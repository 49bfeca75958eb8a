/** The states of whole workspaces, for many of them in one statement: verification of domains, messages by status. */
import sql from "sql-template-tag";
import { isActiveSql } from "#identity/sending-domains/operator-switch-store.ts";
import { columnsSql, type MessageStatusCounts, sumsSql } from "#messages/counters/counters.ts";
import { quarterOf } from "#messages/counters/deltas-store.ts";
import { storedStatuses } from "#messages/message/status.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

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

export interface CountsSince {
  readonly workspaceId: WorkspaceId;
  /** Rounded down to a quarter-hour. Meant for at most a day, because quarter-hours are summed one by one. */
  readonly since: Date;
}

/** The messages that were accepted since the time of each workspace, by their status now. */
export function listCountsSince(
  db: Queryable,
  spans: readonly CountsSince[],
): Promise<(MessageStatusCounts & { readonly workspace_id: WorkspaceId })[]> {
  const columns = columnsSql(storedStatuses);
  return db.rows(
    sql`
    select w.workspace_id, c.*
    from unnest(${spans.map(({ workspaceId }) => workspaceId)}::uuid[], ${spans.map(({ since }) => since)}::timestamptz[])
      as w (workspace_id, since)
    cross join lateral (
      select ${sumsSql(storedStatuses)}
      from (
        select ${columns} from report_quarters r
        where r.workspace_id = w.workspace_id and r.quarter >= ${quarterOf(sql`w.since`)}
        union all
        select ${columns} from report_notes n
        where n.workspace_id = w.workspace_id and n.source_ip is null and n.quarter >= ${quarterOf(sql`w.since`)}) counted) c`,
    "counts since",
  );
}
