/**
 * The table of campaigns: drafts, and what is shown of every campaign. (Its states are moved in transitions-store.ts; what
 * campaigns use is in uses-store.ts.)
 */
import sql, { empty, type Sql } from "sql-template-tag";
import type { LastCampaign } from "#audience/mailing-lists/list-stats.ts";
import { attachmentsJson } from "#messages/message/attachment.ts";
import { type DeletedOrigin, insertOriginName } from "#messages/origin-names-store.ts";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceRowLimit } from "#platform/database/row-limit-store.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { segmentsOf } from "./audience-segments.ts";
import type { Campaign, CampaignSettings, CampaignStatus, CampaignSummary } from "./campaign.ts";

/** `part` of `whole`, 0 when there is none, and never above 1: what was opened may come back. */
const rate = (part: Sql, whole: Sql) =>
  sql`case when ${whole} > 0 then least(1, (${part})::float8 / (${whole})) else 0 end`;

const delivered = sql`(coalesce(n.delivered, 0) + coalesce(n.complained, 0))`;

/** The number of messages when no more are made; until then the estimate, or more when more are found. */
const shownRecipients = sql`
  case when c.expanded_at is not null or c.status = 'cancelled' then c.total_recipients
    else greatest(c.estimated_recipients, c.total_recipients) end`;

/** Why a campaign that is being sent makes no headway; null where it does, or only its messages wait for receivers. */
const waitingReason = sql`
  case when c.status <> 'sending' then null when w.is_suspended then 'workspace_suspended'
    when c.waits_for_cap then 'hourly_cap' end`;

/** Columns of a CampaignSummary, and those that a Campaign has beside them, of the tables in `campaigns`. */
export const summary = sql`
  c.id, c.name, c.subject, c.from_email, c.from_name, c.status, c.message_type, c.recipient_type, c.mailing_list_id,
  coalesce(case when c.mailing_list_id = coalesce(c.audience_list_id, c.mailing_list_id) then c.mailing_list_name end,
    l.name) as mailing_list_name, c.segment_id,
  coalesce(c.segment_name, g.name) as segment_name, c.scheduled_at, c.sent_at, c.completed_at, c.paused_at,
  c.pause_reason, ${waitingReason} as waiting_reason, w.timezone, ${shownRecipients} as total_recipients,
  json_build_object('suppressed', c.excluded_suppressed, 'unsubscribed', c.excluded_unsubscribed,
    'invalid', c.excluded_invalid, 'duplicate', c.excluded_duplicate) as excluded,
  coalesce(n.sent, 0) as sent_count, ${delivered} as delivered_count, coalesce(n.opens, 0) as open_count,
  coalesce(n.unique_opens, 0) as unique_open_count, coalesce(n.clicks, 0) as click_count,
  coalesce(n.unique_clicks, 0) as unique_click_count, coalesce(n.machine_opens, 0) as machine_opens,
  coalesce(n.machine_clicks, 0) as machine_clicks, coalesce(n.bounced, 0) as bounce_count,
  coalesce(n.complained, 0) as complaint_count, coalesce(n.unsubscribed, 0) as unsubscribe_count,
  coalesce(n.failed, 0) as failed_count, coalesce(n.suppressed, 0) as suppressed_count,
  ${rate(sql`n.unique_opens`, delivered)} as open_rate, ${rate(sql`n.unique_clicks`, delivered)} as click_rate,
  ${rate(sql`n.bounced`, sql`n.sent`)} as bounce_rate, ${rate(sql`n.complained`, delivered)} as complaint_rate,
  ${rate(sql`n.unsubscribed`, delivered)} as unsubscribe_rate, c.created_at, c.updated_at`;

export const content = sql`
  c.reply_to, c.phone_field_name, c.segment_conditions, c.html_content, c.text_content, c.enable_open_tracking,
  c.enable_click_tracking, c.url_domain_id, c.use_custom_headers, c.custom_headers, c.virtual_mta_ip, c.routing_rule_id,
  c.bounce_email, c.sender_email, coalesce(c.attachments, '[]') as attachments, c.warnings`;

