/** Queries of the pre-send check: the campaigns of leased messages, stopped campaigns, contents, and recipients. */
import sql from "sql-template-tag";
import { suppressionSql } from "#audience/suppression-lists/suppression-check.ts";
import type { StoredAttachment } from "#messages/message/attachment.ts";
import { textArray, uuidArray } from "#platform/database/binary-arrays.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { type BulkOrigin, tablesOf } from "#sending/bulk-origin-tables-store.ts";
import type { Campaign, CampaignStatus } from "#sending/campaigns/campaign.ts";
import type { AutoPauseCounts } from "#sending/campaigns/lifecycle/auto-pause.ts";
import { autoPauseColumns } from "#sending/campaigns/lifecycle/auto-pause-counts-store.ts";
import { isUnpaidFor } from "#sending/campaigns/transitions-store.ts";

export interface LeasedCampaign extends AutoPauseCounts {
  readonly workspace_id: WorkspaceId;
  readonly id: string;
  readonly status: CampaignStatus;
  readonly is_deleted: boolean;
  readonly from_email: string;
  readonly audience_list_id: string | null;
  readonly segment_id: string | null;
}

/** The present state of campaigns. Campaigns that no longer exist are missing. */
export function listLeasedCampaigns(
  db: Queryable,
  asked: readonly { readonly workspaceId: WorkspaceId; readonly id: string }[],
): Promise<LeasedCampaign[]> {
  return db.rows(
    sql`
    select c.workspace_id, c.id, case when c.status = 'paused' and ${isUnpaidFor} then 'sending' else c.status end as status,
      c.deleted_at is not null as is_deleted, c.from_email, c.audience_list_id,
      case when c.recipient_type = 'segment' then c.segment_id end as segment_id, ${autoPauseColumns}
    from unnest(${asked.map((one) => one.workspaceId)}::uuid[], ${asked.map((one) => one.id)}::uuid[])
      as asked (workspace_id, id)
    join campaigns c using (workspace_id, id)
    join campaign_counters n on n.workspace_id = c.workspace_id and n.campaign_id = c.id`,
    "leased campaigns",
  );
}

/**
 * Campaigns whose messages must not be sent: paused after they started, or of a suspended workspace, or cancelled within
 * the last minutes. Workers drop what they have leased of them, and do not lease messages of paused ones.
 */
export async function listHaltedIds(db: Queryable): Promise<{ paused: string[]; cancelled: string[] }> {
  const rows = await db.rows<{ id: string; status: string }>(
    sql`
    select id, status from campaigns
    where status = 'paused' and sent_at is not null and not ${isUnpaidFor}
    union all
    select c.id, 'paused' from workspaces w
    join campaigns c on c.workspace_id = w.id and c.status in ('sending', 'sent')
    join campaign_counters n on n.workspace_id = c.workspace_id and n.campaign_id = c.id and n.queued + n.deferred > 0
    where w.is_suspended
    union all
    select id, status from campaigns
    where status = 'cancelled' and sent_at is not null and completed_at > now() - interval '10 minutes'`,
    "halted campaigns",
  );
  const of = (status: string) => rows.filter((row) => row.status === status).map(({ id }) => id);
  return { paused: of("paused"), cancelled: of("cancelled") };
}

/**
 * Whether a message waits because its campaign is paused, by the rule of listHaltedIds, or its autoresponder is inactive. Mail
 * of a campaign that is paused because of plan or balance is paid for, and still sent.
 */
export async function isHeldByOrigin(
  db: Queryable,
  workspaceId: WorkspaceId,
  { source, origin_id: id }: { readonly source: string; readonly origin_id: string | null },
): Promise<boolean> {
  const row = await db.row<{ is_held: boolean }>(sql`
    select case ${source}
      when 'campaign' then exists (
        select from campaigns
        where workspace_id = ${workspaceId} and id = ${id} and status = 'paused' and not ${isUnpaidFor})
      when 'autoresponder' then exists (
        select from autoresponders where workspace_id = ${workspaceId} and id = ${id} and status = 'inactive')
      else false end as is_held`);
  return row?.is_held === true;
}

