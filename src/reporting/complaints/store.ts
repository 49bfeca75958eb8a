/** The records of messages that were complained about, as messages/record-outcomes.ts writes them. */
import sql from "sql-template-tag";
import type { MessageSource } from "#messages/message/states.ts";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

export interface ComplaintRow {
  readonly id: string;
  readonly message_id: string;
  readonly email: string;
  readonly domain: string;
  readonly feedback_type: string;
  readonly provider: string | null;
  readonly source: MessageSource;
  readonly campaign_id: string | null;
  readonly origin_name: string;
  readonly created_at: Date;
}

/** Newest first. What is skipped is read from the index alone. */
export function listComplaints(
  db: Queryable,
  workspaceId: WorkspaceId,
  { limit, offset }: Page,
): Promise<ComplaintRow[]> {
  return db.rows(sql`
    select c.id, c.message_id, c.localpart || '@' || c.domain as email, c.domain, c.feedback_type, c.provider, c.source,
      c.campaign_id, c.origin_name, c.created_at
    from (
      select workspace_id, id from complaints where workspace_id = ${workspaceId}
      order by created_at desc, id desc limit ${limit} offset ${offset}) page
    join complaints c on c.workspace_id = page.workspace_id and c.id = page.id
    order by c.created_at desc, c.id desc`);
}
