/** Opens, clicks and unsubscribes in the tables of campaigns and autoresponders, inside the caller's transaction. */
import sql, { empty } from "sql-template-tag";
import type { PersonEngagement } from "#audience/subscribers/engagement-store.ts";
import type { Engaged } from "#messages/record-engagement.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import {
  type BulkOrigin,
  type CounterTable,
  listOfMailSql,
  stepCounters,
  tablesOf,
} from "#sending/bulk-origin-tables-store.ts";

/** A message with the opens and clicks of this batch. */
export interface EngagedRecipient extends Omit<PersonEngagement, "score"> {
  readonly originId: string | null;
  readonly messageId: string;
}

/**
 * Marks recipients who opened or clicked, and returns whether it was the first time. A click counts as an open too, because
 * some mail programs load no images.
 * @param engaged without machines
 */
export function updateEngagedRecipients(
  tx: Queryable,
  origin: BulkOrigin,
  engaged: readonly Engaged[],
): Promise<EngagedRecipient[]> {
  const { recipients, originId } = tablesOf[origin];
  const column = <Value>(read: (one: Engaged) => Value) => engaged.map(read);
  return tx.rows(sql`
    with done as (
      select workspace_id, message_id, coalesce(sum(times) filter (where kind = 'opened'), 0)::int as opens,
        coalesce(sum(times) filter (where kind = 'clicked'), 0)::int as clicks,
        min(time) as opened_at, min(time) filter (where kind = 'clicked') as clicked_at
      from unnest(${column((one) => one.workspaceId)}::uuid[], ${column((one) => one.messageId)}::uuid[],
        ${column((one) => one.kind)}::text[], ${column((one) => one.time)}::timestamptz[],
        ${column((one) => one.times)}::int[]) as e (workspace_id, message_id, kind, time, times)
      group by workspace_id, message_id
    ), locked as materialized (
      select r.workspace_id, r.${originId}, r.subscriber_id, r.message_id, opens, clicks, opened_at, clicked_at,
        r.first_opened_at is null as is_first_open,
        clicked_at is not null and r.first_clicked_at is null as is_first_click,
        r.first_opened_at is null and r.first_clicked_at is null as is_first
      from ${recipients} r join done d on d.workspace_id = r.workspace_id and d.message_id = r.message_id
      order by r.workspace_id, r.message_id for update of r
    ), marked as (
      update ${recipients} r
      set first_opened_at = coalesce(r.first_opened_at, l.opened_at),
        first_clicked_at = coalesce(r.first_clicked_at, l.clicked_at)
      from locked l
      where (is_first_open or is_first_click) and r.workspace_id = l.workspace_id and r.message_id = l.message_id
    )
    select m.workspace_id as "workspaceId", m.${originId} as "originId", m.message_id as "messageId", m.subscriber_id as "subscriberId",
      o.mailing_list_id as "mailingListId", opens, clicks, opened_at as "openedAt", clicked_at as "clickedAt",
      is_first_open as "isFirstOpen", is_first_click as "isFirstClick", is_first as "isFirst"
    from locked m left join ${listOfMailSql(sql`m.${originId}`, sql`m.message_id`)} o on true`);
}

/**
 * The engagement score of subscribers, 0 to 100: over their last 20 messages, opens and clicks relative to the maximum; a
 * click counts three times an open. The weight of a message halves every 60 days:
 *
 *     100 × Σ wᵢ (openedᵢ + 3 clickedᵢ) / Σ 4 wᵢ,   wᵢ = 2 ^ (−ageᵢ / 60 days)
 */
