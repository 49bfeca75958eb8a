/** Messages by status since a time, for many workspaces in one statement. */
import sql from "sql-template-tag";
import { storedStatuses } from "#messages/message/status.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { columnsSql, type MessageStatusCounts, sumsSql } from "./counters.ts";
import { quarterOf } from "./deltas-store.ts";

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
