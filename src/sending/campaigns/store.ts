/**
 * The table of campaigns: reading, creating, replacing and deleting. Status changes are in transitions-store.ts; which
 * campaign uses a list, segment, sender or domain is in in-use-store.ts.
 */
import sql, { empty, join, raw, type Sql } from "sql-template-tag";
import type { LastCampaign } from "#audience/mailing-lists/stats-from-daily-counters.ts";
import { type DeletedOrigin, insertOriginName } from "#messages/deleted-origins-store.ts";
import { attachmentsJson } from "#messages/message/attachment.ts";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceRowLimit } from "#platform/database/row-limit-store.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { withSize } from "#sending/emails/read-attachments.ts";
import { lockMediaIn } from "#sending/media/media-use.ts";
import { type AudienceOf, segmentsOf } from "./audience-segments.ts";
import type { Campaign, CampaignSettings, CampaignStatus, CampaignSummary } from "./campaign.ts";
import { type ColumnType, campaignFieldNames, campaignFields, contentFieldNames } from "./campaign-fields.ts";

/** `part` of `whole`; 0 when whole is 0, at most 1: a message may be opened and bounce afterwards. */
const rate = (part: Sql, whole: Sql) =>
  sql`case when ${whole} > 0 then least(1, (${part})::float8 / (${whole})) else 0 end`;

const delivered = sql`(coalesce(n.delivered, 0) + coalesce(n.complained, 0))`;

/** The number of messages when the expansion is complete; until then the larger of estimate and messages so far. */
const shownRecipients = sql`
  case when c.expanded_at is not null or c.status = 'cancelled' then c.total_recipients
    else greatest(c.estimated_recipients, c.total_recipients) end`;

/** Why a sending campaign makes no messages; null when it does, or when its messages only wait for receivers. */
const waitingReason = sql`
  case when c.status <> 'sending' then null when w.is_suspended then 'workspace_suspended'
    when c.waits_for_cap then 'hourly_cap' end`;

/** Whether someone has asked for approval of the campaign `c` as it is now. */
export const isToApprove = sql`(c.status = 'draft' and c.approval_requested_at is not null and c.approval_revision = c.revision)`;

/** Columns of a CampaignSummary, from the tables in campaignsWithJoins. */
const summary = sql`
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
  ${rate(sql`n.unsubscribed`, delivered)} as unsubscribe_rate, c.revision, c.created_at, c.updated_at,
  case when ${isToApprove} then c.approval_requested_at end as approval_requested_at,
  case when ${isToApprove} then c.approval_requested_by end as approval_requested_by,
  case when ${isToApprove} then c.approval_message end as approval_message`;

/** Columns of a Campaign that a CampaignSummary does not have. */
const content = (without?: Without) => sql`
  ${join(
    contentFieldNames.map((name) => contentColumn(name, without)),
    ", ",
  )}, c.warnings`;

/** Large values that a reader does not need: all of the content, or only the Base64 of attachments. */
export const withouts = ["content", "attachments"] as const;
export type Without = (typeof withouts)[number];

const largeFields: readonly string[] = ["html_content", "text_content", "mjml", "design"];

function contentColumn(name: (typeof contentFieldNames)[number], without?: Without): Sql {
  const column = raw(name);
  if (campaignFields[name].column === "files") {
    return without === undefined
      ? sql`coalesce(c.${column}, '[]') as ${column}`
      : sql`${filesWithoutContent} as ${column}`;
  }
  return without === "content" && largeFields.includes(name) ? sql`null as ${column}` : sql`c.${column}`;
}

/**
 * Attachments without content, with their sizes in bytes, which follow from the length of the Base64 and its padding. Only
 * campaigns that were stored before the column existed have their attachments read.
 */
const filesWithoutContent = sql`
  case when c.attachment_files is not null then c.attachment_files
    when coalesce(c.attachments, '[]') = '[]' then '[]' else (
    select jsonb_agg(file - 'content' || jsonb_build_object('content', '', 'size',
      length(file ->> 'content') / 4 * 3 - 2 + length(rtrim(right(file ->> 'content', 2), '='))) order by position)
    from jsonb_array_elements(c.attachments) with ordinality as f (file, position)) end`;

const campaignsWithJoins = sql`
  from campaigns c
  join workspaces w on w.id = c.workspace_id
  left join campaign_counters n on n.workspace_id = c.workspace_id and n.campaign_id = c.id
  left join mailing_lists l on l.workspace_id = c.workspace_id and l.id = c.mailing_list_id
  left join segments g on g.workspace_id = c.workspace_id and g.id = c.segment_id`;

/** Includes sent campaigns. With more, lists of campaigns and sums over their contents would become slow. */
export const campaignRoom: WorkspaceRowLimit = {
  table: sql`campaigns`,
  counted: sql`and deleted_at is null`,
  what: "campaigns",
  most: 10_000,
};

