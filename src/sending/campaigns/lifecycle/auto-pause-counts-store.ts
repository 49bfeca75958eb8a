/** The counters of campaigns since their last resume, for auto-pause. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { AutoPauseCounts } from "./auto-pause.ts";

/** The columns of AutoPauseCounts, for a campaign `c` and its counters `n`. */
export const autoPauseColumns = sql`
  n.sent - c.brake_sent as sent, n.hard_bounced - c.brake_bounced as hard_bounced,
  n.complained - c.brake_complained as complained,
  -- Fewer than at the resume: a success has reset the counter since.
  case when n.failures_in_a_row >= c.brake_failures then n.failures_in_a_row - c.brake_failures
    else n.failures_in_a_row end as failures_in_a_row`;

/** The counters of all sending campaigns that have queued messages. */
export function listAutoPauseCounts(
  db: Queryable,
): Promise<(AutoPauseCounts & { readonly workspace_id: WorkspaceId; readonly id: string })[]> {
  return db.rows(sql`
    select c.workspace_id, c.id, ${autoPauseColumns}
    from campaigns c
    join campaign_counters n on n.workspace_id = c.workspace_id and n.campaign_id = c.id
    where c.status = 'sending' and n.queued > 0`);
}