/** The sending IP or routing rule of a campaign; undefined when it does not exist. */
export function findCampaignRoute(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<{ readonly virtualMtaIp: string | null; readonly routingRuleId: string | null } | undefined> {
  return db.row(sql`
    select virtual_mta_ip as "virtualMtaIp", routing_rule_id as "routingRuleId" from campaigns
    where workspace_id = ${workspaceId} and id = ${id}`);
}

/** A campaign's content, with all that its mail needs. */
export interface CampaignToSend
  extends Pick<
    Campaign,
    | "id"
    | "name"
    | "message_type"
    | "phone_field_name"
    | "subject"
    | "html_content"
    | "text_content"
    | "from_email"
    | "from_name"
    | "reply_to"
    | "url_domain_id"
    | "sender_email"
    | "use_custom_headers"
    | "custom_headers"
    | "mailing_list_name"
  > {
  readonly workspace_id: WorkspaceId;
  readonly audience_list_id: string | null;
  readonly tracks_opens: boolean;
  readonly tracks_clicks: boolean;
  readonly timezone: string;
  /** Attachments are large, and read separately (findAttachments). */
  readonly has_attachments: boolean;
}

export function findCampaignToSend(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<CampaignToSend | undefined> {
  return db.row(sql`
    select c.workspace_id, c.id, c.name, c.message_type, c.phone_field_name, c.subject, c.html_content, c.text_content,
      coalesce(jsonb_array_length(c.attachments), 0) > 0 as has_attachments, c.from_email,
      coalesce(c.from_name, c.default_from_name) as from_name, coalesce(c.reply_to, c.default_reply_to) as reply_to,
      c.url_domain_id, c.sender_email, c.use_custom_headers, c.custom_headers, c.mailing_list_name, c.audience_list_id,
      coalesce(c.tracks_opens, false) as tracks_opens, coalesce(c.tracks_clicks, false) as tracks_clicks, w.timezone
    from campaigns c join workspaces w on w.id = c.workspace_id
    where c.workspace_id = ${workspaceId} and c.id = ${id}`);
}

/** The attachments of every mail of the campaign. */
export async function findAttachments(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<StoredAttachment[]> {
  const row = await db.row<{ readonly attachments: StoredAttachment[] }>(sql`
    select coalesce(attachments, '[]') as attachments from campaigns
    where workspace_id = ${workspaceId} and id = ${id}`);
  return row?.attachments ?? [];
}

/** The recipient of a message, and the suppression scopes that apply to it. */
export interface RecipientQuestion {
  readonly workspaceId: WorkspaceId;
  readonly messageId: string;
  /** Normalised like suppression entries. */
  readonly address: string;
  readonly domain: string;
  readonly mailingListId: string | null;
  readonly segmentId: string | null;
  /** Whether the content uses custom fields. */
  readonly needsFields: boolean;
}

export interface RecipientRow {
  readonly message_id: string;
  /** Null when the subscriber was deleted. */
  readonly email: string | null;
  readonly first_name: string | null;
  readonly last_name: string | null;
  readonly custom_fields: Readonly<Record<string, unknown>> | null;
  /** The status on the campaign's list, or in the workspace when there is no list; null when no longer a member. */
  readonly status: string | null;
  /** The description of the suppression; null when not suppressed. */
  readonly suppressed: string | null;
}

/** One row for each message, in any order. */
export function listRecipients(
  db: Queryable,
  origin: BulkOrigin,
  asked: readonly RecipientQuestion[],
): Promise<RecipientRow[]> {
  const column = <Value>(read: (question: RecipientQuestion) => Value) => asked.map(read);
  return db.rows(
    sql`
    select asked.message_id, s.email, s.first_name, s.last_name,
      case when asked.needs_fields then s.custom_fields end as custom_fields,
      case when asked.mailing_list_id is null then s.status else m.status end as status, verdict.detail as suppressed
    from unnest(
      ${uuidArray(column((one) => one.workspaceId))}::uuid[], ${uuidArray(column((one) => one.messageId))}::uuid[],
      ${textArray(column((one) => one.address))}::text[], ${textArray(column((one) => one.domain))}::text[],
      ${uuidArray(column((one) => one.mailingListId))}::uuid[], ${uuidArray(column((one) => one.segmentId))}::uuid[],
      ${column((one) => one.needsFields)}::boolean[], ${column(() => false)}::boolean[])
      as asked (workspace_id, message_id, address, domain, mailing_list_id, segment_id, needs_fields, is_platform)
    left join ${tablesOf[origin].recipients} r on r.workspace_id = asked.workspace_id and r.message_id = asked.message_id
    -- Both columns are of r: with the workspace of asked, the planner would use the second column alone.
    left join subscribers s on s.workspace_id = r.workspace_id and s.id = r.subscriber_id
    left join memberships m on m.workspace_id = r.workspace_id and m.mailing_list_id = asked.mailing_list_id
      and m.subscriber_id = r.subscriber_id
    left join ${suppressionSql(sql`asked`)} as verdict on true`,
    `${origin} recipients`,
  );
}
