/** The records of messages that bounced, as messages/record-outcomes.ts writes them. */
import sql from "sql-template-tag";
import type { Classification } from "#messages/message/outcome.ts";
import type { MessageSource } from "#messages/message/states.ts";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

export interface BounceRow {
  readonly id: string;
  readonly message_id: string;
  readonly email: string;
  readonly domain: string;
  readonly bounce_type: Classification["type"];
  readonly category: Classification["category"];
  readonly smtp_code: number | null;
  readonly enhanced_code: string | null;
  readonly error_message: string;
  readonly source: MessageSource;
  readonly campaign_id: string | null;
  readonly origin_name: string;
  readonly created_at: Date;
}

/** Newest first. What is skipped is read from the index alone. */
export function listBounces(
  db: Queryable,
  workspaceId: WorkspaceId,
  { limit, offset }: Page,
): Promise<BounceRow[]> {
  return db.rows(sql`
    select b.id, b.message_id, b.localpart || '@' || b.domain as email, b.domain, b.bounce_type, b.category, b.smtp_code,
      b.enhanced_code, b.error_message, b.source, b.campaign_id, b.origin_name, b.created_at
    from (
      select workspace_id, id from bounces where workspace_id = ${workspaceId}
      order by created_at desc, id desc limit ${limit} offset ${offset}) page
    join bounces b on b.workspace_id = page.workspace_id and b.id = page.id
    order by b.created_at desc, b.id desc`);
}
