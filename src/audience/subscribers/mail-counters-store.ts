/** Counts sent, delivered, bounced and complained mail for people and for the days of their lists. */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";

/**
 * Locks people by their addresses, for a transaction that counts mail of people and then changes these people: all
 * transactions lock people before their figures.
 * @param addresses a relation with the columns workspace_id and email
 */
export async function lockPeopleByAddress(tx: Queryable, addresses: Sql): Promise<void> {
  await tx.run(sql`
    select from subscribers s join ${addresses} a on a.workspace_id = s.workspace_id and a.email = s.email
    order by s.workspace_id, s.email for no key update of s`);
}

/**
 * Updates the figures of people in the caller's transaction; locks them in the order of their ids, as all transactions
 * do.
 * @param mail a relation with the columns workspace_id, subscriber_id, time, and sent, delivered, bounced, complained
 * (the differences)
 */
export async function countMailOfPeople(tx: Queryable, mail: Sql): Promise<void> {
  await tx.rows(
    sql`
    with change as materialized (
      select workspace_id, subscriber_id, sum(sent) as sent, sum(delivered) as delivered, sum(bounced) as bounced,
        sum(complained) as complained, max(time) filter (where sent > 0) as sent_at
      from ${mail} m group by workspace_id, subscriber_id
    ), locked as materialized (
      select t.workspace_id, t.subscriber_id from subscriber_stats t join change using (workspace_id, subscriber_id)
      order by t.workspace_id, t.subscriber_id for no key update of t
    )
    update subscriber_stats t
    set sent_count = t.sent_count + c.sent, delivered_count = t.delivered_count + c.delivered,
      bounce_count = t.bounce_count + c.bounced, complaint_count = t.complaint_count + c.complained,
      first_sent_at = coalesce(t.first_sent_at, c.sent_at), last_sent_at = greatest(t.last_sent_at, c.sent_at)
    from change c join locked l using (workspace_id, subscriber_id)
    where t.workspace_id = c.workspace_id and t.subscriber_id = c.subscriber_id`,
    "count mail of people",
  );
}

/**
 * Locks the days of lists that several statements of the caller's transaction update, in the order that all
 * transactions use.
 * @param lists a relation with the columns workspace_id, mailing_list_id and time
 */
export async function lockDays(tx: Queryable, lists: Sql): Promise<void> {
  await tx.run(sql`
    insert into list_days as d (workspace_id, mailing_list_id, day)
    select distinct m.workspace_id, m.mailing_list_id, (m.time at time zone w.timezone)::date
    from ${lists} m
    join workspaces w on w.id = m.workspace_id
    -- A list that was deleted has no days.
    join mailing_lists l on l.workspace_id = m.workspace_id and l.id = m.mailing_list_id
    order by 1, 2, 3
    on conflict (workspace_id, mailing_list_id, day) do update set day = excluded.day`);
}

/**
 * Updates the counters of lists on the days in their workspaces' time zones.
 * @param mail a relation with the columns workspace_id, mailing_list_id, sent, delivered, bounced, complained and time
 */
export async function countMailOfLists(tx: Queryable, mail: Sql): Promise<void> {
  await tx.rows(
    sql`
    insert into list_days as d (workspace_id, mailing_list_id, day, sent_count, delivered_count, bounce_count,
      complaint_count)
    select m.workspace_id, m.mailing_list_id, (m.time at time zone w.timezone)::date, sum(sent), sum(delivered),
      sum(bounced), sum(complained)
    from ${mail} m
    join workspaces w on w.id = m.workspace_id
    -- A list that was deleted has no days.
    join mailing_lists l on l.workspace_id = m.workspace_id and l.id = m.mailing_list_id
    group by 1, 2, 3 order by 1, 2, 3
    on conflict (workspace_id, mailing_list_id, day) do update
    set sent_count = d.sent_count + excluded.sent_count, delivered_count = d.delivered_count + excluded.delivered_count,
      bounce_count = d.bounce_count + excluded.bounce_count,
      complaint_count = d.complaint_count + excluded.complaint_count`,
    "count mail of lists",
  );
}
