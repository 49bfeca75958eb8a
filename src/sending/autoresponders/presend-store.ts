/** Queries about the mail of autoresponders: for the pre-send check and for the web view. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { type SentMail, sentMailColumns } from "#sending/mail/find-sent-mail-store.ts";
import type { CampaignToSend } from "#sending/mail/presend-store.ts";
import type { AutoresponderStatus } from "./autoresponder.ts";

export interface LeasedAutoresponderMail {
  readonly message_id: string;
  readonly autoresponder_id: string;
  /** Null when the autoresponder was deleted. */
  readonly status: AutoresponderStatus | null;
  /** The autoresponder's present sender; an older message may have another. Null when the autoresponder was deleted. */
  readonly from_email: string | null;
  readonly content_id: string;
  readonly mailing_list_id: string;
  /** Whether the subscriber has been on the list without a break since the series began. */
  readonly has_stayed: boolean;
}

/** The present state of leased messages: autoresponder, sender, content and membership. */
export function listLeasedMail(
  db: Queryable,
  asked: readonly { readonly workspace_id: WorkspaceId; readonly message_id: string }[],
): Promise<LeasedAutoresponderMail[]> {
  return db.rows(
    sql`
    select m.message_id, m.autoresponder_id, a.status, a.from_email, m.content_id, c.mailing_list_id,
      coalesce(b.subscribed_at = r.member_since, true) as has_stayed
    from unnest(${asked.map((one) => one.workspace_id)}::uuid[], ${asked.map((one) => one.message_id)}::uuid[])
      as asked (workspace_id, message_id)
    join autoresponder_mails m on m.workspace_id = asked.workspace_id and m.message_id = asked.message_id
    join autoresponder_contents c on c.workspace_id = m.workspace_id and c.id = m.content_id
    left join autoresponders a on a.workspace_id = m.workspace_id and a.id = m.autoresponder_id
    left join autoresponder_runs r on r.workspace_id = m.workspace_id and r.autoresponder_id = m.autoresponder_id
      and r.subscriber_id = m.subscriber_id and r.occasion = m.occasion
    left join memberships b on b.workspace_id = m.workspace_id and b.mailing_list_id = c.mailing_list_id
      and b.subscriber_id = m.subscriber_id`,
    "leased autoresponder mail",
  );
}

/** A step's content in the form of a campaign's. Name and sender are empty when the autoresponder was deleted. */
export function findContentToSend(
  db: Queryable,
  workspaceId: WorkspaceId,
  contentId: string,
): Promise<CampaignToSend | undefined> {
  return db.row(sql`
    select c.workspace_id, c.id, coalesce(a.name, '') as name, 'email' as message_type, c.subject, c.html_content,
      c.text_content, false as has_attachments, coalesce(a.from_email, '') as from_email,
      coalesce(a.from_name, l.from_name) as from_name, coalesce(a.reply_to, l.reply_to_email) as reply_to,
      null as url_domain_id, null as sender_email, false as use_custom_headers, null as custom_headers,
      l.name as mailing_list_name, c.mailing_list_id as audience_list_id, c.tracks_opens, c.tracks_clicks, w.timezone
    from autoresponder_contents c
    join workspaces w on w.id = c.workspace_id
    left join autoresponders a on a.workspace_id = c.workspace_id and a.id = c.autoresponder_id
    left join mailing_lists l on l.workspace_id = c.workspace_id and l.id = c.mailing_list_id
    where c.workspace_id = ${workspaceId} and c.id = ${contentId}`);
}

/** `campaign_id` is the id of the content. */
export function findSentAutoresponderMail(
  db: Queryable,
  workspaceId: WorkspaceId,
  messageId: string,
): Promise<SentMail | undefined> {
  return db.row(sql`
    select a.content_id as campaign_id, ${sentMailColumns}
    from messages m
    join autoresponder_mails a on a.workspace_id = m.workspace_id and a.message_id = m.id
    left join subscribers s on s.workspace_id = m.workspace_id and s.id = a.subscriber_id
    where m.workspace_id = ${workspaceId} and m.id = ${messageId}`);
}
