/** What came of a campaign. Figures are read from counters; what is listed is read in pages along an index. */
import sql, { empty, join, raw, type Sql } from "sql-template-tag";
import type { DomainRow } from "#messages/domain-stats.ts";
import { canBeHeld, countHeldSql, storedAs } from "#messages/log-filter-store.ts";
import { type MessageStatus, storedStatuses } from "#messages/message/status.ts";
import { CLOCK_DIFFERENCE_SECONDS } from "#platform/clock.ts";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { firstIdAt, timeOfId, type WorkspaceId } from "#platform/ids.ts";
import { type ActivityEvent, shownTypes } from "./activity.ts";

/** An hour that had any news. */
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

/** What was not suppressed or cancelled. */
const tried = sql`queued + deferred + delivered + complained + bounced + failed`;

/** The largest first. */
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

/** How many domains there are, and messages in all of them. */
export async function countDomains(
  db: Queryable,
  workspaceId: WorkspaceId,
  campaignId: string,
): Promise<{ domains: number; messages: number }> {
  const counted = await db.row<{ domains: number; messages: number }>(sql`
    select count(*)::int as domains, coalesce(sum(${tried}), 0)::int as messages from campaign_domains
    where workspace_id = ${workspaceId} and campaign_id = ${campaignId} and ${tried} > 0`);
  return counted ?? { domains: 0, messages: 0 };
}

/** Ids of a campaign's messages, newest first: the order of recipients. */
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
 * Between which ids a campaign's messages are; undefined when it has none. Messages are made in the order of recipients,
 * but the steps of an expansion may be made on machines whose clocks differ.
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

/** The first id of so many seconds later. */
const idNear = (id: string, seconds: number) => firstIdAt(new Date(timeOfId(id).getTime() + seconds * 1_000));

/**
 * How many messages of a campaign show a status, or are there at all: known from counters, but for those that a worker
 * holds, which show as being sent. One statement, because workers take messages up and put them back all the time.
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

/** Newest first. Each type is read along the index, and no further than the page goes. */
export function listActivities(
  db: Queryable,
  workspaceId: WorkspaceId,
  campaignId: string,
  page: Page,
): Promise<ActivityRow[]> {
  const most = page.limit + page.offset;
  const ofType = (type: string) => sql`(
    select e.id, e.message_id, e.type, e.time, e.detail, e.mx_host, coalesce(e.times, 1) as times from message_events e
    where e.workspace_id = ${workspaceId} and e.campaign_id = ${campaignId} and e.type = ${type}
    order by e.time desc, e.id desc limit ${most})`;
  return db.rows(sql`
    with page as materialized (
      select * from (${join(shownTypes.map(ofType), " union all ")}) e
      order by e.time desc, e.id desc limit ${page.limit} offset ${page.offset}
    )
    select page.*, m.localpart || '@' || m.domain as email
    from page join messages m on m.workspace_id = ${workspaceId} and m.id = page.message_id
    order by page.time desc, page.id desc`);
}

/** As many as the feed has: a counter. */
export async function countActivities(
  db: Queryable,
  workspaceId: WorkspaceId,
  campaignId: string,
): Promise<number> {
  const counted = await db.row<{ activities: number }>(sql`
    select activities from campaign_counters where workspace_id = ${workspaceId} and campaign_id = ${campaignId}`);
  return counted?.activities ?? 0;
}

export interface LinkRow {
  readonly index: number;
  readonly url: string;
  readonly is_personal: boolean;
  readonly click_count: number;
  readonly unique_click_count: number;
}

/** In the order of the mail. */
export function listLinks(db: Queryable, workspaceId: WorkspaceId, campaignId: string): Promise<LinkRow[]> {
  return db.rows(sql`
    select index, url, is_personal, click_count, unique_click_count from campaign_links
    where workspace_id = ${workspaceId} and campaign_id = ${campaignId} order by index`);
}