export async function engagementScores(
  db: Queryable,
  people: readonly { readonly workspaceId: WorkspaceId; readonly subscriberId: string }[],
  now: Date,
): Promise<number[]> {
  const rows = await db.rows<{ score: number | null }>(sql`
    select score
    from unnest(${people.map((one) => one.workspaceId)}::uuid[], ${people.map((one) => one.subscriberId)}::uuid[])
      with ordinality as p (workspace_id, subscriber_id, position)
    cross join lateral (
      select round(100 * sum(w * ((first_opened_at is not null)::int + 3 * (first_clicked_at is not null)::int))
        / sum(4 * w))::int as score
      from (
        select first_opened_at, first_clicked_at,
          -- The id begins with the message's time in milliseconds. The age is capped so that no weight becomes 0.
          2 ^ (-least(36500,
            (${now.getTime()}::float8 - ('x' || translate(left(message_id::text, 13), '-', ''))::bit(48)::bigint)
            / 86400000) / 60) as w
        from (
          select message_id, first_opened_at, first_clicked_at from campaign_recipients
          where workspace_id = p.workspace_id and subscriber_id = p.subscriber_id
          union all
          select message_id, first_opened_at, first_clicked_at from autoresponder_mails
          where workspace_id = p.workspace_id and subscriber_id = p.subscriber_id) r
        order by message_id desc limit 20
      ) newest
    ) scored
    order by position`);
  return rows.map(({ score }) => score ?? 0);
}

/** The CTE `event` with the opens and clicks, for the statements below. */
const eventsSql = (engaged: readonly Engaged[]) => {
  const column = <Value>(read: (one: Engaged) => Value) => engaged.map(read);
  return sql`
    event as materialized (
      select * from unnest(${column((one) => one.workspaceId)}::uuid[],
        ${column((one) => one.campaignId ?? one.autoresponderId)}::uuid[], ${column((one) => one.messageId)}::uuid[],
        ${column((one) => one.kind)}::text[], ${column((one) => one.isMachine)}::boolean[],
        ${column((one) => one.time)}::timestamptz[], ${column((one) => one.times)}::int[],
        ${column((one) => one.linkIndex)}::smallint[])
        as e (workspace_id, origin_id, message_id, kind, is_machine, time, times, link_index)
    )`;
};

/** Updates the counters. Their locks are taken first and cover the rows of hours and links, so no deadlock is possible. */
export async function countEngagementTotals(
  tx: Queryable,
  { counters, originId }: CounterTable,
  engaged: readonly Engaged[],
  recipients: readonly EngagedRecipient[],
): Promise<void> {
  const firsts = (read: (recipient: EngagedRecipient) => boolean) =>
    sql`${recipients.map((recipient) => Number(read(recipient)))}::int[]`;
  await tx.run(sql`
    with ${eventsSql(engaged)}, done as (
      select workspace_id, origin_id, coalesce(sum(times) filter (where kind = 'opened' and not is_machine), 0) as opens,
        coalesce(sum(times) filter (where kind = 'clicked' and not is_machine), 0) as clicks,
        coalesce(sum(times) filter (where kind = 'opened' and is_machine), 0) as machine_opens,
        coalesce(sum(times) filter (where kind = 'clicked' and is_machine), 0) as machine_clicks,
        count(*) filter (where not is_machine) as activities
      from event group by workspace_id, origin_id
    ), firsts as (
      select workspace_id, origin_id, sum(opened) as opened, sum(clicked) as clicks
      from unnest(${recipients.map((one) => one.workspaceId)}::uuid[],
        ${recipients.map((one) => one.originId)}::uuid[], ${firsts((one) => one.isFirstOpen)},
        ${firsts((one) => one.isFirstClick)}) as f (workspace_id, origin_id, opened, clicked)
      group by workspace_id, origin_id
    ), locked as materialized (
      select c.workspace_id, c.${originId} as origin_id
      from ${counters} c join done d on d.workspace_id = c.workspace_id and d.origin_id = c.${originId}
      order by c.workspace_id, c.${originId} for update of c
    )
    update ${counters} c
    set opens = c.opens + d.opens, clicks = c.clicks + d.clicks, machine_opens = c.machine_opens + d.machine_opens,
      machine_clicks = c.machine_clicks + d.machine_clicks, activities = c.activities + d.activities,
      unique_opens = c.unique_opens + coalesce(f.opened, 0), unique_clicks = c.unique_clicks + coalesce(f.clicks, 0)
    from locked l join done d using (workspace_id, origin_id) left join firsts f using (workspace_id, origin_id)
    where c.workspace_id = l.workspace_id and c.${originId} = l.origin_id`);
}

