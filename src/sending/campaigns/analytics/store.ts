/** The SQL of campaign results. Counts are read from counters; lists are read in pages along an index. */
import sql, { empty, join, raw, type Sql } from "sql-template-tag";
import { mostLinks } from "#mail/html/tag-positions.ts";
import type { DomainRow } from "#messages/domain-stats-shape.ts";
import { canBeHeld, countHeldSql, storedAs } from "#messages/log-filter-store.ts";
import { type MessageStatus, storedStatuses } from "#messages/message/status.ts";
import { CLOCK_DIFFERENCE_SECONDS } from "#platform/clock.ts";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { firstIdAt, timeOfId, type WorkspaceId } from "#platform/ids.ts";
import { type LinkRow, linkColumns } from "#sending/campaigns/links/store.ts";
import { type ActivityEvent, shownTypes } from "./describe-activity.ts";

/** An hour with at least one count. */
export interface CampaignHour {
  readonly hour: Date;
  readonly sent: number;
  readonly opens: number;
  readonly clicks: number;
  readonly unsubscribes: number;
  readonly complaints: number;
}

/** Oldest first. */
export function listHours(
  db: Queryable,
  workspaceId: WorkspaceId,
  campaignId: string,
): Promise<CampaignHour[]> {
  return db.rows(sql`
    select hour, sent, opens, clicks, unsubscribes, complaints from campaign_hours
    where workspace_id = ${workspaceId} and campaign_id = ${campaignId} order by hour`);
}

/** Messages that were not suppressed or cancelled. */
const tried = sql`queued + deferred + delivered + complained + bounced + failed`;

/** Largest first. */
export function listDomains(
  db: Queryable,
  workspaceId: WorkspaceId,
  campaignId: string,
  page: Page,
): Promise<DomainRow[]> {
  return db.rows(sql`
    select domain, ${tried} as total_messages, delivered + complained as success, bounced, failed as failure,
      queued + deferred as still_trying
    from campaign_domains
    where workspace_id = ${workspaceId} and campaign_id = ${campaignId} and ${tried} > 0
    order by ${tried} desc, domain limit ${page.limit} offset ${page.offset}`);
}

/** The number of domains, and of messages over all of them. */
export async function countDomains(
  db: Queryable,
  workspaceId: WorkspaceId,
  campaignId: string,
): Promise<{ domains: number; messages: number }> {
  const counted = await db.row<{ domains: number; messages: number }>(sql`
    select count(*)::int as domains, coalesce(sum(${tried}), 0)::bigint as messages from campaign_domains
    where workspace_id = ${workspaceId} and campaign_id = ${campaignId} and ${tried} > 0`);
  return counted ?? { domains: 0, messages: 0 };
}

/** Ids of a campaign's messages in descending order of subscriber id, which is newest first. */
export function listMessageIds(
  db: Queryable,
  workspaceId: WorkspaceId,
  campaignId: string,
  page: Page,
): Promise<{ readonly id: string; readonly subscriber_id: string }[]> {
  return db.rows(sql`
    select message_id as id, subscriber_id from campaign_recipients
    where workspace_id = ${workspaceId} and campaign_id = ${campaignId}
      ${page.after === undefined ? empty : sql`and subscriber_id < ${page.after}`}
    order by subscriber_id desc limit ${page.limit} offset ${page.offset}`);
}

/**
 * The range of a campaign's message ids; undefined when it has none. Message ids have the order of subscriber ids, but
 * expansion steps may run on machines whose clocks differ, so the range is widened by that difference.
 */
export async function findIdSpan(
  db: Queryable,
  workspaceId: WorkspaceId,
  campaignId: string,
): Promise<{ readonly first: string; readonly last: string } | undefined> {
  const outermost = (direction: Sql) => sql`(
    select message_id as id from campaign_recipients
    where workspace_id = ${workspaceId} and campaign_id = ${campaignId} order by subscriber_id ${direction} limit 1)`;
  const made = await db.row<{ first: string; last: string }>(sql`
    select first.id as first, last.id as last
    from ${outermost(sql`asc`)} as first, ${outermost(sql`desc`)} as last`);
  return (
    made && {
      first: idNear(made.first, -CLOCK_DIFFERENCE_SECONDS),
      last: idNear(made.last, CLOCK_DIFFERENCE_SECONDS),
    }
  );
}

/** The lowest id at the time of an id plus `seconds`. */
const idNear = (id: string, seconds: number) => firstIdAt(new Date(timeOfId(id).getTime() + seconds * 1_000));

/**
 * The number of a campaign's messages with a status, or in all. It comes from counters, except for leased messages, which
 * are shown as `sending`. One statement, because workers lease and release messages all the time.
 */
export async function countShown(
  db: Queryable,
  workspaceId: WorkspaceId,
  campaignId: string,
  status?: MessageStatus,
): Promise<number> {
  const counted = await db.row<{ total: number }>(sql`
    select ${shownSql(workspaceId, campaignId, status)} as total from campaign_counters
    where workspace_id = ${workspaceId} and campaign_id = ${campaignId}`);
  return counted?.total ?? 0;
}

