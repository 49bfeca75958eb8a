/** What is known of a mail that a campaign sent. */
import sql from "sql-template-tag";
import type { Queryable } from "../../../platform/database/pool.ts";
import type { WorkspaceId } from "../../../platform/ids.ts";

export interface SentMail {
  readonly campaign_id: string;
  readonly email: string;
  /** As they are now; null, as the fields below, when the person is not there any more. */
  readonly first_name: string | null;
  readonly last_name: string | null;
  readonly custom_fields: Readonly<Record<string, unknown>> | null;
}

export function findSentMail(
  db: Queryable,
  workspaceId: WorkspaceId,
  messageId: string,
): Promise<SentMail | undefined> {
  return db.row(sql`
    select m.origin_id as campaign_id, coalesce(s.email, m.localpart || '@' || m.domain) as email, s.first_name,
      s.last_name, s.custom_fields
    from messages m
    left join campaign_recipients r on r.workspace_id = m.workspace_id and r.message_id = m.id
    left join subscribers s on s.workspace_id = m.workspace_id and s.id = r.subscriber_id
    where m.workspace_id = ${workspaceId} and m.id = ${messageId} and m.source = 'campaign'`);
}