/** Whether the campaign `c` is not deleted. */
const isThere = sql`c.deleted_at is null`;

/** Times of a campaign that lists can be limited to and sorted by. */
const times = {
  created: sql`c.created_at`,
  scheduled: sql`c.scheduled_at`,
  sent: sql`c.sent_at`,
};
export const campaignTimes = ["created", "scheduled", "sent"] as const satisfies (keyof typeof times)[];
export const campaignSorts = [...campaignTimes, "name"] as const;

export interface CampaignOrder {
  /** Default: created. */
  readonly sort?: (typeof campaignSorts)[number] | undefined;
  /** Default: from the newest, and from A. */
  readonly order?: "asc" | "desc" | undefined;
}

/** Campaigns without the time by which they are sorted come last. */
function orderSql({ sort = "created", order = sort === "name" ? "asc" : "desc" }: CampaignOrder): Sql {
  const key = sort === "name" ? sql`lower(c.name)` : times[sort];
  const direction = order === "asc" ? sql`asc` : sql`desc`;
  return sql`${key} ${direction} nulls last, c.id ${direction}`;
}

export interface CampaignFilter {
  readonly status?: CampaignStatus | undefined;
  /** The time that `since` and `until` limit; default: created. */
  readonly date?: keyof typeof times | undefined;
  /** Inclusive. */
  readonly since?: Date | undefined;
  /** Exclusive. */
  readonly until?: Date | undefined;
  /** A part of name or subject, case-insensitive. */
  readonly search?: string | undefined;
}

const matching = (
  workspaceId: WorkspaceId,
  { status, search, date = "created", since, until }: CampaignFilter,
) => sql`
  ${since === undefined ? empty : sql`${times[date]} >= ${since} and`}
  ${until === undefined ? empty : sql`${times[date]} < ${until} and`}
  c.workspace_id = ${workspaceId} and ${isThere} ${status === undefined ? empty : sql`and c.status = ${status}`}
  ${search === undefined ? empty : sql`and position(lower(${search}) in lower(c.name || ' ' || c.subject)) > 0`}`;