function shownSql(workspaceId: WorkspaceId, campaignId: string, status: MessageStatus | undefined): Sql {
  if (status === undefined)
    return join(
      storedStatuses.map((stored) => raw(stored)),
      " + ",
    );
  const held = countHeldSql(workspaceId, campaignId, storedAs(status));
  if (status === "sending") return held;
  return canBeHeld(status) ? sql`${raw(status)} - ${held}` : raw(status);
}

export interface ActivityRow extends ActivityEvent {
  readonly id: string;
  readonly email: string;
  readonly message_id: string;
  readonly time: Date;
}

/** Newest first. Each type is read along its index, up to the end of the page. */
export async function listActivities(
  db: Queryable,
  workspaceId: WorkspaceId,
  campaignId: string,
  page: Page,
): Promise<ActivityRow[]> {
  const span = await findIdSpan(db, workspaceId, campaignId);
  if (span === undefined) return [];
  const within = (id: Sql) => sql`and ${id} between ${span.first} and ${span.last}`;
  const most = page.limit + page.offset;
  const ofType = (type: string) => sql`(
    select e.id, e.message_id, e.type, e.time, e.detail, e.mx_host, coalesce(e.times, 1) as times from message_events e
    where e.workspace_id = ${workspaceId} and e.campaign_id = ${campaignId} and e.type = ${type}
      ${within(sql`e.message_id`)}
    order by e.time desc, e.id desc limit ${most})`;
  return db.rows(sql`
    with page as materialized (
      select * from (${join(shownTypes.map(ofType), " union all ")}) e
      order by e.time desc, e.id desc limit ${page.limit} offset ${page.offset}
    )
    select page.*, m.localpart || '@' || m.domain as email
    from page join messages m on m.workspace_id = ${workspaceId} and m.id = page.message_id ${within(sql`m.id`)}
    order by page.time desc, page.id desc`);
}

/** The length of the activity feed, from a counter. */
export async function countActivities(
  db: Queryable,
  workspaceId: WorkspaceId,
  campaignId: string,
): Promise<number> {
  const counted = await db.row<{ activities: number }>(sql`
    select activities from campaign_counters where workspace_id = ${workspaceId} and campaign_id = ${campaignId}`);
  return counted?.activities ?? 0;
}

/** When a link was clicked. */
export interface LinkActivity extends LinkRow {
  readonly first_clicked_at: Date | null;
  readonly last_clicked_at: Date | null;
  /** Hours with clicks, oldest first. */
  readonly hours: { readonly time: Date; readonly clicks: number }[];
}

/**
 * The clicks of one link, from the events of the message log; undefined for a link that the campaign does not have.
 * @param most hours, from the first click on
 */
export function findLinkActivity(
  db: Queryable,
  workspaceId: WorkspaceId,
  campaignId: string,
  index: number,
  most: number,
): Promise<LinkActivity | undefined> {
  return db.row(sql`
    with clicked as materialized (
      select date_trunc('hour', time, 'UTC') as hour, min(time) as first, max(time) as last,
        sum(coalesce(times, 1))::bigint as clicks
      from message_events
      where workspace_id = ${workspaceId} and campaign_id = ${campaignId} and type = 'clicked' and link_index = ${index}
      group by 1
    )
    select ${linkColumns},
      (select min(first) from clicked) as first_clicked_at, (select max(last) from clicked) as last_clicked_at,
      (select coalesce(jsonb_agg(jsonb_build_object(
          'time', to_char(hour at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS".000Z"'), 'clicks', clicks) order by hour), '[]')
        from clicked where hour < (select min(hour) from clicked) + make_interval(hours => ${most})) as hours
    from campaign_links
    where workspace_id = ${workspaceId} and campaign_id = ${campaignId} and index = ${index}`);
}

export async function hasLink(
  db: Queryable,
  workspaceId: WorkspaceId,
  campaignId: string,
  index: number,
): Promise<boolean> {
  const link = await db.row(sql`
    select from campaign_links
    where workspace_id = ${workspaceId} and campaign_id = ${campaignId} and index = ${index}`);
  return link !== undefined;
}

export interface CountedLink extends LinkRow {
  /** Links of the campaign. */
  readonly link_count: number;
}

/** The links with the most clicks, these first. */
export function listMostClicked(
  db: Queryable,
  workspaceId: WorkspaceId,
  campaignId: string,
  most: number,
): Promise<CountedLink[]> {
  const ofCampaign = sql`workspace_id = ${workspaceId} and campaign_id = ${campaignId}`;
  return db.rows(sql`
    select ${linkColumns}, (select count(*)::int from campaign_links where ${ofCampaign}) as link_count
    from campaign_links where ${ofCampaign} order by click_count desc, index limit ${most}`);
}

/** In their order in the mail. */
export function listLinks(db: Queryable, workspaceId: WorkspaceId, campaignId: string): Promise<LinkRow[]> {
  return db.rows(sql`
    select ${linkColumns} from campaign_links
    where workspace_id = ${workspaceId} and campaign_id = ${campaignId} order by index limit ${mostLinks}`);
}
