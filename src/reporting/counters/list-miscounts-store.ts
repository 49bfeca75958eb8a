/**
 * Recounts the results of the mail to mailing lists from the log, and lists where the sum of their days (list_days)
 * differs; a day is one of the time zone that the workspace had then. Lists older than a shortened log are not
 * compared, nor are joins and leaves, which are not in the log.
 */
import sql, { join, raw } from "sql-template-tag";
import { columnsSql, sumsSql } from "#messages/counters/counters.ts";
import { quarterOf } from "#messages/counters/deltas-store.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { wasAttempted } from "#sending/campaigns/counters/miscounts-store.ts";
import { logSince, type ReportMiscount } from "./miscounts-store.ts";

const outcomes = sql`
  ${wasAttempted} as sent_count, count(*) filter (where status in ('delivered', 'complained')) as delivered_count,
  count(*) filter (where status = 'bounced') as bounce_count,
  count(*) filter (where status = 'complained') as complaint_count`;
const engagement = sql`
  count(first_opened_at) as open_count, count(first_clicked_at) as click_count,
  count(coalesce(first_opened_at, first_clicked_at)) as engaged_count`;

const counters = [
  "sent_count",
  "delivered_count",
  "bounce_count",
  "complaint_count",
  "open_count",
  "click_count",
  "engaged_count",
];
const sums = sumsSql(counters);

/** At most 1,000 differences. One statement, so that counters and log are read at the same moment. */
export function findListMiscounts(db: Queryable): Promise<ReportMiscount[]> {
  return db.rows(sql`
    with mail as materialized (
      select workspace_id, source, origin_id, min(created_at) as oldest, ${outcomes}
      from messages where source <> 'platform' group by workspace_id, source, origin_id
    ), log as materialized (
      select ${logSince(sql`oldest`)} as since from (select ${quarterOf(sql`min(oldest)`)} as oldest from mail) o
    ), people as (
      select workspace_id, campaign_id, ${engagement} from campaign_recipients group by workspace_id, campaign_id
    ), of_lists as (
      select m.workspace_id, c.audience_list_id as mailing_list_id, ${columnsSql(counters)}
      from mail m join campaigns c on c.workspace_id = m.workspace_id and c.id = m.origin_id
      left join people p on p.workspace_id = c.workspace_id and p.campaign_id = c.id
      where m.source = 'campaign'
      union all
      select m.workspace_id, c.mailing_list_id, ${outcomes}, ${engagement}
      from messages m join autoresponder_mails a on a.workspace_id = m.workspace_id and a.message_id = m.id
      join autoresponder_contents c on c.workspace_id = a.workspace_id and c.id = a.content_id
      where m.source = 'autoresponder' group by m.workspace_id, c.mailing_list_id
    ), counted as (
      select workspace_id, mailing_list_id, ${sums} from of_lists group by workspace_id, mailing_list_id
    ), kept as (
      select workspace_id, mailing_list_id, ${sums} from list_days group by workspace_id, mailing_list_id
    )
    select l.workspace_id, 'list_days ' || l.id as counter_of, v.*
    from mailing_lists l
    left join kept k on k.workspace_id = l.workspace_id and k.mailing_list_id = l.id
    left join counted c on c.workspace_id = l.workspace_id and c.mailing_list_id = l.id
    cross join log
    cross join lateral (values ${join(
      counters.map(
        (counter) => sql`(${counter}, coalesce(k.${raw(counter)}, 0), coalesce(c.${raw(counter)}, 0))`,
      ),
    )}) v (counter, kept, counted)
    where v.kept <> v.counted and (since = '-infinity' or l.created_at >= since)
    limit 1000`);
}
