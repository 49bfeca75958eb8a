/** Loads the content of large messages, which happens when they are composed and not when they are leased. */

import sql from "sql-template-tag";
import type { LeasedMessage } from "#delivery/message/message.ts";
import { submissionsOfSql } from "#messages/partitions/ids-span.ts";
import type { Queryable } from "#platform/database/pool.ts";

export interface StoredContent extends Pick<LeasedMessage, "html" | "text" | "raw"> {
  /** As JSON text for a large message. */
  readonly attachments: LeasedMessage["attachments"] | string;
}

export type LoadContent = (
  message: Pick<LeasedMessage, "workspace_id" | "message_id">,
) => Promise<StoredContent | undefined>;

/** The loader resolves to undefined when the content has been removed. */
export function contentLoader(db: Queryable): LoadContent {
  return ({ workspace_id: workspaceId, message_id: messageId }) =>
    db.row<StoredContent>(sql`
      select coalesce(c.html, s.html) as html, coalesce(c.text, s.text) as text,
        coalesce(c.attachments, s.attachments)::text as attachments, s.raw
      from message_contents c
      left join submissions s on s.workspace_id = c.workspace_id and s.id = c.submission_id
        ${submissionsOfSql(sql`s.id`, [messageId])}
      where c.workspace_id = ${workspaceId} and c.message_id = ${messageId}`);
}