export function listCampaigns(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: CampaignFilter & CampaignOrder,
  page: Page,
): Promise<CampaignSummary[]> {
  return db.rows(sql`
    select ${summary} ${campaignsWithJoins} where ${matching(workspaceId, filter)}
    order by ${orderSql(filter)} limit ${page.limit} offset ${page.offset}`);
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

/** @param without large values to leave out: texts and design are null then, and the content of attachments is empty */
export async function findCampaign(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  without?: Without,
): Promise<Campaign | undefined> {
  // Prepared: clients poll a sending campaign, and planning takes twice as long as executing.
  const campaign = await db.row<Campaign>(
    sql`
    select ${summary}, ${content(without)} ${campaignsWithJoins}
    where c.workspace_id = ${workspaceId} and c.id = ${id} and ${isThere}`,
    `find campaign${without === undefined ? "" : ` without ${without}`}`,
  );
  if (campaign === undefined || without !== undefined) return campaign;
  return { ...campaign, attachments: campaign.attachments.map(withSize) };
}

/** What status checks need, without the content, which may be larger than 15 MB. */
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

export async function insertCampaign(
  db: Queryable,
  workspaceId: WorkspaceId,
  campaign: CampaignSettings & { readonly id: string },
  now: Date,
): Promise<void> {
  const mediaIds = await lockMediaIn(db, workspaceId, campaign.html_content);
  await db.run(sql`
    insert into campaigns (workspace_id, id, created_at, updated_at, media_ids, ${settingNames})
    values (${workspaceId}, ${campaign.id}, ${now}, ${now}, ${mediaIds}, ${settingValues(campaign)})`);
}

/** The revision of a campaign, which no other request changes before the transaction ends; undefined if there is none. */
export function lockRevision(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<Pick<Campaign, "revision"> | undefined> {
  return tx.row(sql`
    select c.revision from campaigns c
    where c.workspace_id = ${workspaceId} and c.id = ${id} and ${isThere} for update`);
}

/** Replaces a draft. False when the campaign is not a draft. */
export async function updateDraft(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  settings: CampaignSettings,
  now: Date,
): Promise<boolean> {
  const mediaIds = await lockMediaIn(db, workspaceId, settings.html_content);
  const updated = await db.run(sql`
    update campaigns
    set (${settingNames}) = (${settingValues(settings)}), revision = revision + 1, updated_at = ${now},
      media_ids = ${mediaIds},
      mailing_list_name = case when mailing_list_id = ${settings.mailing_list_id}::uuid then mailing_list_name end,
      segment_name = case when segment_id = ${settings.segment_id}::uuid then segment_name end
    where workspace_id = ${workspaceId} and id = ${id} and status = 'draft'`);
  return updated > 0;
}

/**
 * Changes some settings of a draft; columns that are not named keep what they have, so that large values are not written
 * again. False when the campaign is not a draft in this revision.
 */
export async function changeDraft(
  db: Queryable,
  workspaceId: WorkspaceId,
  { id, revision }: Pick<Campaign, "id" | "revision">,
  changes: Partial<CampaignSettings>,
  audience: AudienceOf | null,
  now: Date,
): Promise<boolean> {
  const { warnings, total_recipients: estimate, mailing_list_id: list, segment_id: segment } = changes;
  const set = campaignFieldNames.flatMap((name) => {
    const value = changes[name];
    return value === undefined ? [] : [sql`${raw(name)} = ${stored[campaignFields[name].column](value)}`];
  });
  if (changes.attachments !== undefined) {
    set.push(sql`attachment_files = ${json(withoutContent(changes.attachments))}`);
  }
  if (changes.html_content !== undefined) {
    set.push(sql`media_ids = ${await lockMediaIn(db, workspaceId, changes.html_content)}`);
  }
  if (warnings !== undefined) set.push(sql`warnings = ${json(warnings)}`);
  if (estimate !== undefined) set.push(sql`estimated_recipients = ${estimate}::bigint`);
  if (audience !== null) set.push(sql`audience_segments = ${segmentsOf(audience)}::uuid[]`);
  // The stored names belong to the former list and segment.
  if (list !== undefined) {
    set.push(sql`mailing_list_name = case when mailing_list_id = ${list}::uuid then mailing_list_name end`);
  }
  if (segment !== undefined) {
    set.push(sql`segment_name = case when segment_id = ${segment}::uuid then segment_name end`);
  }
  const changed = await db.run(sql`
    update campaigns set revision = revision + 1, updated_at = ${now}, ${join(set)}
    where workspace_id = ${workspaceId} and id = ${id} and status = 'draft' and revision = ${revision}
      and deleted_at is null`);
  return changed > 0;
}

const settingNames = sql`${join(campaignFieldNames.map((name) => raw(name)))}, warnings, estimated_recipients,
  audience_segments, attachment_files`;

function settingValues(campaign: CampaignSettings): Sql {
  const values = campaignFieldNames.map((name) => stored[campaignFields[name].column](campaign[name]));
  return sql`${join(values)}, ${json(campaign.warnings)}, ${campaign.total_recipients}::bigint,
    ${segmentsOf(campaign)}::uuid[], ${json(withoutContent(campaign.attachments))}`;
}

const json = (value: unknown) => sql`${value === null ? null : JSON.stringify(value)}::jsonb`;

/** Attachments without their sizes, which follow from their content. */
const storedFiles = (files: Campaign["attachments"]) => files.map(({ size: _size, ...file }) => file);

const withoutContent = (files: Campaign["attachments"]) => files.map((file) => ({ ...file, content: "" }));

/** A value as its column takes it. */
const stored: Readonly<Record<ColumnType, (value: CampaignSettings[keyof CampaignSettings]) => Sql>> = {
  text: (value) => sql`${value}`,
  uuid: (value) => sql`${value}::uuid`,
  integer: (value) => sql`${value}::integer`,
  boolean: (value) => sql`${value}::boolean`,
  timestamptz: (value) => sql`${value}::timestamptz`,
  jsonb: json,
  json: (value) => sql`${value === null ? null : JSON.stringify(value)}::json`,
  files: (value) =>
    sql`convert_from(${attachmentsJson(storedFiles(value as Campaign["attachments"]))}, 'UTF8')::jsonb`,
};

/**
 * Deletes a campaign; its messages stay in the log with its name. A campaign that may have messages is only marked as
 * deleted, for its deferred messages and for the links in sent mails, and is purged when its last message has left the log
 * (purge-deleted-store.ts). A paused campaign is cancelled.
 * @returns false when it does not exist or is sending
 */
export async function removeCampaign(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  now: Date,
): Promise<boolean> {
  // Locked by a separate statement: one that waited for the row lock would not see counters inserted meanwhile.
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

/** For each list, its newest campaign that was sent or is sending. */
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

/** The list that a campaign was sent to, or will be; undefined without one, or when it was deleted. */
export async function findAudienceList(
  db: Queryable,
  workspaceId: WorkspaceId,
  campaignId: string,
): Promise<string | undefined> {
  const row = await db.row<{ id: string }>(sql`
    select l.id from campaigns c join mailing_lists l
      on l.workspace_id = c.workspace_id and l.id = coalesce(c.audience_list_id, c.mailing_list_id)
    where c.workspace_id = ${workspaceId} and c.id = ${campaignId} and not l.is_going`);
  return row?.id;
}
