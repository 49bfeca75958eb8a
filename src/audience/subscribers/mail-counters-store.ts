/** Counts sent, delivered, bounced and complained mail on the person's row and on the days of their lists. */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";

/**
 * Updates the counters of people in the caller's transaction; locks them in the order of their addresses, as all
 * transactions do.
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
      select s.workspace_id, s.id from subscribers s
      join change c on c.workspace_id = s.workspace_id and c.subscriber_id = s.id
      order by s.workspace_id, s.email for no key update of s
    )
    update subscribers s
    set sent_count = s.sent_count + c.sent, delivered_count = s.delivered_count + c.delivered,
      bounce_count = s.bounce_count + c.bounced, complaint_count = s.complaint_count + c.complained,
      first_sent_at = coalesce(s.first_sent_at, c.sent_at), last_sent_at = greatest(s.last_sent_at, c.sent_at)
    from change c join locked l on l.workspace_id = c.workspace_id and l.id = c.subscriber_id
    where s.workspace_id = c.workspace_id and s.id = c.subscriber_id`,
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
