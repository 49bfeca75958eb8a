/** The bounces and complaints that messages ended with. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** The newest bounce or complaint of a message, as the other server said it. */
export interface FinalFault {
  readonly message_id: string;
  readonly subject: string;
  readonly source: string;
  readonly time: Date;
  /** Null if it was reported by mail. */
  readonly mx_host: string | null;
  readonly smtp_code: number | null;
  readonly enhanced_code: string | null;
  readonly detail: string | null;
}

/** One for each message that the log has and that bounced or was complained about. */
export function listFinalFaults(
  db: Queryable,
  workspaceId: WorkspaceId,
  messageIds: readonly string[],
): Promise<FinalFault[]> {
  return db.rows(sql`
    select m.id as message_id, m.subject, m.source, e.time, e.mx_host, e.code as smtp_code, e.enhanced_code, e.detail
    from unnest(${messageIds}::uuid[]) asked (id)
    join messages m on m.workspace_id = ${workspaceId} and m.id = asked.id
    cross join lateral (
      select * from message_events
      where workspace_id = ${workspaceId} and message_id = asked.id and type in ('bounced', 'complained')
      order by id desc limit 1) e`);
}
