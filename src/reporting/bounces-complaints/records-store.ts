/** Reads the records of bounces and complaints, which messages/record-outcomes.ts writes. */
import sql from "sql-template-tag";
import type { Classification } from "#messages/message/outcome.ts";
import type { MessageSource } from "#messages/message/status.ts";
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

/** Newest first. The subquery skips the offset in the index, without reading the rows. */
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

/** Newest first. The subquery skips the offset in the index, without reading the rows. */
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
