/** What is known of a mail that a campaign sent. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

export interface SentMail {
  readonly campaign_id: string;
  /** The address that the mail went to. */
  readonly address: string;
  /** What the mail showed, as JSON, where the log keeps it (shown-values.ts). */
  readonly shown: string | null;
  /** The person's present values; null when the person is not there any more. */
  readonly email: string | null;
  readonly first_name: string | null;
  readonly last_name: string | null;
  readonly custom_fields: Readonly<Record<string, unknown>> | null;
}

/** Of a message `m` and its recipient `s`. */
export const sentMailColumns = sql`
  m.localpart || '@' || m.domain as address, m.shown, s.email, s.first_name, s.last_name, s.custom_fields`;

export function findSentMail(
  db: Queryable,
  workspaceId: WorkspaceId,
  messageId: string,
): Promise<SentMail | undefined> {
  return db.row(sql`
    select m.origin_id as campaign_id, ${sentMailColumns}
    from messages m
    left join campaign_recipients r on r.workspace_id = m.workspace_id and r.message_id = m.id
    left join subscribers s on s.workspace_id = m.workspace_id and s.id = r.subscriber_id
    where m.workspace_id = ${workspaceId} and m.id = ${messageId} and m.source = 'campaign'`);
}