export const campaigns = sql`
  from campaigns c
  join workspaces w on w.id = c.workspace_id
  left join campaign_counters n on n.workspace_id = c.workspace_id and n.campaign_id = c.id
  left join mailing_lists l on l.workspace_id = c.workspace_id and l.id = c.mailing_list_id
  left join segments g on g.workspace_id = c.workspace_id and g.id = c.segment_id`;

/** Sent ones included. Above this lists of campaigns and sums over their contents would become slow. */
export const campaignRoom: WorkspaceRowLimit = {
  table: sql`campaigns`,
  counted: sql`and deleted_at is null`,
  what: "campaigns",
  most: 10_000,
};

/** Of a campaign `c` that was not deleted. */
const isThere = sql`c.deleted_at is null`;

export interface CampaignFilter {
  readonly status?: CampaignStatus | undefined;
  /** Found anywhere in name or subject, in any case. */
  readonly search?: string | undefined;
}

const matching = (workspaceId: WorkspaceId, { status, search }: CampaignFilter) => sql`
  c.workspace_id = ${workspaceId} and ${isThere} ${status === undefined ? empty : sql`and c.status = ${status}`}
  ${search === undefined ? empty : sql`and position(lower(${search}) in lower(c.name || ' ' || c.subject)) > 0`}`;

/** Newest first. */
export function listCampaigns(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: CampaignFilter,
  page: Page,
): Promise<CampaignSummary[]> {
  return db.rows(sql`
    select ${summary} ${campaigns} where ${matching(workspaceId, filter)}
    order by c.created_at desc, c.id desc limit ${page.limit} offset ${page.offset}`);
}

export async function countCampaigns(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: CampaignFilter,
): Promise<number> {
  const row = await db.row<{ total: number }>(sql`
    select count(*) as total from campaigns c where ${matching(workspaceId, filter)}`);
  return row?.total ?? 0;
}

