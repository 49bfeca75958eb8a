/**
 * Counts once more what the counters of campaigns keep, from the log and the recipients, and says where they differ. It
 * reads everything there is: for `posthaste doctor --counters` and for tests. Campaigns with messages from before the
 * oldest in the log, which were taken out of it, are not compared.
 */
import sql, { join, raw } from "sql-template-tag";
import { storedStatuses } from "../../../messages/states.ts";
import type { Queryable } from "../../../platform/database/pool.ts";

export interface Miscount {
  readonly campaign_id: string;
  /** Null: of the whole campaign. */
  readonly domain: string | null;
  readonly counter: string;
  readonly kept: number;
  readonly counted: number;
}

const names = (columns: readonly string[]) =>
  join(
    columns.map((column) => raw(column)),
    ", ",
  );
const byStatus = join(
  storedStatuses.map((status) => sql`count(*) filter (where status = ${status})::int as ${raw(status)}`),
  ", ",
);
/** Of messages: how many have had an attempt, whether we heard of it or only of what came of it. */
export const wasAttempted = sql`count(*) filter (where attempts > 0
  or status in ('delivered', 'deferred', 'bounced', 'failed', 'complained'))::int`;
/** One row for each counter of a row `k` as it is kept and a row `c` as it was counted. */
const comparison = (columns: readonly string[]) =>
  sql`cross join lateral (values ${join(
    columns.map((column) => sql`(${column}, k.${raw(column)}, coalesce(c.${raw(column)}, 0))`),
    ", ",
  )}) v (counter, kept, counted)`;

/** Of the counters `k`: whether a message of the campaign is older than everything in the log. */
const isOlderThanLog = sql`(k.workspace_id, k.campaign_id) in (select workspace_id, campaign_id from older)`;

/** At most 1,000; empty when all is well. At one moment: in a statement of its own. */
export function findCampaignMiscounts(db: Queryable): Promise<Miscount[]> {
  const counters = [
    ...storedStatuses,
    "sent",
    "opens",
    "unique_opens",
    "clicks",
    "unique_clicks",
    "unsubscribed",
    "machine_opens",
    "machine_clicks",
    "activities",
  ];
  return db.rows(sql`
    with log as materialized (
      select coalesce((select id from messages order by id limit 1), 'ffffffff-ffff-ffff-ffff-ffffffffffff') as oldest
    ), older as materialized (
      select distinct r.workspace_id, r.campaign_id from campaign_recipients r cross join log
      where r.message_id < log.oldest
    ), mail as (
      select workspace_id, origin_id as campaign_id, ${byStatus}, ${wasAttempted} as sent
      from messages where source = 'campaign' group by 1, 2
    ), people as (
      select workspace_id, campaign_id, count(first_opened_at)::int as unique_opens,
        count(first_clicked_at)::int as unique_clicks, count(unsubscribed_at)::int as unsubscribed
      from campaign_recipients group by 1, 2
    ), done as (
      select workspace_id, campaign_id,
        coalesce(sum(coalesce(times, 1)) filter (where type = 'opened'), 0)::int as opens,
        coalesce(sum(coalesce(times, 1)) filter (where type = 'clicked'), 0)::int as clicks,
        coalesce(sum(coalesce(times, 1)) filter (where type = 'machine_opened'), 0)::int as machine_opens,
        coalesce(sum(coalesce(times, 1)) filter (where type = 'machine_clicked'), 0)::int as machine_clicks,
        count(*) filter (where type in
          ('delivered', 'bounced', 'complained', 'opened', 'clicked', 'unsubscribed'))::int as activities
      from message_events where campaign_id is not null group by 1, 2
    ), counted as (
      select workspace_id, campaign_id, ${names(counters)}
      from mail left join people using (workspace_id, campaign_id) left join done using (workspace_id, campaign_id)
    ), domains as (
      select workspace_id, origin_id as campaign_id, domain, ${byStatus}
      from messages where source = 'campaign' group by 1, 2, 3
    )
    select k.campaign_id, null as domain, v.*
    from campaign_counters k left join counted c using (workspace_id, campaign_id) ${comparison(counters)}
    where v.kept <> v.counted and not ${isOlderThanLog}
    union all
    select k.campaign_id, k.domain, v.*
    from campaign_domains k left join domains c using (workspace_id, campaign_id, domain) ${comparison(storedStatuses)}
    where v.kept <> v.counted and not ${isOlderThanLog}
    limit 1000`);
}
