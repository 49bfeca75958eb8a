/** The SQL of the programs that opened a campaign's mail: one row for each User-Agent, counted in the message log. */
import sql, { join } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

const engagementTypes = ["opened", "clicked", "machine_opened", "machine_clicked"] as const;

export interface AgentCount {
  readonly type: (typeof engagementTypes)[number];
  /** null: of people who were erased. */
  readonly user_agent: string | null;
  /** Opens or clicks with this User-Agent. */
  readonly times: number;
  /** Opens or clicks of this type with any User-Agent, those beyond `agents` included. */
  readonly total: number;
  /** Events of this type that were read. */
  readonly events: number;
}

/**
 * Of each type the User-Agents with the most opens or clicks.
 * @param most.events of each type that are read, the newest first; they have an index of their own
 * @param most.agents of each type that are returned
 */
export function countAgents(
  db: Queryable,
  workspaceId: WorkspaceId,
  campaignId: string,
  most: { readonly events: number; readonly agents: number },
): Promise<AgentCount[]> {
  const ofType = (type: string) => sql`(
    select type, user_agent, coalesce(times, 1) as times from message_events
    where workspace_id = ${workspaceId} and campaign_id = ${campaignId} and type = ${type}
    order by time desc, id desc limit ${most.events})`;
  return db.rows(sql`
    select type, user_agent, times::bigint, total::bigint, events::bigint
    from (
      select type, user_agent, sum(times) as times, sum(sum(times)) over of_type as total,
        sum(count(*)) over of_type as events,
        row_number() over (partition by type order by sum(times) desc, user_agent) as place
      from (${join(engagementTypes.map(ofType), " union all ")}) e
      group by type, user_agent
      window of_type as (partition by type)) counted
    where place <= ${most.agents}
    order by type, place`);
}