/** Updates the counters by hour and by link, in a transaction that has locked the campaigns' counters. */
export async function countCampaignEngagements(tx: Queryable, engaged: readonly Engaged[]): Promise<void> {
  if (engaged.every(({ isMachine }) => isMachine)) return;
  await tx.run(sql`
    with ${eventsSql(engaged)}, hours as (
      insert into campaign_hours as h (workspace_id, campaign_id, hour, opens, clicks)
      select e.workspace_id, e.origin_id, date_trunc('hour', time, 'UTC'),
        coalesce(sum(times) filter (where kind = 'opened'), 0), coalesce(sum(times) filter (where kind = 'clicked'), 0)
      from event e join campaign_counters c on c.workspace_id = e.workspace_id and c.campaign_id = e.origin_id
      where not is_machine
      group by 1, 2, 3 order by 1, 2, 3
      on conflict (workspace_id, campaign_id, hour) do update
      set opens = h.opens + excluded.opens, clicks = h.clicks + excluded.clicks
    ), new_clicks as (
      insert into campaign_link_clicks (workspace_id, campaign_id, index, message_id)
      select distinct workspace_id, origin_id, link_index, message_id
      from event where kind = 'clicked' and not is_machine
      on conflict do nothing
      returning workspace_id, campaign_id, index
    ), clicks as (
      select workspace_id, origin_id as campaign_id, link_index as index, sum(times) as clicks
      from event where kind = 'clicked' and not is_machine group by 1, 2, 3
    ), uniques as (
      select workspace_id, campaign_id, index, count(*) as clicks from new_clicks group by 1, 2, 3
    )
    update campaign_links l
    set click_count = l.click_count + c.clicks, unique_click_count = l.unique_click_count + coalesce(u.clicks, 0)
    from clicks c left join uniques u using (workspace_id, campaign_id, index)
    where l.workspace_id = c.workspace_id and l.campaign_id = c.campaign_id and l.index = c.index`);
}

/**
 * Marks the recipient who unsubscribed by a message, and counts it once.
 * @returns whether this call counted it
 */
export async function countUnsubscribed(
  tx: Queryable,
  origin: BulkOrigin,
  workspaceId: WorkspaceId,
  messageId: string,
  now: Date,
): Promise<boolean> {
  const { recipients, counters, originId } = tablesOf[origin];
  const hours = sql`, hours as (
      insert into campaign_hours as h (workspace_id, campaign_id, hour, unsubscribes)
      select workspace_id, campaign_id, date_trunc('hour', ${now}::timestamptz, 'UTC'), 1 from marked
      on conflict (workspace_id, campaign_id, hour) do update set unsubscribes = h.unsubscribes + 1
    )`;
  const isOfCampaign = origin === "campaign";
  const row = await tx.row<{ step_id: string | null }>(sql`
    with marked as (
      update ${recipients} set unsubscribed_at = ${now}
      where workspace_id = ${workspaceId} and message_id = ${messageId} and unsubscribed_at is null
      returning workspace_id, ${originId}, ${isOfCampaign ? sql`null::uuid` : sql`step_id`} as step_id
    )${isOfCampaign ? hours : empty}
    update ${counters} c set unsubscribed = c.unsubscribed + 1, activities = c.activities + 1
    from marked m where c.workspace_id = m.workspace_id and c.${originId} = m.${originId}
    returning m.step_id`);
  if (row !== undefined && !isOfCampaign) {
    await tx.run(sql`
      update ${stepCounters.counters} set unsubscribed = unsubscribed + 1, activities = activities + 1
      where workspace_id = ${workspaceId} and step_id = ${row.step_id}`);
  }
  return row !== undefined;
}
