/** Engagement with campaigns: the rows and figures of people, and the days of their lists. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** One person's engagement with one message, as counted now. */
export interface PersonEngagement {
  readonly workspaceId: WorkspaceId;
  readonly subscriberId: string;
  /** The list the message was sent to; null if it was sent to none. */
  readonly mailingListId: string | null;
  /** Tracking pixels loaded. */
  readonly opens: number;
  readonly clicks: number;
  /** A click counts as an open, too. */
  readonly openedAt: Date;
  readonly clickedAt: Date | null;
  /** Whether this is the first open of the message, its first click, or the first of either. */
  readonly isFirstOpen: boolean;
  readonly isFirstClick: boolean;
  readonly isFirst: boolean;
  /** The person's engagement score now, 0 to 100. */
  readonly score: number;
}

/**
 * Adds engagements in the caller's transaction. Locks people in the order of their addresses, then their figures in the
 * order of their ids, then days of lists, as all transactions do.
 */
export async function countEngagements(
  tx: Queryable,
  engagements: readonly PersonEngagement[],
  now: Date,
): Promise<void> {
  const column = <Value>(read: (one: PersonEngagement) => Value) => engagements.map(read);
  const number = (read: (one: PersonEngagement) => boolean) => column((one) => Number(read(one)));
  const workspaces = column((one) => one.workspaceId);
  const people = column((one) => one.subscriberId);
  const openedAt = column((one) => one.openedAt);
  const clickedAt = column((one) => one.clickedAt);
  await tx.run(sql`
    with done as (
      select workspace_id, subscriber_id, sum(opens) as opens, sum(clicks) as clicks, sum(first_opens) as first_opens,
        sum(first_clicks) as first_clicks, max(opened_at) as opened_at, max(clicked_at) as clicked_at,
        max(score) as score
      from unnest(${workspaces}::uuid[], ${people}::uuid[],
        ${column((one) => one.opens)}::int[], ${column((one) => one.clicks)}::int[],
        ${number((one) => one.isFirstOpen)}::int[], ${number((one) => one.isFirstClick)}::int[],
        ${openedAt}::timestamptz[], ${clickedAt}::timestamptz[], ${column((one) => one.score)}::smallint[])
        as d (workspace_id, subscriber_id, opens, clicks, first_opens, first_clicks, opened_at, clicked_at, score)
      group by workspace_id, subscriber_id
    ), locked as materialized (
      select s.workspace_id, s.id from subscribers s
      join done d on d.workspace_id = s.workspace_id and d.subscriber_id = s.id
      order by s.workspace_id, s.email for update of s
    )
    update subscribers s
    set open_count = s.open_count + d.opens, unique_open_count = s.unique_open_count + d.first_opens,
      click_count = s.click_count + d.clicks, unique_click_count = s.unique_click_count + d.first_clicks,
      last_opened_at = greatest(s.last_opened_at, d.opened_at),
      last_clicked_at = greatest(s.last_clicked_at, d.clicked_at), engagement_score = d.score
    from done d, locked l
    where s.workspace_id = d.workspace_id and s.id = d.subscriber_id and l.workspace_id = s.workspace_id and l.id = s.id`);
  await tx.run(sql`
    with done as (
      select workspace_id, subscriber_id, max(opened_at) as opened_at, max(clicked_at) as clicked_at
      from unnest(${workspaces}::uuid[], ${people}::uuid[], ${openedAt}::timestamptz[], ${clickedAt}::timestamptz[])
        as d (workspace_id, subscriber_id, opened_at, clicked_at)
      group by workspace_id, subscriber_id
    ), locked as materialized (
      select t.workspace_id, t.subscriber_id from subscriber_stats t join done using (workspace_id, subscriber_id)
      order by t.workspace_id, t.subscriber_id for no key update of t
    )
    update subscriber_stats t
    set last_opened_at = greatest(t.last_opened_at, d.opened_at),
      last_clicked_at = greatest(t.last_clicked_at, d.clicked_at)
    from done d join locked l using (workspace_id, subscriber_id)
    where t.workspace_id = d.workspace_id and t.subscriber_id = d.subscriber_id`);
  await tx.run(sql`
    insert into list_days as d (workspace_id, mailing_list_id, day, open_count, click_count, engaged_count)
    select t.workspace_id, mailing_list_id, (${now}::timestamptz at time zone w.timezone)::date,
      sum(first_opens), sum(first_clicks), sum(firsts)
    from unnest(${workspaces}::uuid[], ${column((one) => one.mailingListId)}::uuid[],
      ${number((one) => one.isFirstOpen)}::int[], ${number((one) => one.isFirstClick)}::int[],
      ${number((one) => one.isFirst)}::int[])
      as t (workspace_id, mailing_list_id, first_opens, first_clicks, firsts)
    join workspaces w on w.id = t.workspace_id
    -- A list that was deleted has no days.
    join mailing_lists using (workspace_id) where mailing_lists.id = mailing_list_id
    group by t.workspace_id, mailing_list_id, w.timezone
    having sum(first_opens) + sum(first_clicks) > 0
    order by t.workspace_id, mailing_list_id
    on conflict (workspace_id, mailing_list_id, day) do update
    set open_count = d.open_count + excluded.open_count, click_count = d.click_count + excluded.click_count,
      engaged_count = d.engaged_count + excluded.engaged_count`);
}

/** A person with the stored engagement score. */
export type ScoredPerson = Pick<PersonEngagement, "workspaceId" | "subscriberId" | "score">;

/** Those of these people whose score is above 0. */
export function listScored(
  db: Queryable,
  workspaceId: WorkspaceId,
  subscriberIds: readonly string[],
): Promise<ScoredPerson[]> {
  return db.rows(sql`
    select workspace_id as "workspaceId", id as "subscriberId", engagement_score as score from subscribers
    where workspace_id = ${workspaceId} and id = any(${subscriberIds}::uuid[]) and engagement_score > 0`);
}

/**
 * Sets scores that have not changed since they were read: a person who engaged in the meantime has a newer score. Locks
 * the people in the order of their addresses.
 * @returns how many were set
 */
export function updateScores(
  tx: Queryable,
  people: readonly (ScoredPerson & { readonly was: number })[],
): Promise<number> {
  return tx.run(sql`
    with locked as materialized (
      select s.workspace_id, s.id, n.score
      from unnest(${people.map((one) => one.workspaceId)}::uuid[], ${people.map((one) => one.subscriberId)}::uuid[],
        ${people.map((one) => one.was)}::smallint[], ${people.map((one) => one.score)}::smallint[])
        as n (workspace_id, id, was, score)
      join subscribers s on s.workspace_id = n.workspace_id and s.id = n.id and s.engagement_score = n.was
      order by s.workspace_id, s.email for no key update of s
    )
    update subscribers s set engagement_score = l.score
    from locked l where s.workspace_id = l.workspace_id and s.id = l.id`);
}
