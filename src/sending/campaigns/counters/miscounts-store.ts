/**
 * Recounts the counters of campaigns and autoresponders from the message log, the bounces and the recipients, and returns
 * the differences. It reads all rows: for `posthaste doctor --counters` and for tests. Campaigns and autoresponders whose
 * messages may have left the log are not compared. Failures in a row are not compared either, because the order in which two
 * messages were counted is not recorded.
 */
import sql, { join, raw, type Sql } from "sql-template-tag";
import { storedStatuses } from "#messages/message/status.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { type BulkOrigin, tablesOf } from "#sending/bulk-origin-tables-store.ts";

export interface OriginMiscount {
  /** The kind of counter; for campaign hours and links, and for steps, also which. */
  readonly counter_of: string;
  /** The id of the campaign or autoresponder. */
  readonly origin_id: string;
  /** Null for counters over all domains. Autoresponders have only those. */
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
  storedStatuses.map((status) => sql`count(*) filter (where status = ${status})::bigint as ${raw(status)}`),
  ", ",
);
/** How many messages have had an attempt: a recorded one, or one that their status proves. */
export const wasAttempted = sql`count(*) filter (where attempts > 0
  or status in ('delivered', 'deferred', 'bounced', 'failed', 'complained'))::bigint`;
/** One row for each counter, from a stored row `k` and a recounted row `c`. */
const comparison = (columns: readonly string[]) =>
  sql`cross join lateral (values ${join(
    columns.map((column) => sql`(${column}, coalesce(k.${raw(column)}, 0), coalesce(c.${raw(column)}, 0))`),
    ", ",
  )}) v (counter, kept, counted)`;

const counters = [
  ...storedStatuses,
  "sent",
  "hard_bounced",
  "opens",
  "unique_opens",
  "clicks",
  "unique_clicks",
  "unsubscribed",
  "machine_opens",
  "machine_clicks",
  "activities",
];

/** The events of mail, as a relation with the columns workspace_id, origin_id, type and times. */
const eventsOf: Readonly<Record<BulkOrigin, Sql>> = {
  campaign: sql`(
    select workspace_id, campaign_id as origin_id, type, times from message_events where campaign_id is not null)`,
  autoresponder: sql`(
    select workspace_id, r.autoresponder_id as origin_id, e.type, e.times
    from autoresponder_mails r join message_events e using (workspace_id, message_id))`,
};

/** Hard bounces, including those that became hard by a later report: the address was at fault (record-outcomes.ts). */
const hardBouncesOf: Readonly<Record<BulkOrigin, Sql>> = {
  campaign: sql`(
    select workspace_id, campaign_id as origin_id from bounces where campaign_id is not null and bounce_type = 'hard')`,
  autoresponder: sql`(
    select workspace_id, r.autoresponder_id as origin_id
    from autoresponder_mails r join bounces b using (workspace_id, message_id) where b.bounce_type = 'hard')`,
};

/**
 * Campaigns and autoresponders with messages older than the oldest in the `log`. Recipient rows of an active autoresponder
 * are purged while it continues, but the log loses whole days, so an autoresponder that is not older than the log's first
 * day still has all its mail.
 */
const olderOf: Readonly<Record<BulkOrigin, Sql>> = {
  campaign: sql`
    select distinct r.workspace_id, r.campaign_id as origin_id from campaign_recipients r cross join log
    where r.message_id < coalesce(log.oldest, 'ffffffff-ffff-ffff-ffff-ffffffffffff')`,
  autoresponder: sql`
    select n.workspace_id, n.autoresponder_id as origin_id from autoresponder_counters n cross join log
    left join autoresponders a on a.workspace_id = n.workspace_id and a.id = n.autoresponder_id
    where coalesce(a.created_at, '-infinity') < coalesce(date_trunc('day', log.since, 'UTC'), 'infinity')`,
};
const isOlderThanLog = sql`(workspace_id, origin_id) in (select workspace_id, origin_id from older)`;

/** Differences in the counters by domain, which only campaigns have. */
const miscountsByDomain = sql`
  select 'campaign' as counter_of, origin_id, domain, v.*
  from (select campaign_id as origin_id, * from campaign_domains) k
  left join (
    select workspace_id, origin_id, domain, ${byStatus} from messages where source = 'campaign' group by 1, 2, 3) c
    using (workspace_id, origin_id, domain) ${comparison(storedStatuses)}
  where v.kept <> v.counted and not ${isOlderThanLog}`;

const hourCounters = ["sent", "opens", "clicks", "unsubscribes", "complaints"];
const hourOf = (time: Sql) => sql`date_trunc('hour', ${time}, 'UTC')`;
const times = (type: string) => sql`case when type = ${type} then coalesce(times, 1) else 0 end`;

/**
 * Differences in the counters by hour. A message counts as sent in the hour of its first event that shows the end of an
 * attempt, which may be a complaint. An unsubscribe counts once per message, in the hour that the recipient row has.
 */