export function findCampaign(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<Campaign | undefined> {
  // Whoever watches a campaign asks for it again and again: to plan the statement takes twice as long as to carry it out.
  return db.row(
    sql`
    select ${summary}, ${content} ${campaigns} where c.workspace_id = ${workspaceId} and c.id = ${id} and ${isThere}`,
    "find campaign",
  );
}

/** What decides whether something can be done with a campaign, without its content, which may be 15 MB and more. */
export type CampaignState = Pick<Campaign, "name" | "status" | "sent_at">;

export function findCampaignState(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<CampaignState | undefined> {
  return db.row(sql`
    select c.name, c.status, c.sent_at from campaigns c
    where c.workspace_id = ${workspaceId} and c.id = ${id} and ${isThere}`);
}

/** As it was read by whoever is about to change it. */
export interface HeldCampaign extends Campaign {
  readonly revision: number;
}

export function findHeldCampaign(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<HeldCampaign | undefined> {
  return db.row(sql`
    select ${summary}, ${content}, c.revision ${campaigns}
    where c.workspace_id = ${workspaceId} and c.id = ${id} and ${isThere}`);
}

export async function insertCampaign(
  db: Queryable,
  workspaceId: WorkspaceId,
  campaign: CampaignSettings & { readonly id: string },
  now: Date,
): Promise<void> {
  await db.run(sql`
    insert into campaigns (workspace_id, id, created_at, updated_at, ${settingNames})
    values (${workspaceId}, ${campaign.id}, ${now}, ${now}, ${settingValues(campaign)})`);
}

/** Replaces a draft; says whether it was one. */
export async function updateDraft(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  settings: CampaignSettings,
  now: Date,
): Promise<boolean> {
  const updated = await db.run(sql`
    update campaigns
    set (${settingNames}) = (${settingValues(settings)}), revision = revision + 1, updated_at = ${now},
      mailing_list_name = case when mailing_list_id = ${settings.mailing_list_id}::uuid then mailing_list_name end,
      segment_name = case when segment_id = ${settings.segment_id}::uuid then segment_name end
    where workspace_id = ${workspaceId} and id = ${id} and status = 'draft'`);
  return updated > 0;
}

const settingNames = sql`name, subject, from_email, from_name, reply_to, message_type, phone_field_name, recipient_type,
  mailing_list_id, segment_id, segment_conditions, html_content, text_content, enable_open_tracking,
  enable_click_tracking, url_domain_id, use_custom_headers, custom_headers, virtual_mta_ip, routing_rule_id,
  bounce_email, sender_email, scheduled_at, attachments, warnings, estimated_recipients, audience_segments`;

function settingValues(campaign: CampaignSettings): Sql {
  const json = (value: unknown) => (value === null ? null : JSON.stringify(value));
  return sql`${campaign.name}, ${campaign.subject}, ${campaign.from_email}, ${campaign.from_name},
    ${campaign.reply_to}, ${campaign.message_type}, ${campaign.phone_field_name}, ${campaign.recipient_type},
    ${campaign.mailing_list_id}::uuid, ${campaign.segment_id}::uuid, ${json(campaign.segment_conditions)}::jsonb,
    ${campaign.html_content}, ${campaign.text_content}, ${campaign.enable_open_tracking}::boolean,
    ${campaign.enable_click_tracking}::boolean, ${campaign.url_domain_id}::uuid,
    ${campaign.use_custom_headers}::boolean, ${campaign.custom_headers}, ${campaign.virtual_mta_ip},
    ${campaign.routing_rule_id}::uuid, ${campaign.bounce_email}, ${campaign.sender_email},
    ${campaign.scheduled_at}::timestamptz, convert_from(${attachmentsJson(campaign.attachments)}, 'UTF8')::jsonb, ${json(campaign.warnings)}::jsonb,
    ${campaign.total_recipients}::integer, ${segmentsOf(campaign)}::uuid[]`;
}

/**
 * Its messages stay in the log with its name. One that may have messages is only marked, for what is deferred and for the
 * links in the mails that were sent; it goes with the last of them (remove-traces.ts). What waited in a paused one ends.
 * Says whether it was there and not being sent.
 */
export async function removeCampaign(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  now: Date,
): Promise<boolean> {
  // Whether it has begun is asked by a statement of its own: one that waited for the row would see what was before.
  await tx.run(sql`select from campaigns where workspace_id = ${workspaceId} and id = ${id} for update`);
  const itself = sql`c.workspace_id = ${workspaceId} and c.id = ${id} and c.status <> 'sending' and ${isThere}`;
  const hasBegun = sql`exists (
    select from campaign_counters n where n.workspace_id = ${workspaceId} and n.campaign_id = ${id})`;
  const removed = await tx.row<Required<DeletedOrigin>>(sql`
    with marked as (
      update campaigns c
      set deleted_at = ${now}, status = case when c.status = 'paused' then 'cancelled' else c.status end,
        completed_at = case when c.status = 'paused' then ${now} else c.completed_at end
      where ${itself} and ${hasBegun}
      returning id, name, status, sent_at
    ), gone as (
      delete from campaigns c where ${itself} and not ${hasBegun}
      returning id, name, case when status = 'paused' then 'cancelled' else status end as status, sent_at
    )
    select * from marked union all select * from gone`);
  if (removed) await insertOriginName(tx, workspaceId, "campaign", removed);
  return removed !== undefined;
}

/** The newest campaign of each list that was sent or is being sent. */
export async function listLastCampaigns(
  db: Queryable,
  workspaceId: WorkspaceId,
): Promise<ReadonlyMap<string, LastCampaign>> {
  const rows = await db.rows<LastCampaign & { readonly list_id: string }>(sql`
    select c.audience_list_id as list_id, c.id, c.name, c.subject, c.status, c.sent_at,
      ${rate(sql`n.unique_opens`, delivered)} as open_rate, ${rate(sql`n.unique_clicks`, delivered)} as click_rate
    from mailing_lists l
    cross join lateral (
      select * from campaigns c
      where c.workspace_id = l.workspace_id and c.audience_list_id = l.id and ${isThere}
      order by c.sent_at desc limit 1) c
    left join campaign_counters n on n.workspace_id = c.workspace_id and n.campaign_id = c.id
    where l.workspace_id = ${workspaceId}`);
  return new Map(rows.map(({ list_id, ...campaign }) => [list_id, campaign]));
}
