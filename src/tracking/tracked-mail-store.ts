/** SQL by which tracking reads a mail and its recipient. Changes are made by messages/record-engagement.ts and by audience/. */
import sql, { type Sql } from "sql-template-tag";
import type { MessageStatus } from "#messages/message/status.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { TrackedMail } from "./link-tokens.ts";

/** A link of a mail, with the state of the mail. */
export interface MailLink {
  /**
   * The link as written in the campaign or in the step of an autoresponder, with merge tags, or the target that a campaign's
   * link was given since (sending/campaigns/links). Null when there is none of that
   * index, and for transactional mail, whose links carry their target.
   */
  readonly url: string | null;
  readonly is_personal: boolean | null;
  /** The status of the mail. */
  readonly status: MessageStatus;
  /** When the mail got that status. */
  readonly updated_at: Date;
}

export function findLink(
  db: Queryable,
  { workspaceId, messageId }: TrackedMail,
  index: number,
): Promise<MailLink | undefined> {
  return db.row(sql`
    select l.url, l.is_personal, m.status, m.updated_at
    from messages m
    left join lateral (
      select coalesce(target_url, url) as url, is_personal from campaign_links
      where m.source = 'campaign' and workspace_id = ${workspaceId} and campaign_id = m.origin_id and index = ${index}
      union all
      select k.url, k.is_personal from autoresponder_mails a
      join autoresponder_links k on k.workspace_id = a.workspace_id and k.content_id = a.content_id and k.index = ${index}
      where m.source = 'autoresponder' and a.workspace_id = ${workspaceId} and a.message_id = m.id) l on true
    where m.workspace_id = ${workspaceId} and m.id = ${messageId}`);
}

/** The recipient of a mail. */
export interface MailRecipient {
  readonly address: string;
  /** The list that the mail was sent to; null when its campaign had none. */
  readonly mailing_list_id: string | null;
  /** Null also when the list was deleted. */
  readonly list_name: string | null;
  /** Null when the subscriber was deleted. */
  readonly subscriber_id: string | null;
  /** Whether the recipient still gets mail like this one. */
  readonly is_subscribed: boolean;
  /** When the recipient unsubscribed by this mail; null if not. */
  readonly left_at: Date | null;
  /** Whether that unsubscription is still in effect, unchanged since. */
  readonly is_as_left: boolean;
}

/** Undefined for mail that is not bulk mail: it has no unsubscribe link. */
export function findRecipient(
  db: Queryable,
  { workspaceId, messageId }: TrackedMail,
): Promise<MailRecipient | undefined> {
  return db.row(sql`
    select mail.address, mail.mailing_list_id, l.name as list_name, s.id as subscriber_id,
      exists (
        select from memberships b
        where b.workspace_id = ${workspaceId} and b.subscriber_id = s.id and b.status = 'active'
          and (mail.mailing_list_id is null or b.mailing_list_id = mail.mailing_list_id)) as is_subscribed,
      mail.left_at,
      exists (
        select from (${leftSql(workspaceId, sql`s.id`, sql`mail.mailing_list_id`, sql`mail.left_at`)}) l) as is_as_left
    from (
      select m.localpart || '@' || m.domain as address, coalesce(c.audience_list_id, n.mailing_list_id) as mailing_list_id,
        coalesce(r.subscriber_id, a.subscriber_id) as subscriber_id,
        coalesce(r.unsubscribed_at, a.unsubscribed_at) as left_at
      from messages m
      left join campaigns c on c.workspace_id = m.workspace_id and c.id = m.origin_id
      left join campaign_recipients r on r.workspace_id = m.workspace_id and r.message_id = m.id
      left join autoresponder_mails a on a.workspace_id = m.workspace_id and a.message_id = m.id
      left join autoresponder_contents n on n.workspace_id = a.workspace_id and n.id = a.content_id
      where m.workspace_id = ${workspaceId} and m.id = ${messageId} and m.source in ('campaign', 'autoresponder')
    ) mail
    left join mailing_lists l on l.workspace_id = ${workspaceId} and l.id = mail.mailing_list_id
    -- A subscriber who was deleted and added again is a new row with the same address.
    left join subscribers s on s.workspace_id = ${workspaceId} and s.id = coalesce(
      (select id from subscribers where workspace_id = ${workspaceId} and id = mail.subscriber_id),
      (select id from subscribers where workspace_id = ${workspaceId} and email = lower(mail.address)))`);
}

/**
 * Locks the recipient's row of a mail until the transaction ends. It is locked before the list and the subscriber, because opens
 * and clicks lock recipients first, too; another order would cause deadlocks.
 */
export async function lockRecipient(tx: Queryable, { workspaceId, messageId }: TrackedMail): Promise<void> {
  const ofMail = sql`where workspace_id = ${workspaceId} and message_id = ${messageId} for no key update`;
  await tx.row(sql`
    select (select true from campaign_recipients ${ofMail}), (select true from autoresponder_mails ${ofMail})`);
}

/**
 * The membership changes by which a subscriber leaves a list, or every list, in the form of
 * audience/subscribers/memberships. They include memberships that are unsubscribed already, as that module expects.
 */
export function leavingSql(
  workspaceId: WorkspaceId,
  subscriberId: string,
  mailingListId: string | null,
): Sql {
  return sql`
    select mailing_list_id, subscriber_id, 'unsubscribed' as status from memberships
    where workspace_id = ${workspaceId} and subscriber_id = ${subscriberId} and status in ('active', 'unsubscribed')
      and (${mailingListId}::uuid is null or mailing_list_id = ${mailingListId})`;
}

/** The membership changes that undo one unsubscription, and nothing else. */
export function returningSql(workspaceId: WorkspaceId, { subscriberId, mailingListId, leftAt }: Left): Sql {
  return sql`
    select mailing_list_id, subscriber_id, 'active' as status
    from (${leftSql(workspaceId, sql`${subscriberId}::uuid`, sql`${mailingListId}::uuid`, sql`${leftAt}::timestamptz`)}) l`;
}

/** One unsubscription: from one list, or from all (null). */
export interface Left {
  readonly subscriberId: string;
  readonly mailingListId: string | null;
  readonly leftAt: Date;
}

const leftSql = (workspaceId: WorkspaceId, subscriberId: Sql, mailingListId: Sql, leftAt: Sql): Sql => sql`
  select mailing_list_id, subscriber_id from memberships
  where workspace_id = ${workspaceId} and subscriber_id = ${subscriberId} and status = 'unsubscribed'
    and unsubscribed_at = ${leftAt} and (${mailingListId} is null or mailing_list_id = ${mailingListId})`;