const miscountsByHour = sql`
  select 'campaign_hours ' || to_char(hour at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI"Z"'), origin_id, null, v.*
  from (select campaign_id as origin_id, * from campaign_hours) k
  full join (
    select workspace_id, origin_id, hour, ${join(hourCounters.map((name) => sql`sum(${raw(name)})::bigint as ${raw(name)}`))}
    from (
      select workspace_id, campaign_id as origin_id, ${hourOf(sql`min(time)`)} as hour, 1 as sent, 0 as opens,
        0 as clicks, 0 as unsubscribes, 0 as complaints
      from message_events
      where campaign_id is not null and type in ('delivered', 'deferred', 'bounced', 'failed', 'complained')
      group by workspace_id, campaign_id, message_id
      union all
      select workspace_id, campaign_id, ${hourOf(sql`time`)}, 0, ${times("opened")}, ${times("clicked")}, 0,
        ${times("complained")}
      from message_events where campaign_id is not null and type in ('opened', 'clicked', 'complained')
      union all
      select workspace_id, campaign_id, ${hourOf(sql`unsubscribed_at`)}, 0, 0, 0, 1, 0
      from campaign_recipients where unsubscribed_at is not null
    ) done group by workspace_id, origin_id, hour) c
    using (workspace_id, origin_id, hour) ${comparison(hourCounters)}
  where v.kept <> v.counted and not ${isOlderThanLog}
    and (workspace_id, origin_id) in (select workspace_id, campaign_id from campaign_counters)`;

/** Differences in the counters by link. */
const miscountsByLink = sql`
  select 'campaign_links ' || index, origin_id, null, v.*
  from (select campaign_id as origin_id, * from campaign_links) k
  left join (
    select workspace_id, campaign_id as origin_id, link_index as index, sum(coalesce(times, 1))::bigint as click_count,
      count(distinct message_id)::bigint as unique_click_count
    from message_events where campaign_id is not null and type = 'clicked' group by 1, 2, 3) c
    using (workspace_id, origin_id, index) ${comparison(["click_count", "unique_click_count"])}
  where v.kept <> v.counted and not ${isOlderThanLog}`;

/** Differences in the counters of steps: results, and what recipients did. */
const stepCounters = [...storedStatuses, "sent", "unique_opens", "unique_clicks", "unsubscribed"];
const miscountsByStep = sql`
  select 'autoresponder_step ' || step_id, origin_id, null, v.*
  from (select autoresponder_id as origin_id, * from autoresponder_step_counters) k
  left join (
    select r.workspace_id, r.step_id, ${byStatus}, ${wasAttempted} as sent, count(r.first_opened_at)::bigint as unique_opens,
      count(r.first_clicked_at)::bigint as unique_clicks, count(r.unsubscribed_at)::bigint as unsubscribed
    from autoresponder_mails r join messages m on m.workspace_id = r.workspace_id and m.id = r.message_id
    group by 1, 2) c
    using (workspace_id, step_id) ${comparison(stepCounters)}
  where v.kept <> v.counted and not ${isOlderThanLog}`;

const parts: Readonly<Record<BulkOrigin, readonly Sql[]>> = {
  campaign: [miscountsByDomain, miscountsByHour, miscountsByLink],
  autoresponder: [miscountsByStep],
};

/** At most 1,000 differences; empty when all counters are right. One statement, so that all rows are of one snapshot. */
export function findOriginMiscounts(db: Queryable, origin: BulkOrigin): Promise<OriginMiscount[]> {
  const { recipients, counters: kept, originId } = tablesOf[origin];
  return db.rows(sql`
    with log as materialized (
      select (select id from messages order by id limit 1) as oldest,
        (select created_at from messages order by id limit 1) as since
    ), older as materialized (
      ${olderOf[origin]}
    ), mail as (
      select workspace_id, origin_id, ${byStatus}, ${wasAttempted} as sent
      from messages where source = ${origin} group by 1, 2
    ), people as (
      select workspace_id, ${originId} as origin_id, count(first_opened_at)::bigint as unique_opens,
        count(first_clicked_at)::bigint as unique_clicks, count(unsubscribed_at)::bigint as unsubscribed
      from ${recipients} group by 1, 2
    ), done as (
      select workspace_id, origin_id,
        coalesce(sum(coalesce(times, 1)) filter (where type = 'opened'), 0)::bigint as opens,
        coalesce(sum(coalesce(times, 1)) filter (where type = 'clicked'), 0)::bigint as clicks,
        coalesce(sum(coalesce(times, 1)) filter (where type = 'machine_opened'), 0)::bigint as machine_opens,
        coalesce(sum(coalesce(times, 1)) filter (where type = 'machine_clicked'), 0)::bigint as machine_clicks,
        count(*) filter (where type in
          ('delivered', 'bounced', 'complained', 'opened', 'clicked', 'unsubscribed'))::bigint as activities
      from ${eventsOf[origin]} e group by 1, 2
    ), lost as (
      select workspace_id, origin_id, count(*)::bigint as hard_bounced from ${hardBouncesOf[origin]} b group by 1, 2
    ), counted as (
      select workspace_id, origin_id, ${names(counters)}
      from mail left join people using (workspace_id, origin_id) left join done using (workspace_id, origin_id)
      left join lost using (workspace_id, origin_id)
    ), in_all as (
      select ${origin} as counter_of, origin_id, null as domain, v.*
      from (select ${originId} as origin_id, * from ${kept}) k
      left join counted c using (workspace_id, origin_id) ${comparison(counters)}
      where v.kept <> v.counted and not ${isOlderThanLog}
    )
    ${join([sql`select * from in_all`, ...parts[origin]], " union all ")}
    limit 1000`);
}
