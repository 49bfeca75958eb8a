/** Reads a message with everything that it was composed from. */
import sql from "sql-template-tag";
import type { LeasedMessage } from "#delivery/message/message.ts";
import { LARGE_BYTES } from "#delivery/queue/lease-order.ts";
import type { MessageSource, StoredStatus } from "#messages/message/status.ts";
import { submissionsOfSql } from "#messages/partitions/ids-span.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

type Composable = Pick<
  LeasedMessage,
  | "workspace_id"
  | "message_id"
  | "created_at"
  | "first_attempt_at"
  | "origin_id"
  | "from_email"
  | "from_name"
  | "to_name"
  | "localpart"
  | "domain"
  | "subject"
  | "is_large"
  | "html"
  | "text"
  | "attachments"
  | "particulars"
  | "raw"
  | "has_content"
>;

/** A message of the log, as a delivery worker would lease it. */
export interface KeptMessage extends Composable {
  readonly source: MessageSource;
  readonly status: StoredStatus;
  readonly is_sms: boolean;
  /** What capture mode stored: the octets as composed, and the envelope sender. */
  readonly captured: Buffer | null;
  readonly mail_from: string | null;
}

/**
 * The time of the first attempt is in the queue while the message waits. Later the time of its first result is used instead:
 * some seconds more.
 */
export function findKeptMessage(
  db: Queryable,
  workspaceId: WorkspaceId,
  messageId: string,
): Promise<KeptMessage | undefined> {
  return db.row(sql`
    select m.workspace_id, m.id as message_id, m.created_at, m.source, m.origin_id, m.from_email, m.localpart, m.domain,
      m.subject, m.status, m.is_sms, c.from_name, c.to_name,
      coalesce(c.particulars, s.particulars) as particulars, size.is_large,
      coalesce(q.first_attempt_at, (
        select e.time from message_events e
        where e.workspace_id = m.workspace_id and e.message_id = m.id and e.attempt is not null
        order by e.time limit 1)) as first_attempt_at,
      case when not size.is_large then coalesce(c.html, s.html) end as html,
      case when not size.is_large then coalesce(c.text, s.text) end as text,
      case when not size.is_large then coalesce(c.attachments, s.attachments) end as attachments,
      case when not size.is_large then s.raw end as raw,
      c.message_id is not null and (c.submission_id is null or s.id is not null) as has_content,
      i.raw as captured, i.mail_from
    from messages m
    left join delivery_queue q on q.workspace_id = m.workspace_id and q.message_id = m.id
    left join message_contents c on c.workspace_id = m.workspace_id and c.message_id = m.id
    left join submissions s on s.workspace_id = c.workspace_id and s.id = c.submission_id
      ${submissionsOfSql(sql`s.id`, [messageId])}
    left join captured_messages i on i.workspace_id = m.workspace_id and i.message_id = m.id
    cross join lateral (
      select coalesce(octet_length(coalesce(c.html, s.html)), 0) + coalesce(octet_length(coalesce(c.text, s.text)), 0)
        + coalesce(pg_column_size(coalesce(c.attachments, s.attachments)), 0) + coalesce(octet_length(s.raw), 0)
        > ${LARGE_BYTES} as is_large
    ) size
    where m.workspace_id = ${workspaceId} and m.id = ${messageId}`);
}
